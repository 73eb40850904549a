//! Places: the right to run, each with an index.
//!
//! A pool has as many places as threads, and no more of its threads run at once. Each worker has a
//! place of its own, with its index, and nothing else happens as long as no worker
//! [blocks](crate::blocking()). A worker that is going to block *gives its place away*: to a worker
//! that waits for it, else to a [spare](super::spare). When it comes back it wants the place again,
//! and waits until the holder gives it away in turn: when the holder blocks, has nothing to do but
//! to wait, or is between two jobs.
//!
//! So no two running threads have the same index. But the holder may be in the middle of a long
//! job. That job may even wait for something which the returning worker holds, a lock for example,
//! and then both would wait for ever. So a worker in the middle of a job waits for a limited time,
//! and then runs without a place, and without an index, until it gets one after all.

use super::bench::{Asked, NoTaker};
use super::isolation::MOST_OF_REST;
use super::lineage::Found;
use super::registry::Registry;
use super::worker::WorkerThread;
use drowse_sleep::LatchWord;
use drowse_sync::{Arc, hint, look, omittable};
use std::time::Duration;

/// Time that a worker in the middle of a job waits for its place.
const PATIENCE: Duration = Duration::from_millis(100);

/// A worker's relation to its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stand {
    /// It has this place.
    At(usize),
    /// It wants this place again when it comes back.
    Away(usize),
    /// It has asked for this place, and runs without.
    Asked(usize),
    /// It is a spare that has none and wants none.
    Nowhere,
}

/// Function that takes the job with which a spare begins, and the worker that gives it. It is
/// called if there is a spare.
pub(super) type First<'w> = (&'w WorkerThread, fn(&WorkerThread) -> Option<Found>);

/// Result of giving a place away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Given {
    /// Another thread has it.
    ToThread,
    /// It is free.
    Freed,
    Kept,
}

impl Registry {
    /// Gives a place to a worker that waits for it, else to a spare, else up, as `no_taker` says.
    fn give_away(self: &Arc<Self>, place: usize, first: First<'_>, no_taker: NoTaker) -> Given {
        let mut bench = self.bench.lock();
        if let Some(seat) = bench.pass_on(place) {
            drop(bench);
            self.call_to_place(seat);
            return Given::ToThread;
        }
        let called = self.call_spare(&mut bench, place, Some(first));
        let is_given_up = called.is_err() && bench.give_up(place, no_taker);
        drop(bench);
        match called {
            Ok(()) => return Given::ToThread,
            Err(cause) => self.report_no_spare(cause),
        }
        if !is_given_up {
            return Given::Kept;
        }
        // WAKE: workers that have nothing to do but wait, and have left the place to others.
        self.call_to_free_place();
        Given::Freed
    }

    /// Gives a place to a worker that waits for it. Returns `false` if none does.
    #[inline(never)]
    fn yield_place(&self, place: usize) -> bool {
        let seat = self.bench.lock().pass_on(place);
        if let Some(seat) = seat {
            self.call_to_place(seat);
        }
        seat.is_some()
    }

    /// Calls workers after a place has become free.
    #[inline(never)]
    pub(super) fn call_to_free_place(&self) {
        // WAKE: workers that wait without a place, and could do the work that is left there.
        self.sleep.call_all();
        self.sleep.post_broadcast();
    }

    /// Calls a worker that was given a place.
    #[inline(never)]
    pub(super) fn call_to_place(&self, seat: usize) {
        // WAKE: the worker may have run out of patience, and sleep by now. There may be letters
        // that earlier holders have not read; and others may wait for the place.
        omittable!("place/no-call-to-place", self.sleep.call(seat));
    }
}

impl WorkerThread {
    /// Returns the worker's place, if it has one.
    pub(crate) fn place(&self) -> Option<usize> {
        match self.stand.get() {
            Stand::At(place) => Some(place),
            Stand::Asked(place) => self.look_for_place(place),
            Stand::Away(_) | Stand::Nowhere => None,
        }
    }

    /// Takes the place that the worker has asked for, if it has been granted.
    #[cold]
    #[inline(never)]
    fn look_for_place(&self, place: usize) -> Option<usize> {
        let is_granted = self.registry().bench.is_granted(self.index());
        if is_granted {
            self.stand.set(Stand::At(place));
        }
        is_granted.then_some(place)
    }

    /// Withdraws the request of a worker that runs without a place: it is away then, unless the
    /// place has been granted.
    #[inline(never)]
    fn withdraw(&self) {
        if let Stand::Asked(place) = self.stand.get() {
            let is_withdrawn = self.registry().bench.lock().withdraw(place, self.index());
            self.stand.set(if is_withdrawn { Stand::Away(place) } else { Stand::At(place) });
        }
    }

    /// Returns `true` if the place that the worker wants back is free.
    pub(super) fn could_retake_place(&self) -> bool {
        let Stand::Away(place) = self.stand.get() else { return false };
        look!("place/not-retaken", self.registry().bench.is_free(place))
    }

    /// Takes the place back if it is free: for a worker that waits in the middle of something that
    /// blocks. What it waits for may have to be done there.
    pub(super) fn retake_place(&self) {
        if let Stand::Away(place) = self.stand.get() {
            let registry = self.registry();
            if registry.is_left_behind() || registry.bench.take_if_free(place, self.index()) {
                self.stand.set(Stand::At(place));
            }
        }
    }

    /// Lends the worker's place to another thread, before the worker blocks; if there is none, does
    /// as `no_taker` says. Returns `true` if another thread has it or the worker had none; and the
    /// guard whose drop asks for the place again. In a forked child the worker keeps its place.
    #[inline(never)]
    pub(crate) fn lend_place(&self, no_taker: NoTaker) -> (bool, Option<Away<'_>>) {
        if matches!(self.stand.get(), Stand::Away(_)) {
            self.settle(); // For what it has spawned while away.
            return (true, None);
        }
        self.deque.share();
        let given_away = self.give_place_away(no_taker, Self::oldest_job);
        (given_away, Some(Away::begin(self)))
    }

    /// Waits until another thread has run this job, in this worker's place. Returns `false` if no
    /// thread can; then the job is not taken.
    pub(super) fn let_run(&self, job: fn(&Self) -> Option<Found>) -> bool {
        let given_away = self.place().is_some() && self.give_place_away(NoTaker::Keep, job);
        let _away = given_away.then(|| Away::begin(self));
        given_away
    }

    /// Gives the worker's place away. Returns `true` if another thread has it, or the worker has
    /// none.
    #[inline(never)]
    fn give_place_away(&self, mut no_taker: NoTaker, first: fn(&Self) -> Option<Found>) -> bool {
        let registry = self.registry();
        loop {
            if registry.is_left_behind() {
                return false; // Takers, and holders of the lock, are in the parent.
            }
            // If it runs without a place and has asked for one, it asks again in `come_back`.
            self.withdraw();
            let Some(place) = self.place() else { return true };
            let given = registry.give_away(place, (self, first), no_taker);
            if given == Given::Kept && no_taker == NoTaker::GiveUpUnlessLast {
                // If it is the last place, no thread would run what the worker has forked, and may
                // be going to wait for. The worker may come back from that without a place. (Not in
                // isolation: the worker may hold a lock that those jobs want.)
                if self.is_isolated() || !self.run_one_of_region() {
                    no_taker = NoTaker::GiveUp;
                }
                continue;
            }
            if given != Given::Kept {
                self.stand.set(Stand::Away(place));
            }
            if given != Given::ToThread {
                registry.bench.refused.add(1);
            }
            return given == Given::ToThread;
        }
    }

    /// Takes a job of the worker's own for the thread that gets its place, as if stolen. (If
    /// popped, it would have to run here: see [`deque`](crate::deque).) None in isolation, where
    /// its origin must be known.
    fn oldest_job(&self) -> Option<Found> {
        let job = if self.is_isolated() { None } else { self.steal_from_itself() };
        job.map(Found::from)
    }

    /// Asks for the place that the worker had, and waits for it.
    #[inline(never)]
    fn come_back(&self) {
        let Stand::Away(place) = self.stand.get() else { return };
        let (registry, seat) = (self.registry(), self.index());
        // If it is left behind, `f` has forked, and the thread that got the place has it in the
        // parent.
        if !registry.is_left_behind() {
            let asked = registry.bench.lock().ask_for(place, seat);
            if let Asked::Wait(holder) = asked {
                // The worker may hold counts here, of a scope into which the closure that blocked
                // spawned. The scope does not end before the job that the worker is in the middle
                // of.
                // WAKE: the holder may be asleep.
                omittable!("place/no-call", registry.sleep.call(holder));
                if !registry.bench.wait_for(seat, PATIENCE) {
                    return self.stand.set(Stand::Asked(place));
                }
            }
        }
        self.stand.set(Stand::At(place));
    }

    /// Returns `true` if the worker has a place that another one waits for. `false` in a forked
    /// child, where there is no other.
    #[inline(never)]
    pub(super) fn place_is_wanted(&self) -> bool {
        let registry = self.registry();
        self.place().is_some_and(|place| {
            registry.bench.are_wanted()
                && !registry.is_left_behind()
                && registry.bench.is_wanted(place)
        })
    }

    /// Returns `true` if the worker must [act](Self::mind_place) on its place before it takes
    /// another job: another worker waits for it, or this one is between two jobs, and has none.
    #[inline]
    pub(super) fn must_mind_place(&self, is_main_loop: bool) -> bool {
        let has_place = matches!(self.stand.get(), Stand::At(_));
        (!has_place || self.registry().bench.are_wanted())
            && self.must_mind_place_cold(is_main_loop)
    }

    #[cold]
    fn must_mind_place_cold(&self, is_main_loop: bool) -> bool {
        self.place_is_wanted()
            || (is_main_loop && self.place().is_none() && !self.registry().is_left_behind())
    }

    /// Lets another worker have the place if one waits for it, where this one waits for a latch. A
    /// spare between two jobs is [nowhere](Stand::Nowhere) then, which ends its main loop.
    #[cold]
    pub(super) fn mind_place(&self, latch: &LatchWord, is_main_loop: bool) {
        let leaves = is_main_loop && self.is_spare();
        // An isolated worker may wait for what the spare has spawned, and does not look for it in
        // the injector.
        if leaves && self.registry().has_isolated() {
            for _ in 0..MOST_OF_REST {
                self.take_local_job().into_iter().for_each(|found| self.run_local(found));
            }
        }
        if leaves {
            self.withdraw();
        }
        if let Some(place) = self.place() {
            if !self.registry().yield_place(place) {
                return;
            }
            self.stand.set(Stand::Away(place));
        }
        if leaves {
            return self.stand.set(Stand::Nowhere);
        }
        loop {
            let away = Away::begin(self);
            if !is_main_loop {
                self.sleep_without_place(latch);
            }
            drop(away);
            // A worker between two jobs begins no other without a place.
            if !is_main_loop || self.place().is_some() || latch.probe() {
                return;
            }
            // Model checkers have no clock: let other threads run.
            hint::spin_loop();
            self.withdraw();
        }
    }

    /// Lets another worker have the place if one waits for it, and waits until this one has a place
    /// again: between two jobs, in a loop that is not the main one.
    pub(crate) fn lend_wanted_place(&self, end: &LatchWord) {
        if self.must_mind_place(true) && !self.is_spare() {
            self.mind_place(end, true);
        }
    }

    /// Waits for a place in the main loop. Returns `false` if the pool ends before.
    pub(super) fn wait_for_place(&self) -> bool {
        if self.place().is_none() {
            self.mind_place(self.end(), true);
        }
        self.place().is_some()
    }

    /// Sleeps without a place in the middle of a job; the holder of the place does the other work.
    /// Returns when the latch is set or the place is free.
    fn sleep_without_place(&self, latch: &LatchWord) {
        let registry = self.registry();
        let Stand::Away(place) = self.stand.get() else { return };
        let is_free = || registry.bench.is_free(place);
        while !latch.probe() && !is_free() {
            // WAKE: the latch's setter, or `call_to_free_place`, when the place is given up.
            registry.sleep.sleep_alone(self.index(), latch, &is_free, self);
        }
    }
}

/// Guard of a worker that may be without its place. When it is dropped, the worker asks for the
/// place, and waits for it. All waits of a worker for another thread that runs in its place lie
/// between its creation and its drop.
#[must_use]
#[derive(Debug)]
pub(crate) struct Away<'w> {
    worker: &'w WorkerThread,
}

impl<'w> Away<'w> {
    #[inline(never)]
    fn begin(worker: &'w WorkerThread) -> Self {
        // WAKE: a thread that waits in `CountLatch::wait` for the end of a scope is woken here if
        // this worker holds the last counts. The thread that has the place from now on may be in a
        // job which does not end before that scope.
        omittable!("place/waits-unsettled", worker.settle());
        worker.registry().sleep.mark_away(worker.index());
        worker.registry().sleep.step_aside();
        Self { worker }
    }
}

impl Drop for Away<'_> {
    #[inline(never)]
    fn drop(&mut self) {
        self.worker.registry().sleep.mark_back(self.worker.index());
        self.worker.come_back();
        self.worker.registry().sleep.step_back();
    }
}
