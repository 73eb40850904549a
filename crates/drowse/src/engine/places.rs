//! The places of a pool: who has each, and who waits for it. See [`place`](super::place).

use drowse_sync::atomic::{AtomicUsize, Ordering};
use drowse_sync::{Arc, Mutex, Outlined, WaitWord, omittable};

pub(super) const WAITING: u32 = 0;
const GRANTED: u32 = 1;

/// The places of one pool.
#[derive(Debug)]
pub(super) struct Places {
    pub(super) places: Box<[Mutex<Place>]>,
    /// How many wait for one.
    wanted: AtomicUsize,
    /// How many nobody has.
    free: AtomicUsize,
    /// How many have somebody who sleeps alone, and does nothing for others.
    alone: AtomicUsize,
}

#[derive(Debug)]
pub(super) struct Place {
    /// The seat of whoever has it.
    pub(super) holder: Option<usize>,
    waiters: Outlined<Vec<Arc<Ticket>>>,
}

/// Somebody waits for a place.
#[derive(Debug)]
pub(super) struct Ticket {
    pub(super) place: usize,
    seat: usize,
    pub(super) state: WaitWord,
}

impl Ticket {
    pub(super) fn is_granted(&self) -> bool {
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

    /// Waits for it, however long that takes. For the models, which know no time.
    #[cfg(any(drowse_loom, drowse_shuttle))]
    pub(super) fn wait(&self) {
        self.state.wait_while(WAITING);
    }
}

/// What became of a place that somebody was going to give up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GivenUp {
    /// It went to one who waited, in that seat, to be called.
    To(usize),
    ToNobody,
    /// It was the last.
    No,
}

#[derive(Debug)]
pub(super) enum Asked {
    Here,
    /// It is taken by the one in that seat.
    Wait(Arc<Ticket>, usize),
}

impl Places {
    /// Each worker in its own.
    pub(super) fn new(count: usize) -> Self {
        let place = |index| Mutex::new(Place { holder: Some(index), waiters: Outlined::new(Vec::new()) });
        let [wanted, free, alone] = std::array::from_fn(|_| AtomicUsize::new(0));
        Self { places: (0..count).map(place).collect(), wanted, free, alone }
    }

    /// Whether anybody waits for one.
    pub(super) fn are_wanted(&self) -> bool {
        // ORDERING: relaxed; whoever waits calls the one who has it, by a fence.
        self.wanted.load(Ordering::Relaxed) > 0
    }

    /// Whether somebody waits for this one.
    pub(super) fn is_wanted(&self, place: usize) -> bool {
        self.are_wanted() && !self.places[place].lock().waiters.is_empty()
    }

    /// Gives a place to whoever has waited longest, if anybody does: its seat.
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

    /// Gives a place to whoever waits for it: its seat, to be called.
    #[must_use]
    pub(super) fn yield_to_waiter(&self, place: usize) -> Option<usize> {
        self.pass_on(&mut self.places[place].lock())
    }

    /// Gives a place to whoever waits for it, or to nobody; but that only if others are left, or
    /// `even_if_last`.
    pub(super) fn give_up(&self, place: usize, even_if_last: bool) -> GivenUp {
        let mut place = self.places[place].lock();
        if let Some(seat) = self.pass_on(&mut place) {
            return GivenUp::To(seat);
        }
        let one_more = |free| (even_if_last || free + 1 < self.places.len()).then_some(free + 1);
        // ORDERING: relaxed; of those who give up the last places at once, one comes last.
        let is_given = self.free.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).is_ok();
        if !is_given {
            return GivenUp::No;
        }
        place.holder = None;
        GivenUp::ToNobody
    }

    /// Whether nobody has this one.
    pub(super) fn is_free(&self, place: usize) -> bool {
        // ORDERING: relaxed; a look first. Whoever gives one up calls those who sleep, by a fence.
        self.free.load(Ordering::Relaxed) > 0 && self.places[place].lock().holder.is_none()
    }

    /// Somebody who has a place is going to sleep alone. Whether there are others who have one and
    /// do not, and so see to what is left.
    pub(super) fn begin_alone(&self) -> bool {
        // ORDERING: acquire and release: the last one sees what the others have left. (Those who
        // give a place up call all who sleep alone, by a fence.)
        let alone = self.alone.fetch_add(1, Ordering::AcqRel) + 1;
        // ORDERING: relaxed, see above. (No model shows what is lost if nobody is the last; the
        // soak does.)
        alone + self.free.load(Ordering::Relaxed) < self.places.len()
    }

    /// It does no more.
    pub(super) fn end_alone(&self) {
        // ORDERING: relaxed; it is one of those who see to what is left.
        self.alone.fetch_sub(1, Ordering::Relaxed);
    }

    /// Takes a place that nobody has, for this seat.
    pub(super) fn take_any_free(&self, seat: usize) -> Option<usize> {
        (0..self.places.len()).find(|place| self.take_free(*place, seat))
    }

    /// Takes this place, if nobody has it.
    pub(super) fn take_free(&self, place: usize, seat: usize) -> bool {
        // ORDERING: relaxed; a look first. Whoever gives one up looks for idle spares after that.
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
        // ORDERING: relaxed; the caller calls the holder, by a fence.
        self.wanted.fetch_add(1, Ordering::Relaxed);
        Asked::Wait(ticket, holder)
    }

    /// Wants the place no more. False if it has been granted.
    pub(super) fn withdraw(&self, ticket: &Arc<Ticket>) -> bool {
        let mut place = self.places[ticket.place].lock();
        let is_it = |other: &Arc<Ticket>| Arc::ptr_eq(other, ticket);
        let Some(at) = place.waiters.iter().position(is_it) else { return false };
        drop(place.waiters.remove(at));
        // ORDERING: relaxed; a hint.
        self.wanted.fetch_sub(1, Ordering::Relaxed);
        true
    }

    /// Whether nobody waits for any, and so many are free: at the end of a model.
    #[cfg(any(drowse_loom, drowse_shuttle))]
    pub(super) fn are_at_rest(&self, free: usize) -> bool {
        let is_free = |place: &&Mutex<Place>| place.lock().holder.is_none();
        // ORDERING: relaxed; nobody changes it any more.
        !self.are_wanted()
            && self.free.load(Ordering::Relaxed) == free
            && self.alone.load(Ordering::Relaxed) == 0
            && self.places.iter().filter(is_free).count() == free
            && self.places.iter().all(|place| place.lock().waiters.is_empty())
    }
}
