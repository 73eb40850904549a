//! Wrappers of engine types for the models. Absent in a normal build.

use super::lineage::{self, Mark, Origin};
use super::places::{self, Asked, GivenUp};
use drowse_sync::Arc;

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

/// The places of a pool.
#[derive(Debug)]
pub struct Places(places::Places);

/// Request of a worker that waits for a place.
#[derive(Debug)]
pub struct Ticket(Arc<places::Ticket>);

impl Places {
    /// Creates `count` places, each of them held by the worker of its number.
    pub fn new(count: usize) -> Self {
        Self(places::Places::new(count))
    }

    /// Gives a place to the worker that waits for it, or else leaves it free.
    pub fn give_up(&self, place: usize) {
        assert_ne!(self.0.give_up(place, true), GivenUp::No);
    }

    /// Gives a place up as [`give_up`](Self::give_up) does, but not the last one that is held.
    /// Returns `true` if it was given up.
    pub fn give_up_unless_last(&self, place: usize) -> bool {
        self.0.give_up(place, false) != GivenUp::No
    }

    /// Gives a place to the worker that waits for it. Returns `false` if none does.
    pub fn yield_to_waiter(&self, place: usize) -> bool {
        self.0.yield_to_waiter(place).is_some()
    }

    /// Asks for a place for this seat. `Err` if another seat holds it.
    pub fn ask_for(&self, place: usize, seat: usize) -> Result<(), Ticket> {
        match self.0.ask_for(place, seat) {
            Asked::Here => Ok(()),
            Asked::Wait(ticket, _) => Err(Ticket(ticket)),
        }
    }

    /// Withdraws the request. Returns `false` if it has been granted.
    pub fn withdraw(&self, ticket: &Ticket) -> bool {
        self.0.withdraw(&ticket.0)
    }

    /// Returns `true` if no worker waits for a place, and `free` places are free.
    pub fn are_at_rest(&self, free: usize) -> bool {
        self.0.are_at_rest(free)
    }
}

impl Ticket {
    /// Returns `true` if the place has been granted.
    pub fn is_granted(&self) -> bool {
        self.0.is_granted()
    }

    /// Waits until the place is granted, however long that takes.
    pub fn wait(&self) {
        self.0.wait();
    }
}
