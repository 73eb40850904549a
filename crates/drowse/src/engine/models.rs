//! What the models see of the engine. Not there in a normal build.

use super::lineage::{self, Mark, Origin};
use super::places::{self, Asked, GivenUp};
use drowse_sync::Arc;

/// Where a job was stolen, and where its descendants begin: victim, position, since.
pub type Descent = (usize, i64, i64);

/// What a worker shows others of the stolen job that it is in the middle of.
#[derive(Debug)]
pub struct Lineage(lineage::Lineage);

/// What somebody has seen of it.
#[derive(Debug, Clone, Copy)]
pub struct Seen(lineage::Descent);

impl Lineage {
    /// It is in the middle of none.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(lineage::Lineage::new())
    }

    /// Worker: runs a job that was stolen there, from the beginning to the end.
    pub fn run_stolen(&self, (victim, position, since): Descent, job: impl FnOnce()) {
        let before = self.0.begin(Origin::stolen(victim, position), since);
        job();
        self.0.go_back_to(before);
    }

    /// What others see.
    pub fn read(&self) -> Option<Seen> {
        self.0.read().map(Seen)
    }

    /// What it is, if the worker has been in the middle of that job ever since.
    pub fn if_still(&self, Seen(seen): Seen) -> Option<Descent> {
        let Origin { worker, mark: Mark::Stolen(position) } = seen.origin else { return None };
        self.0.is_still(seen).then_some((worker, position, seen.since.position))
    }
}

impl Seen {
    /// Where the descendants of the job begin, in the deque of its worker.
    pub fn since(&self) -> i64 {
        self.0.since.position
    }
}

/// The places of a pool.
#[derive(Debug)]
pub struct Places(places::Places);

/// Somebody waits for a place.
#[derive(Debug)]
pub struct Ticket(Arc<places::Ticket>);

impl Places {
    /// So many, each of them held by the worker of its number.
    pub fn new(count: usize) -> Self {
        Self(places::Places::new(count))
    }

    /// Gives a place to whoever waits for it, or to nobody.
    pub fn give_up(&self, place: usize) {
        assert_ne!(self.0.give_up(place, true), GivenUp::No);
    }

    /// The same, unless nobody would have any. Whether it was given.
    pub fn give_up_unless_last(&self, place: usize) -> bool {
        self.0.give_up(place, false) != GivenUp::No
    }

    /// Gives a place to whoever waits for it. False if nobody does.
    pub fn yield_to_waiter(&self, place: usize) -> bool {
        self.0.yield_to_waiter(place).is_some()
    }

    /// Asks for a place for this seat. `Err` if somebody has it.
    pub fn ask_for(&self, place: usize, seat: usize) -> Result<(), Ticket> {
        match self.0.ask_for(place, seat) {
            Asked::Here => Ok(()),
            Asked::Wait(ticket, _) => Err(Ticket(ticket)),
        }
    }

    /// Wants the place no more. False if it has been granted.
    pub fn withdraw(&self, ticket: &Ticket) -> bool {
        self.0.withdraw(&ticket.0)
    }

    /// Whether nobody waits for any, and so many are free.
    pub fn are_at_rest(&self, free: usize) -> bool {
        self.0.are_at_rest(free)
    }
}

impl Ticket {
    /// Whether the place was granted by now.
    pub fn is_granted(&self) -> bool {
        self.0.is_granted()
    }

    /// Waits until the place is granted, however long that takes.
    pub fn wait(&self) {
        self.0.wait();
    }
}
