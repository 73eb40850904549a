//! Wrappers of engine types for the models. Absent in a normal build.

use super::bench::{self, Asked, NoTaker};
use super::lineage::{self, Mark, Origin};

/// Origin of a stolen job, and where its descendants begin: victim, position, since.
pub type Descent = (usize, i64, i64);

/// The stolen job that a worker is in the middle of, as it shows it to others.
#[derive(Debug)]
pub struct Lineage(lineage::Lineage);

/// A descent that a reader has seen, not verified yet.
#[derive(Debug, Clone, Copy)]
pub struct Seen(lineage::Descent);

impl Lineage {
    /// Creates the lineage of a worker that is in the middle of no stolen job.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(lineage::Lineage::new())
    }

    /// Runs a job that was stolen there, from the beginning to the end. For the worker only.
    pub fn run_stolen(&self, (victim, position, since): Descent, job: impl FnOnce()) {
        let before = self.0.begin(Origin::stolen(victim, position), since);
        job();
        self.0.go_back_to(before);
    }

    /// Returns what others see.
    pub fn read(&self) -> Option<Seen> {
        self.0.read().map(Seen)
    }

    /// Returns the descent, if the worker has been in the middle of that job since it was seen.
    pub fn if_still(&self, Seen(seen): Seen) -> Option<Descent> {
        let Origin { worker, mark: Mark::Stolen(position) } = seen.origin else { return None };
        self.0.is_still(seen).then_some((worker, position, seen.since.position))
    }
}

impl Seen {
    /// Returns the position from which on its worker's deque holds descendants of the job.
    pub fn since(&self) -> i64 {
        self.0.since.position
    }
}

/// The bench of a pool without spares.
#[derive(Debug)]
pub struct Places {
    bench: bench::Bench,
}

impl Places {
    /// Creates `count` places, each of them held by the worker of its number, for `seats` seats.
    pub fn new(count: usize, seats: usize) -> Self {
        let bench = bench::Bench::new(count, seats - count);
        for _ in count..seats {
            assert!(bench.lock().add_spare().is_some());
        }
        Self { bench }
    }

    /// Gives a place to the worker that waits for it, or else leaves it free, unless it is the last
    /// one that is held and `unless_last`. Returns `true` if it was given up.
    pub fn give_up(&self, place: usize, unless_last: bool) -> bool {
        let no_taker = if unless_last { NoTaker::GiveUpUnlessLast } else { NoTaker::GiveUp };
        let mut bench = self.bench.lock();
        bench.pass_on(place).is_some() || bench.give_up(place, no_taker)
    }

    /// Gives a place to the worker that waits for it. Returns `false` if none does.
    pub fn yield_to_waiter(&self, place: usize) -> bool {
        self.bench.lock().pass_on(place).is_some()
    }

    /// Asks for a place for this seat. Returns `false` if another seat holds it.
    pub fn ask_for(&self, place: usize, seat: usize) -> bool {
        matches!(self.bench.lock().ask_for(place, seat), Asked::Here)
    }

    /// Withdraws the request. Returns `false` if it has been granted.
    pub fn withdraw(&self, place: usize, seat: usize) -> bool {
        self.bench.lock().withdraw(place, seat)
    }

    /// Returns `true` if the place that was asked for from this seat has been granted.
    pub fn is_granted(&self, seat: usize) -> bool {
        self.bench.is_granted(seat)
    }

    /// Waits until the place is granted, however long that takes.
    pub fn wait(&self, seat: usize) {
        self.bench.wait(seat);
    }

    /// Returns `true` if no worker waits for a place, and `free` places are free.
    pub fn are_at_rest(&self, free: usize) -> bool {
        self.bench.is_at_rest(free)
    }
}
