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

use super::isolate::Found;
use super::lineage::Stolen;
use super::registry::Registry;
use super::worker::WorkerThread;
use drowse_sleep::LatchWord;
use drowse_sync::atomic::{AtomicUsize, Ordering};
use drowse_sync::{Arc, Mutex, WaitWord, omittable};
use std::collections::VecDeque;
use std::time::Duration;

/// The place of a worker that has none.
pub(super) const NOWHERE: usize = usize::MAX;

/// How long one in the middle of a job waits for its place.
const PATIENCE: Duration = Duration::from_millis(100);

const WAITING: u32 = 0;
const GRANTED: u32 = 1;

/// The places of one pool.
#[derive(Debug)]
pub(super) struct Places {
    places: Box<[Mutex<Place>]>,
    /// How many wait for one.
    wanted: AtomicUsize,
    /// How many nobody has.
    free: AtomicUsize,
}

#[derive(Debug)]
struct Place {
    /// The seat of whoever has it.
    holder: Option<usize>,
    waiters: VecDeque<Arc<Ticket>>,
}

/// Somebody waits for a place.
#[derive(Debug)]
pub(super) struct Ticket {
    place: usize,
    seat: usize,
    state: WaitWord,
}

impl Ticket {
    fn is_granted(&self) -> bool {
        // ORDERING: acquire pairs with the release in `grant`: what was done with the index before
        // comes before what is done now.
        self.state.load(Ordering::Acquire) == GRANTED
    }

    fn grant(&self) {
        // ORDERING: release, see above.
        self.state.store(GRANTED, Ordering::Release);
        // WAKE: it may wait for this.
        omittable!("place/not-told", self.state.wake());
    }
}

/// What becomes of the place of one who blocks if nobody waits for it, and there is no spare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IfNobody {
    Keep,
    GiveUp,
}

enum Asked {
    Here,
    /// It is taken by the one in that seat.
    Wait(Arc<Ticket>, usize),
}

impl Places {
    /// Each worker in its own.
    pub(super) fn new(count: usize) -> Self {
        let place = |index| Mutex::new(Place { holder: Some(index), waiters: VecDeque::new() });
        let (wanted, free) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { places: (0..count).map(place).collect(), wanted, free }
    }

    /// Whether nobody runs but the one who asks, as far as can be seen.
    fn all_but_one_are_free(&self) -> bool {
        // ORDERING: relaxed; a guess.
        self.free.load(Ordering::Relaxed) + 1 >= self.places.len()
    }

    /// Whether anybody waits for one.
    fn are_wanted(&self) -> bool {
        // ORDERING: relaxed; whoever waits calls the one who has it, by a fence.
        self.wanted.load(Ordering::Relaxed) > 0
    }

    /// Whether somebody waits for this one.
    fn is_wanted(&self, place: usize) -> bool {
        self.are_wanted() && !self.places[place].lock().waiters.is_empty()
    }

    /// Gives a place to whoever has waited longest, if anybody does.
    fn pass_on(&self, place: &mut Place) -> bool {
        let Some(ticket) = place.waiters.pop_front() else { return false };
        // ORDERING: relaxed; a hint.
        self.wanted.fetch_sub(1, Ordering::Relaxed);
        place.holder = Some(ticket.seat);
        ticket.grant();
        true
    }

    /// Gives a place to whoever waits for it. False if nobody does.
    fn yield_to_waiter(&self, place: usize) -> bool {
        self.pass_on(&mut self.places[place].lock())
    }

    /// Gives a place to whoever waits for it, or to nobody: unless nobody would have any then, and
    /// the caller `has_jobs` that others would have to run. False if so.
    ///
    /// Of those who give up theirs at the same time, one is the last.
    fn give_up_unless_last(&self, place: usize, has_jobs: impl FnOnce() -> bool) -> bool {
        let mut place = self.places[place].lock();
        if self.pass_on(&mut place) {
            return true;
        }
        // ORDERING: relaxed; all changes of this one word have an order, and that is enough for one
        // of them to be the last.
        let was_free = self.free.fetch_add(1, Ordering::Relaxed);
        if was_free + 1 >= self.places.len() && has_jobs() {
            // ORDERING: relaxed; whoever was misled takes itself for the last too.
            self.free.fetch_sub(1, Ordering::Relaxed);
            return false;
        }
        place.holder = None;
        true
    }

    /// Asks for a place for this seat, now or later.
    fn ask_for(&self, place: usize, seat: usize) -> Asked {
        let mut this = self.places[place].lock();
        let Some(holder) = this.holder else {
            this.holder = Some(seat);
            // ORDERING: relaxed; a guess for others.
            self.free.fetch_sub(1, Ordering::Relaxed);
            return Asked::Here;
        };
        let ticket = Arc::new(Ticket { place, seat, state: WaitWord::new(WAITING) });
        this.waiters.push_back(Arc::clone(&ticket));
        // ORDERING: relaxed; the caller calls the holder, by a fence.
        self.wanted.fetch_add(1, Ordering::Relaxed);
        Asked::Wait(ticket, holder)
    }

    /// Wants the place no more. False if it has been granted.
    fn withdraw(&self, ticket: &Arc<Ticket>) -> bool {
        let mut place = self.places[ticket.place].lock();
        let is_it = |other: &Arc<Ticket>| Arc::ptr_eq(other, ticket);
        let Some(at) = place.waiters.iter().position(is_it) else { return false };
        place.waiters.remove(at);
        // ORDERING: relaxed; a hint.
        self.wanted.fetch_sub(1, Ordering::Relaxed);
        true
    }
}

impl Registry {
    /// Gives a place to whoever waits for it, else to a spare, who begins with what `first` gives.
    /// False if there is nobody; then it is still the caller's.
    fn give_away(self: &Arc<Self>, place: usize, first: impl FnOnce() -> Option<Found>) -> bool {
        let mut this = self.places.places[place].lock();
        if self.places.pass_on(&mut this) {
            return true;
        }
        let spare = self.call_spare(place, first);
        this.holder = spare.or(this.holder);
        spare.is_some()
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

    /// Calls `f`, which may block, while others may have this worker's place. `f` is told whether
    /// somebody has it.
    pub(crate) fn while_away<R>(&self, if_nobody: IfNobody, f: impl FnOnce(bool) -> R) -> R {
        // WAKE: somebody may wait for what we hold, and we may not come back for long.
        self.settle();
        self.deque.share();
        let sleep = &self.registry().sleep;
        let given_away = self.give_place_away(if_nobody);
        sleep.step_aside();
        let _away = Away { worker: self };
        f(given_away)
    }

    fn give_place_away(&self, if_nobody: IfNobody) -> bool {
        let places = &self.registry().places;
        if if_nobody == IfNobody::GiveUp && places.all_but_one_are_free() && self.registry().has_no_spare() {
            // Nobody will run what it has forked, and may be going to wait for.
            while self.run_one_of_region() {}
        }
        let place = match (self.place(), self.ticket.take()) {
            (Some(place), _) => place,
            // It runs without one. If it asks for one, it does so again when it comes back.
            (None, Some(ticket)) => {
                self.back_to.set(ticket.place);
                if places.withdraw(&ticket) {
                    return true;
                }
                ticket.place
            }
            (None, None) => return true,
        };
        let given_away = self.registry().give_away(place, || self.newest_job());
        if !given_away && if_nobody == IfNobody::Keep {
            self.place.set(place);
            return false;
        }
        if !given_away && !places.give_up_unless_last(place, || self.has_jobs_of_region()) {
            // As above: the others have blocked in the meantime, or have the spare that we saw.
            self.place.set(place);
            self.registry().ask_again_for_spare();
            while self.run_one_of_region() {}
            return self.give_place_away(if_nobody);
        }
        self.place.set(NOWHERE);
        self.back_to.set(place);
        given_away
    }

    /// What it has forked last is what it may be waiting for.
    fn newest_job(&self) -> Option<Found> {
        let position = self.position() - 1;
        let word = self.deque.pop()?;
        Some(self.found_at(word, Stolen { victim: self.index(), position }))
    }

    /// Wants its place back.
    fn come_back(&self) {
        let place = self.back_to.replace(NOWHERE);
        if place == NOWHERE {
            return;
        }
        let registry = self.registry();
        match registry.places.ask_for(place, self.index()) {
            Asked::Here => self.place.set(place),
            Asked::Wait(ticket, holder) => {
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

    /// Whether it has a place that others wait for.
    pub(super) fn place_is_wanted(&self) -> bool {
        self.place().is_some_and(|place| self.registry().places.is_wanted(place))
    }

    /// Whether it has something to [do](Self::mind_place) about its place before it takes another
    /// job: others want it, or it is between two jobs, and has none.
    pub(super) fn must_mind_place(&self, is_main_loop: bool) -> bool {
        self.place_is_wanted() || (is_main_loop && self.place().is_none())
    }

    /// Where it waits for a latch: lets others have its place if they want it. A spare between two
    /// jobs ends what it does, by this latch.
    #[cold]
    pub(super) fn mind_place(&self, latch: &LatchWord, is_main_loop: bool) {
        if is_main_loop && self.is_spare() {
            return self.stop_if_wanted(latch);
        }
        if let Some(place) = self.place() {
            if !self.registry().places.yield_to_waiter(place) {
                return;
            }
            self.place.set(NOWHERE);
            self.back_to.set(place);
        }
        self.while_away(IfNobody::Keep, |_| ());
        // Who has no job to get on with does not get one without a place.
        while is_main_loop && self.place().is_none() && !latch.probe() {
            self.while_away(IfNobody::Keep, |_| ());
        }
    }

    /// Spare, between two jobs: sets the latch that ends what it does, if somebody else has its
    /// place, or wants it.
    fn stop_if_wanted(&self, end: &LatchWord) {
        let places = &self.registry().places;
        // What it has spawned, somebody may wait for who is isolated, and does not look for it in
        // the injector.
        if self.registry().has_isolated() {
            while let Some(job) = self.take_local_job() {
                self.run_own(job);
            }
        }
        if let Some(ticket) = self.ticket.take() {
            if !places.withdraw(&ticket) {
                self.place.set(ticket.place);
            }
        }
        if self.place().is_some_and(|place| !places.yield_to_waiter(place)) {
            return; // Nobody does any more.
        }
        self.place.set(NOWHERE);
        // SAFETY: it is our caller's, who waits for it.
        let _nobody_else_waits = unsafe { LatchWord::set(end) };
    }
}

/// A worker that may not have its place. It wants it back when this is dropped.
struct Away<'w> {
    worker: &'w WorkerThread,
}

impl Drop for Away<'_> {
    fn drop(&mut self) {
        self.worker.come_back();
        self.worker.registry().sleep.step_back();
    }
}
