//! Places: who runs, and with which index.
//!
//! A pool of so many threads has as many places, and no more of its threads run at once. Each
//! worker has a place of its own, with its index, and that is all as long as no worker
//! [blocks](crate::blocking()). One that is going to block *gives its place away*: to somebody who
//! waits for it, else to a [spare](super::spare). When it comes back it wants the place again, and
//! waits until whoever has it gives it away in turn: when that one blocks, has nothing to do but to
//! wait, or is between two jobs.
//!
//! So no two of those who run have the same index. But whoever has the place may be in the middle
//! of a long job. That may even wait for something which the other one holds, a lock say, and then
//! both would wait for ever. So one that is in the middle of a job waits for a while only, and then
//! runs without a place, and without an index, until it gets one after all.

use super::isolate::{Found, MOST_OF_REST};
use super::places::{Asked, GivenUp, WAITING};
use super::registry::Registry;
use super::worker::WorkerThread;
use drowse_sleep::LatchWord;
use drowse_sync::{Arc, hint, look, omittable};
use std::time::Duration;

/// The place of a worker that has none.
pub(super) const NOWHERE: usize = usize::MAX;

/// How long one in the middle of a job waits for its place.
const PATIENCE: Duration = Duration::from_millis(100);

/// What becomes of the place of one who blocks if nobody waits for it, and there is no spare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IfNobody {
    Keep,
    GiveUp,
}

impl Registry {
    /// Gives a place to whoever waits for it, else to a spare, who begins with what `first` gives.
    /// False if there is nobody; then it is still the caller's.
    pub(super) fn give_away(self: &Arc<Self>, place: usize, first: &dyn Fn() -> Option<Found>) -> bool {
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

    /// Whether the worker that has this place, and is about to sleep without its thread, must get
    /// up: another thread waits for the place, or the worker itself does.
    pub(super) fn must_yield_place(&self, place: Option<usize>) -> bool {
        // WAKE: `come_back` asks for the place, and calls the worker that has it, by a fence. The
        // caller of this has executed one since it was counted as asleep.
        look!("place/leaves-wanted", place.is_none_or(|place| self.places.is_wanted(place)))
    }

    /// Nobody has a place that somebody had.
    pub(super) fn call_to_free_place(&self) {
        // WAKE: those who wait without one, and could do what is left there.
        self.sleep.call_all();
        self.sleep.post_broadcast();
    }

    /// Somebody was given a place.
    pub(super) fn call_to_place(&self, seat: usize) {
        // WAKE: it may have lost patience, and sleep by now. There may be letters, which those who
        // had the place have not read; and others may wait for it.
        omittable!("place/no-call-to-place", self.sleep.call(seat));
    }
}

impl WorkerThread {
    /// Its index among those who run, if it has one.
    pub(crate) fn place(&self) -> Option<usize> {
        if self.place.get() == NOWHERE {
            self.look_for_place();
        }
        Some(self.place.get()).filter(|place| *place != NOWHERE)
    }

    /// Whether it was given a place by now.
    #[cold]
    fn look_for_place(&self) {
        match self.ticket.take() {
            Some(ticket) if ticket.is_granted() => self.place.set(ticket.place),
            ticket => self.ticket.set(ticket),
        }
    }

    /// Whether nobody has the place that it wants again when it comes back.
    pub(super) fn could_retake_place(&self) -> bool {
        let place = self.back_to.get();
        let is_away = place != NOWHERE && self.place.get() == NOWHERE;
        look!("place/not-retaken", is_away && self.registry().places.is_free(place))
    }

    /// Where it waits in the middle of something that blocks: takes its place back if nobody has
    /// it. What it waits for may have to be done there.
    pub(super) fn retake_place(&self) {
        let (registry, place) = (self.registry(), self.back_to.get());
        let may_take = || registry.is_left_behind() || registry.places.take_free(place, self.index());
        if place != NOWHERE && may_take() {
            self.place.set(place);
            self.back_to.set(NOWHERE);
        }
    }

    /// Calls `f`, which may block, while others may have this worker's place. `f` is told whether
    /// somebody has it. In a forked child the worker keeps its place.
    pub(crate) fn while_away<R>(&self, if_nobody: IfNobody, f: impl FnOnce(bool) -> R) -> R {
        if self.back_to.get() != NOWHERE {
            self.settle(); // What it has spawned since it began to be away.
            return f(true);
        }
        self.deque.share();
        let given_away = self.give_place_away(if_nobody, &|| self.oldest_job());
        let _away = Away::begin(self);
        f(given_away)
    }

    /// Waits until somebody else has run this job, in this worker's place. False if there is
    /// nobody; then the job is not taken.
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
                return false; // The threads that could take it, or hold its lock, are in the parent.
            }
            let place = match (self.place(), self.ticket.take()) {
                (Some(place), _) => place,
                // It runs without one. If it asks for one, it does so again when it comes back.
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
            let given_up = given_away || (if_nobody == IfNobody::GiveUp && self.give_place_up(place, false));
            if !given_up {
                self.place.set(place);
                self.back_to.set(NOWHERE);
            }
            // If it is the last, nobody would run what it has forked, and may be going to wait for.
            // It may come back from that without a place.
            // (Not in isolation: it may hold what that wants.)
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
                if look!("place/no-retry", must_retry) && registry.places.take_free(place, self.index()) {
                    self.place.set(place);
                    self.back_to.set(NOWHERE);
                    continue;
                }
            }
            return given_away;
        }
    }

    /// Gives a place up that is its own, if others are left, or `even_if_last`: whether it has.
    fn give_place_up(&self, place: usize, even_if_last: bool) -> bool {
        let given_up = self.registry().places.give_up(place, even_if_last);
        match given_up {
            GivenUp::To(seat) => self.registry().call_to_place(seat),
            // WAKE: those who have nothing to do but wait, and have left it to others.
            GivenUp::ToNobody => self.registry().call_to_free_place(),
            GivenUp::No => (),
        }
        given_up != GivenUp::No
    }

    /// Gives a place that is its own to one who waits for it. False if nobody does.
    fn yield_place(&self, place: usize) -> bool {
        let seat = self.registry().places.yield_to_waiter(place);
        seat.inspect(|seat| self.registry().call_to_place(*seat)).is_some()
    }

    /// A job of its own for whoever works in its place, as if stolen. (Popped, it would have to be
    /// run here: see [`deque`](crate::deque).) Not in isolation, where it must be known whence.
    fn oldest_job(&self) -> Option<Found> {
        let job = if self.is_isolated() { None } else { self.steal_from_itself() };
        job.map(Found::from)
    }

    /// Wants its place back.
    fn come_back(&self) {
        let place = self.back_to.replace(NOWHERE);
        if place == NOWHERE {
            return;
        }
        let registry = self.registry();
        if registry.is_left_behind() {
            // `f` has forked, and whichever thread got the place has it in the parent.
            return self.place.set(place);
        }
        match registry.places.ask_for(place, self.index()) {
            Asked::Here => self.place.set(place),
            Asked::Wait(ticket, holder) => {
                // It may hold counts here: of a scope into which the closure that blocked has
                // spawned. The scope does not end before the job that this worker is in the middle
                // of.
                // WAKE: whoever has it may sleep.
                omittable!("place/no-call", registry.sleep.call(holder));
                if ticket.state.wait_while_for(WAITING, PATIENCE) {
                    self.ticket.set(Some(ticket));
                } else {
                    self.place.set(place);
                }
            }
        }
    }

    /// Whether it has a place that others wait for. In a forked child none of them is there.
    pub(super) fn place_is_wanted(&self) -> bool {
        let registry = self.registry();
        let is_wanted = |place| {
            registry.places.are_wanted() && !registry.is_left_behind() && registry.places.is_wanted(place)
        };
        self.place().is_some_and(is_wanted)
    }

    /// Whether it has something to [do](Self::mind_place) about its place before it takes another
    /// job: others want it, or it is between two jobs, and has none.
    #[inline]
    pub(super) fn must_mind_place(&self, is_main_loop: bool) -> bool {
        let has_place = self.place.get() != NOWHERE;
        (!has_place || self.registry().places.are_wanted()) && self.must_mind_place_cold(is_main_loop)
    }

    #[cold]
    fn must_mind_place_cold(&self, is_main_loop: bool) -> bool {
        self.place_is_wanted()
            || (is_main_loop && self.place().is_none() && !self.registry().is_left_behind())
    }

    /// Where it waits for a latch: lets others have its place if they want it. A spare between two
    /// jobs ends what it does, by this latch.
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
        // Who has no job to get on with does not get one without a place.
        while is_main_loop && self.place().is_none() && !latch.probe() {
            // Where time is over at once, as in models, others need theirs.
            hint::spin_loop();
            let ticket = self.ticket.take();
            self.back_to.set(ticket.as_ref().map_or(NOWHERE, |ticket| ticket.place));
            if ticket.is_some_and(|ticket| !self.registry().places.withdraw(&ticket)) {
                self.place.set(self.back_to.replace(NOWHERE));
            }
            drop(Away::begin(self));
        }
    }

    /// Between two jobs, in a loop that is not the main one: lets others have its place if they
    /// want it, and waits until it has one again.
    pub(crate) fn lend_wanted_place(&self, end: &LatchWord) {
        if self.must_mind_place(true) && !self.is_spare() {
            self.mind_place(end, true);
        }
    }

    /// Main loop: waits for a place, if it has none. False if the pool ends before.
    pub(super) fn wait_for_place(&self) -> bool {
        if self.place().is_none() {
            self.mind_place(self.end(), true);
        }
        self.place().is_some()
    }

    /// In the middle of a job, where it has nothing to do but to wait: whoever has its place sees
    /// to the rest. It wants it again when the latch is set, or nobody has it.
    fn sleep_without_place(&self, latch: &LatchWord) {
        let (registry, place) = (self.registry(), self.back_to.get());
        let is_free = || place == NOWHERE || registry.places.is_free(place);
        while !latch.probe() && !is_free() {
            // WAKE: the latch's setter, or whoever gives the place up to nobody.
            registry.sleep.sleep_alone(self.index(), latch, &is_free, self);
        }
    }

    /// Spare, between two jobs: sets the latch that ends what it does, if somebody else has its
    /// place, or wants it.
    fn stop_if_wanted(&self, end: &LatchWord) {
        let places = &self.registry().places;
        // What it has spawned, somebody may wait for who is isolated, and does not look for it in
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
            return; // Nobody does any more.
        }
        self.place.set(NOWHERE);
        // SAFETY: it is our caller's, who waits for it.
        let _nobody_else_waits = unsafe { LatchWord::set(end) };
    }
}

/// A worker that may not have its place. It wants it back when this is dropped, and waits for it.
/// Every wait of a worker for another thread that runs in its place lies between the two.
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
