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

use super::isolation::MOST_OF_REST;
use super::lineage::Found;
use super::places::{Asked, GivenUp, WAITING};
use super::registry::Registry;
use super::worker::WorkerThread;
use drowse_sleep::LatchWord;
use drowse_sync::{Arc, hint, look, omittable};
use std::time::Duration;

/// Place of a worker that has none.
pub(super) const NOWHERE: usize = usize::MAX;

/// Time that a worker in the middle of a job waits for its place.
const PATIENCE: Duration = Duration::from_millis(100);

/// Treatment of a blocking worker's place if no worker waits for it and there is no spare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IfNobody {
    Keep,
    GiveUp,
}

impl Registry {
    /// Gives a place to a worker that waits for it, else to a spare, which begins with what `first`
    /// returns. Returns `false` if there is neither; then the caller still has it.
    pub(super) fn give_away(
        self: &Arc<Self>,
        place: usize,
        first: &dyn Fn() -> Option<Found>,
    ) -> bool {
        let mut this = self.places.places[place].lock();
        if let Some(seat) = self.places.pass_on(&mut this) {
            drop(this);
            self.call_to_place(seat);
            return true;
        }
        let spare = self.call_spare(place, first);
        this.holder = spare.or(this.holder);
        spare.is_some()
    }

    /// Calls workers after a place has become free.
    pub(super) fn call_to_free_place(&self) {
        // WAKE: workers that wait without a place, and could do the work that is left there.
        self.sleep.call_all();
        self.sleep.post_broadcast();
    }

    /// Calls a worker that was given a place.
    pub(super) fn call_to_place(&self, seat: usize) {
        // WAKE: the worker may have run out of patience, and sleep by now. There may be letters
        // that earlier holders have not read; and others may wait for the place.
        omittable!("place/no-call-to-place", self.sleep.call(seat));
    }
}

impl WorkerThread {
    /// Returns the worker's place, if it has one.
    pub(crate) fn place(&self) -> Option<usize> {
        if self.place.get() == NOWHERE {
            self.look_for_place();
        }
        Some(self.place.get()).filter(|place| *place != NOWHERE)
    }

    /// Takes the place that the worker has asked for, if it has been granted.
    #[cold]
    fn look_for_place(&self) {
        match self.ticket.take() {
            Some(ticket) if ticket.is_granted() => self.place.set(ticket.place),
            ticket => self.ticket.set(ticket),
        }
    }

    /// Returns `true` if the place that the worker wants back is free.
    pub(super) fn could_retake_place(&self) -> bool {
        let place = self.back_to.get();
        let is_away = place != NOWHERE && self.place.get() == NOWHERE;
        look!("place/not-retaken", is_away && self.registry().places.is_free(place))
    }

    /// Takes the place back if it is free: for a worker that waits in the middle of something that
    /// blocks. What it waits for may have to be done there.
    pub(super) fn retake_place(&self) {
        let (registry, place) = (self.registry(), self.back_to.get());
        let may_take =
            || registry.is_left_behind() || registry.places.take_free(place, self.index());
        if place != NOWHERE && may_take() {
            self.place.set(place);
            self.back_to.set(NOWHERE);
        }
    }

    /// Calls `f`, which may block, while another thread may have this worker's place. `f` is passed
    /// `true` if one has it. In a forked child the worker keeps its place.
    pub(crate) fn while_away<R>(&self, if_nobody: IfNobody, f: impl FnOnce(bool) -> R) -> R {
        if self.back_to.get() != NOWHERE {
            self.settle(); // For what it has spawned while away.
            return f(true);
        }
        self.deque.share();
        let given_away = self.give_place_away(if_nobody, &|| self.oldest_job());
        let _away = Away::begin(self);
        f(given_away)
    }

    /// Waits until another thread has run this job, in this worker's place. Returns `false` if no
    /// thread can; then the job is not taken.
    pub(super) fn let_run(&self, job: &dyn Fn() -> Option<Found>) -> bool {
        let is_here = self.place().is_some() && self.back_to.get() == NOWHERE;
        let given_away = is_here && self.give_place_away(IfNobody::Keep, job);
        let _away = given_away.then(|| Away::begin(self));
        given_away
    }

    fn give_place_away(&self, if_nobody: IfNobody, first: &dyn Fn() -> Option<Found>) -> bool {
        let registry = self.registry();
        loop {
            if registry.is_left_behind() {
                return false; // Takers, and holders of its lock, are in the parent.
            }
            let place = match (self.place(), self.ticket.take()) {
                (Some(place), _) => place,
                // It runs without a place. If it has asked for one, it asks again in `come_back`.
                (None, Some(ticket)) => {
                    self.back_to.set(ticket.place);
                    if registry.places.withdraw(&ticket) {
                        return true;
                    }
                    ticket.place
                }
                (None, None) => return true,
            };
            let freed = registry.spares.freed();
            let given_away = registry.give_away(place, first);
            let given_up =
                given_away || (if_nobody == IfNobody::GiveUp && self.give_place_up(place, false));
            if !given_up {
                self.place.set(place);
                self.back_to.set(NOWHERE);
            }
            // If it is the last place, no thread would run what the worker has forked, and may be
            // going to wait for. The worker may come back from that without a place. (Not in
            // isolation: the worker may hold a lock that those jobs want.)
            let may_help = if_nobody == IfNobody::GiveUp && !self.is_isolated();
            if !given_up && may_help && self.run_one_of_region() {
                continue;
            }
            if !given_away {
                registry.spares.count_refused();
            }
            if given_up || (if_nobody == IfNobody::GiveUp && self.give_place_up(place, true)) {
                self.place.set(NOWHERE);
                self.back_to.set(place);
                // A spare that has become free meanwhile looked for places before we gave ours up.
                let must_retry = !given_away && registry.spares.freed() != freed;
                if look!("place/no-retry", must_retry)
                    && registry.places.take_free(place, self.index())
                {
                    self.place.set(place);
                    self.back_to.set(NOWHERE);
                    continue;
                }
            }
            return given_away;
        }
    }

    /// Gives up its own place, if others are left, or `even_if_last`. Returns `true` if it did.
    fn give_place_up(&self, place: usize, even_if_last: bool) -> bool {
        let given_up = self.registry().places.give_up(place, even_if_last);
        match given_up {
            GivenUp::To(seat) => self.registry().call_to_place(seat),
            // WAKE: workers that have nothing to do but wait, and have left the place to others.
            GivenUp::ToNobody => self.registry().call_to_free_place(),
            GivenUp::No => (),
        }
        given_up != GivenUp::No
    }

    /// Gives the worker's own place to a worker that waits for it. Returns `false` if none does.
    fn yield_place(&self, place: usize) -> bool {
        let seat = self.registry().places.yield_to_waiter(place);
        seat.inspect(|seat| self.registry().call_to_place(*seat)).is_some()
    }

    /// Takes a job of the worker's own for the thread that gets its place, as if stolen. (If
    /// popped, it would have to run here: see [`deque`](crate::deque).) None in isolation, where
    /// its origin must be known.
    fn oldest_job(&self) -> Option<Found> {
        let job = if self.is_isolated() { None } else { self.steal_from_itself() };
        job.map(Found::from)
    }

    /// Asks for the place that the worker had, and waits for it.
    fn come_back(&self) {
        let place = self.back_to.replace(NOWHERE);
        if place == NOWHERE {
            return;
        }
        let registry = self.registry();
        if registry.is_left_behind() {
            // `f` has forked, and the thread that got the place has it in the parent.
            return self.place.set(place);
        }
        match registry.places.ask_for(place, self.index()) {
            Asked::Here => self.place.set(place),
            Asked::Wait(ticket, holder) => {
                // The worker may hold counts here, of a scope into which the closure that blocked
                // spawned. The scope does not end before the job that the worker is in the middle
                // of.
                // WAKE: the holder may be asleep.
                omittable!("place/no-call", registry.sleep.call(holder));
                if ticket.state.wait_while_for(WAITING, PATIENCE) {
                    self.ticket.set(Some(ticket));
                } else {
                    self.place.set(place);
                }
            }
        }
    }

    /// Returns `true` if the worker has a place that another one waits for. `false` in a forked
    /// child, where there is no other.
    pub(super) fn place_is_wanted(&self) -> bool {
        let registry = self.registry();
        let is_wanted = |place| {
            registry.places.are_wanted()
                && !registry.is_left_behind()
                && registry.places.is_wanted(place)
        };
        self.place().is_some_and(is_wanted)
    }

    /// Returns `true` if the worker must [act](Self::mind_place) on its place before it takes
    /// another job: another worker waits for it, or this one is between two jobs, and has none.
    #[inline]
    pub(super) fn must_mind_place(&self, is_main_loop: bool) -> bool {
        let has_place = self.place.get() != NOWHERE;
        (!has_place || self.registry().places.are_wanted())
            && self.must_mind_place_cold(is_main_loop)
    }

    #[cold]
    fn must_mind_place_cold(&self, is_main_loop: bool) -> bool {
        self.place_is_wanted()
            || (is_main_loop && self.place().is_none() && !self.registry().is_left_behind())
    }

    /// Lets another worker have the place if one waits for it, where this one waits for a latch. A
    /// spare between two jobs ends its work, by this latch.
    #[cold]
    pub(super) fn mind_place(&self, latch: &LatchWord, is_main_loop: bool) {
        if is_main_loop && self.is_spare() {
            return self.stop_if_wanted(latch);
        }
        if let Some(place) = self.place() {
            if !self.yield_place(place) {
                return;
            }
            self.place.set(NOWHERE);
            self.back_to.set(place);
        }
        let away = Away::begin(self);
        if !is_main_loop {
            self.sleep_without_place(latch);
        }
        drop(away);
        // A worker between two jobs begins no other without a place.
        while is_main_loop && self.place().is_none() && !latch.probe() {
            // Model checkers have no clock: let other threads run.
            hint::spin_loop();
            let ticket = self.ticket.take();
            self.back_to.set(ticket.as_ref().map_or(NOWHERE, |ticket| ticket.place));
            if ticket.is_some_and(|ticket| !self.registry().places.withdraw(&ticket)) {
                self.place.set(self.back_to.replace(NOWHERE));
            }
            drop(Away::begin(self));
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
        let (registry, place) = (self.registry(), self.back_to.get());
        let is_free = || place == NOWHERE || registry.places.is_free(place);
        while !latch.probe() && !is_free() {
            // WAKE: the latch's setter, or `call_to_free_place`, when the place is given up.
            registry.sleep.sleep_alone(self.index(), latch, &is_free, self);
        }
    }

    /// Ends a spare's work between two jobs, by its latch, if its place is taken or wanted.
    fn stop_if_wanted(&self, end: &LatchWord) {
        let places = &self.registry().places;
        // An isolated worker may wait for what the spare has spawned, and does not look for it in
        // the injector.
        if self.registry().has_isolated() {
            for _ in 0..MOST_OF_REST {
                self.take_local_job().into_iter().for_each(|found| self.run_local(found));
            }
        }
        if let Some(ticket) = self.ticket.take() {
            if !places.withdraw(&ticket) {
                self.place.set(ticket.place);
            }
        }
        if self.place().is_some_and(|place| !self.yield_place(place)) {
            return; // No worker waits for it any more.
        }
        self.place.set(NOWHERE);
        // SAFETY: the latch is our caller's, which waits for it.
        let _nobody_else_waits = unsafe { LatchWord::set(end) };
    }
}

/// Guard of a worker that may be without its place. When it is dropped, the worker asks for the
/// place, and waits for it. All waits of a worker for another thread that runs in its place lie
/// between its creation and its drop.
struct Away<'w> {
    worker: &'w WorkerThread,
}

impl<'w> Away<'w> {
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
    fn drop(&mut self) {
        self.worker.registry().sleep.mark_back(self.worker.index());
        self.worker.come_back();
        self.worker.registry().sleep.step_back();
    }
}
