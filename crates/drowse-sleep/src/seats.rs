//! The seats of a pool: their number, and what is kept of each beside its slot.

use crate::meter::Meter;
use crate::placement::Sleeper;
use drowse_sync::atomic::{AtomicUsize, Ordering};
use drowse_sync::{CachePadded, Process, Table};
use std::ops::Index;

/// Seats of the workers, and of spares: see `spare.rs`.
#[derive(Debug)]
pub(crate) struct Seats {
    each: Table<Seat>,
    /// Number of workers that are not spares. Their seats come first.
    pub(crate) workers: usize,
    in_use: AtomicUsize,
    /// Process of the threads in the seats.
    pub(crate) process: Process,
}

/// One seat.
#[derive(Debug, Default)]
pub(crate) struct Seat {
    pub(crate) meter: CachePadded<Meter>,
    /// The thread that sleeps here.
    pub(crate) sleeper: CachePadded<Sleeper>,
}

impl Seat {
    fn of(_number: usize) -> Self {
        Self::default()
    }
}

impl Seats {
    /// Returns the seats of `workers` workers, with room for `most` seats.
    pub(crate) fn new(workers: usize, most: usize) -> Self {
        let each = Table::new(workers, most, Seat::of);
        Self { each, workers, in_use: AtomicUsize::new(workers), process: Process::this() }
    }

    /// Returns the number of seats that threads may sit in.
    pub(crate) fn in_use(&self) -> usize {
        // ORDERING: acquire pairs with the release in `open`: the seat was made before.
        self.in_use.load(Ordering::Acquire)
    }

    /// Makes a seat, unless it was made, and counts it and all before it as in use. Returns `true`
    /// if it was in use before.
    pub(crate) fn open(&self, seat: usize) -> bool {
        self.each.get_or_grow(seat, Seat::of);
        // ORDERING: release pairs with the acquire in `in_use`, for the seat itself. The count
        // could be relaxed: a thread that counts the active seats and finds this one inactive has
        // acquired the change of the word that made it inactive, which comes after this.
        self.in_use.fetch_max(seat + 1, Ordering::Release) > seat
    }
}

impl Index<usize> for Seats {
    type Output = Seat;

    #[inline]
    fn index(&self, seat: usize) -> &Seat {
        &self.each[seat]
    }
}
