//! Spares: seats for threads that stand in for workers that block.
//!
//! A pool may have *spare* seats besides those of its workers. A thread sits in a spare seat only
//! while a worker is blocked, and leaves it again. While there, it is a worker like any other: it
//! searches, sleeps and is woken.
//!
//! # Counting
//!
//! The protocol's word counts the workers that search and those that sleep; `must_fence_posters`,
//! which decides if a fence is needed, takes all others for active. So a seat counts from when it
//! is first taken, for good, even while it is empty: no thread that might post is ever left out. An
//! empty seat counts as active in the word, and so does a worker that blocks. They use no
//! processor, so there is [room](crate::room) for others.

use crate::seats::Seats;
use crate::slots::Slots;
use crate::{MAX_WORKERS, Sleep};
use drowse_sync::Outlined;

impl Sleep {
    /// Adds `spares` spare seats, or as many as there can be. They come after the seats of the
    /// workers, and are empty.
    #[must_use]
    #[inline]
    pub fn with_spares(mut self, spares: usize) -> Self {
        let seats = self.workers().saturating_add(spares).min(MAX_WORKERS);
        let is_for_guests = self.slots.are_for_guests();
        self.slots = Outlined::new(Slots::new(seats));
        if is_for_guests {
            self.slots.let_guests_in();
        }
        self.slots.can_be_held = self.placement.is_on();
        self.seats = Outlined::new(Seats::new(self.workers(), seats));
        self
    }

    /// Returns the number of all seats that there can be.
    pub fn seats(&self) -> usize {
        self.slots.count()
    }

    /// Returns the number of seats that threads may sit in. Those of the workers come first.
    pub fn seats_in_use(&self) -> usize {
        self.seats.in_use()
    }

    /// Opens an empty spare seat, once for each duty of its thread. Must be called by an active
    /// worker, or by the thread of the seat, before the thread is active there.
    pub fn open_seat(&self, seat: usize) {
        if self.seats.open(seat) {
            self.step_back();
        }
        if let Some(detector) = &self.detector {
            detector.mark_here(seat);
        }
    }

    /// Forgets the thread that slept in this spare seat before. Called by the next thread, before
    /// its first sleep there: the system may have given the old one's number to any thread.
    pub fn take_over_seat(&self, seat: usize) {
        self.placement.unsettle(&self.seats[seat]);
    }

    /// Leaves a spare seat. Must be called by the thread that sat there, while it is active, at the
    /// end.
    pub fn leave_seat(&self, seat: usize) {
        self.step_aside();
        if let Some(detector) = &self.detector {
            detector.mark_gone(seat);
        }
    }

    /// Records that an active worker or spare seat uses no processor from now on.
    pub fn step_aside(&self) {
        self.room.aside.add(1);
    }

    /// Records that it uses a processor again.
    pub fn step_back(&self) {
        debug_assert!(self.room.aside.get() > 0, "it has stepped aside");
        self.room.aside.subtract(1);
    }
}
