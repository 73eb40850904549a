//! The places of a pool, their holders, and the workers that wait for them. See
//! [`place`](super::place).

use drowse_sync::atomic::{AtomicUsize, Ordering};
use drowse_sync::{Arc, Mutex, Outlined, WaitWord, omittable};

pub(super) const WAITING: u32 = 0;
const GRANTED: u32 = 1;

/// The places of one pool.
#[derive(Debug)]
pub(super) struct Places {
    pub(super) places: Box<[Mutex<Place>]>,
    /// Number of waiting workers.
    wanted: AtomicUsize,
    /// Number of free places.
    free: AtomicUsize,
    /// Number of places whose holder sleeps alone, and does nothing for others.
    alone: AtomicUsize,
}

#[derive(Debug)]
pub(super) struct Place {
    /// Seat of the holder; `None` if the place is free.
    pub(super) holder: Option<usize>,
    waiters: Outlined<Vec<Arc<Ticket>>>,
}

/// Request of a worker that waits for a place.
#[derive(Debug)]
pub(super) struct Ticket {
    pub(super) place: usize,
    seat: usize,
    pub(super) state: WaitWord,
}

impl Ticket {
    pub(super) fn is_granted(&self) -> bool {
        // ORDERING: acquire pairs with the release in `grant`: with relaxed, the new holder might
        // not see what the old one did with the index.
        self.state.load(Ordering::Acquire) == GRANTED
    }

    fn grant(&self) {
        // ORDERING: release pairs with the acquire in `is_granted`.
        self.state.store(GRANTED, Ordering::Release);
        // WAKE: the worker may wait for this in `come_back`.
        omittable!("place/not-told", self.state.wake());
    }

    /// Waits until the place is granted. For the models, which have no clock.
    #[cfg(any(drowse_loom, drowse_shuttle))]
    pub(super) fn wait(&self) {
        self.state.wait_while(WAITING);
    }
}

/// Result of giving up a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GivenUp {
    /// A worker in this seat, which had waited, got it, and is to be called.
    To(usize),
    ToNobody,
    /// The place is kept: it was the last one.
    No,
}

#[derive(Debug)]
pub(super) enum Asked {
    Here,
    /// The worker in this seat holds it.
    Wait(Arc<Ticket>, usize),
}

impl Places {
    /// Creates one place per worker, held by it.
    pub(super) fn new(count: usize) -> Self {
        let place =
            |index| Mutex::new(Place { holder: Some(index), waiters: Outlined::new(Vec::new()) });
        let [wanted, free, alone] = std::array::from_fn(|_| AtomicUsize::new(0));
        Self { places: (0..count).map(place).collect(), wanted, free, alone }
    }

    /// Returns `true` if a worker waits for any place.
    pub(super) fn are_wanted(&self) -> bool {
        // ORDERING: relaxed hint. `ask_for` increments it, and `come_back` then calls the holder by
        // `Sleep::call`, whose full fence makes it visible to the holder.
        self.wanted.load(Ordering::Relaxed) > 0
    }

    /// Returns `true` if a worker waits for this place.
    pub(super) fn is_wanted(&self, place: usize) -> bool {
        self.are_wanted() && !self.places[place].lock().waiters.is_empty()
    }

    /// Gives a place to the worker that has waited longest. Returns its seat; `None` if none waits.
    pub(super) fn pass_on(&self, place: &mut Place) -> Option<usize> {
        if place.waiters.is_empty() {
            return None;
        }
        let ticket = place.waiters.remove(0);
        // ORDERING: relaxed; a hint.
        self.wanted.fetch_sub(1, Ordering::Relaxed);
        place.holder = Some(ticket.seat);
        ticket.grant();
        Some(ticket.seat)
    }

    /// Gives a place to a worker that waits for it. Returns its seat, to be called.
    #[must_use]
    pub(super) fn yield_to_waiter(&self, place: usize) -> Option<usize> {
        self.pass_on(&mut self.places[place].lock())
    }

    /// Gives a place to a worker that waits for it, else leaves it free; but that only if others
    /// are held, or `even_if_last`.
    pub(super) fn give_up(&self, place: usize, even_if_last: bool) -> GivenUp {
        let mut place = self.places[place].lock();
        if let Some(seat) = self.pass_on(&mut place) {
            return GivenUp::To(seat);
        }
        let one_more = |free| (even_if_last || free + 1 < self.places.len()).then_some(free + 1);
        // ORDERING: relaxed; of several that give up the last places at once, one comes last.
        let is_given =
            self.free.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).is_ok();
        if !is_given {
            return GivenUp::No;
        }
        place.holder = None;
        GivenUp::ToNobody
    }

    /// Returns `true` if this place is free.
    pub(super) fn is_free(&self, place: usize) -> bool {
        // ORDERING: relaxed; a first look. A stale 0 is no loss: after `give_up`,
        // `call_to_free_place` calls the sleepers, by a fence.
        self.free.load(Ordering::Relaxed) > 0 && self.places[place].lock().holder.is_none()
    }

    /// Counts a holder that is going to sleep alone. Returns `true` if there are holders that do
    /// not, and so do the other work.
    pub(super) fn begin_alone(&self) -> bool {
        // ORDERING: acquire and release: the last one sees what the others have left. (Workers that
        // give a place up call all that sleep alone, by a fence.)
        let alone = self.alone.fetch_add(1, Ordering::AcqRel) + 1;
        // ORDERING: relaxed; that fence orders it. (No model shows what is lost without a last one;
        // the soak does.)
        alone + self.free.load(Ordering::Relaxed) < self.places.len()
    }

    /// Counts a holder that no longer sleeps alone.
    pub(super) fn end_alone(&self) {
        // ORDERING: relaxed; this worker does the other work again.
        self.alone.fetch_sub(1, Ordering::Relaxed);
    }

    /// Takes a free place for this seat.
    pub(super) fn take_any_free(&self, seat: usize) -> Option<usize> {
        (0..self.places.len()).find(|place| self.take_free(*place, seat))
    }

    /// Takes this place, if it is free.
    pub(super) fn take_free(&self, place: usize, seat: usize) -> bool {
        // ORDERING: relaxed; a first look. A stale 0 is no loss: after `give_up`, `give_place_away`
        // asks whether a spare has become free, and tries again.
        if self.free.load(Ordering::Relaxed) == 0 {
            return false;
        }
        let mut place = self.places[place].lock();
        let is_free = place.holder.is_none();
        if is_free {
            place.holder = Some(seat);
            // ORDERING: relaxed; a guess for others.
            self.free.fetch_sub(1, Ordering::Relaxed);
        }
        is_free
    }

    /// Asks for a place for this seat, now or later.
    pub(super) fn ask_for(&self, place: usize, seat: usize) -> Asked {
        let mut this = self.places[place].lock();
        let Some(holder) = this.holder else {
            this.holder = Some(seat);
            // ORDERING: relaxed; a guess for others.
            self.free.fetch_sub(1, Ordering::Relaxed);
            return Asked::Here;
        };
        let ticket = Arc::new(Ticket { place, seat, state: WaitWord::new(WAITING) });
        this.waiters.push(Arc::clone(&ticket));
        // ORDERING: relaxed; the caller, `come_back`, then calls the holder, by a fence.
        self.wanted.fetch_add(1, Ordering::Relaxed);
        Asked::Wait(ticket, holder)
    }

    /// Withdraws a request. Returns `false` if it has been granted.
    pub(super) fn withdraw(&self, ticket: &Arc<Ticket>) -> bool {
        let mut place = self.places[ticket.place].lock();
        let is_it = |other: &Arc<Ticket>| Arc::ptr_eq(other, ticket);
        let Some(at) = place.waiters.iter().position(is_it) else { return false };
        drop(place.waiters.remove(at));
        // ORDERING: relaxed; a hint.
        self.wanted.fetch_sub(1, Ordering::Relaxed);
        true
    }

    /// Returns `true` if no worker waits, and `free` places are free: at the end of a model.
    #[cfg(any(drowse_loom, drowse_shuttle))]
    pub(super) fn are_at_rest(&self, free: usize) -> bool {
        let is_free = |place: &&Mutex<Place>| place.lock().holder.is_none();
        // ORDERING: relaxed; all threads of the model have ended.
        !self.are_wanted()
            && self.free.load(Ordering::Relaxed) == free
            && self.alone.load(Ordering::Relaxed) == 0
            && self.places.iter().filter(is_free).count() == free
            && self.places.iter().all(|place| place.lock().waiters.is_empty())
    }
}
