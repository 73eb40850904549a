//! Spares: workers that are there only at times, to stand in for others that block.
//!
//! A pool of so many workers may have *spare* seats beside theirs. Somebody sits in one of them
//! only while another worker does not run, and leaves again. Whoever is there is a worker like any
//! other, searches, sleeps and is woken.
//!
//! # Who is counted
//!
//! The protocol's word counts who searches and who sleeps, and those who decide whether a fence is
//! needed take all others for active. So a seat counts from the moment at which it was first taken,
//! for good, whether somebody sits in it or not: nobody who might post is ever left out. An empty
//! one is active, as far as the word tells, and so is a worker that blocks. They take up no
//! processor: there is [room](crate::room) for others.

use crate::meter::Meter;
use crate::placement::Placement;
use crate::slots::Slots;
use crate::{MAX_WORKERS, Sleep};
use drowse_sync::atomic::Ordering;
use drowse_sync::{CachePadded, Outlined};

impl Sleep {
    /// The same, with so many spare seats beside those of the workers, or as many of them as there
    /// can be. They come after the others, and nobody sits in them.
    #[must_use]
    pub fn with_spares(mut self, spares: usize) -> Self {
        let seats = self.workers.saturating_add(spares).min(MAX_WORKERS);
        let is_for_guests = self.slots.are_for_guests();
        self.slots = Outlined::new(Slots::new(seats));
        if is_for_guests {
            self.slots.let_guests_in();
        }
        self.meters = Meter::table(self.workers, seats);
        let steering = self.placement.steering();
        self.placement = Placement::new(self.workers, seats, steering);
        self.slots.can_be_held = self.placement.is_on();
        self
    }

    /// All seats that there can be.
    pub fn seats(&self) -> usize {
        self.slots.count()
    }

    /// The seats that somebody may sit in, those of the workers among them: they come first.
    pub fn seats_in_use(&self) -> usize {
        // ORDERING: acquire pairs with the release in `open_seat`: what belongs to the seat was
        // made before.
        self.seats_in_use.load(Ordering::Acquire)
    }

    /// Somebody is going to sit in this seat, which nobody sits in. To be called by a worker that
    /// is active, before that.
    pub fn open_seat(&self, seat: usize) {
        self.meters.get_or_grow(seat, |_| CachePadded::new(Meter::default()));
        self.placement.open_seat(seat);
        // ORDERING: release pairs with the acquire in `seats_in_use`, for what belongs to the seat.
        // The count itself could be relaxed: a thread that counts the active seats, and finds this
        // one inactive, has acquired the change of the word that made it so, which comes after
        // this.
        let before = self.seats_in_use.fetch_max(seat + 1, Ordering::Release);
        if before > seat {
            self.step_back();
        }
        if let Some(detector) = &self.detector {
            detector.mark_here(seat);
        }
    }

    /// Nobody sits in this seat any more. To be called by the one who did, active, at the end.
    pub fn leave_seat(&self, seat: usize) {
        self.step_aside();
        if let Some(detector) = &self.detector {
            detector.mark_gone(seat);
        }
    }

    /// A worker, or a spare seat, takes up no processor from now on, though it counts as active.
    pub fn step_aside(&self) {
        self.aside.add(1);
    }

    /// It does again.
    pub fn step_back(&self) {
        self.aside.subtract(1);
    }
}
