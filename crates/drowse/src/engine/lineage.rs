//! Which job a worker is in the middle of, and where its descendants are.
//!
//! A worker that steals a job has run out of its own: what it pushes from then on, until the job
//! has ended, are *descendants* of the job, if it does not run anything else meanwhile. So it is
//! enough to know whom the job was stolen from, at which position of that one's deque, and from
//! which position on the thief's own deque holds its descendants: the thief's [`Descent`]. The job
//! in turn descends from what its owner was in the middle of when it pushed it; and so on, from
//! thief to victim.
//!
//! Positions only grow ([`Owner::position`](crate::deque::Owner::position)). So what was stolen at
//! or after the position at which somebody began to wait for something was pushed after that.
//!
//! # Notes on memory ordering
//!
//! A descent is written by its worker and read by others, who want all of it or nothing: the
//! version is odd while it changes, and not the same afterwards. A thief looks at the version once
//! more when it has stolen something. Had the job been pushed after the descent has changed, the
//! thief would have acquired that change with the job.

use drowse_sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use drowse_sync::{faulty, full_fence};

/// Where a job was stolen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stolen {
    pub(super) victim: usize,
    /// Its position in the victim's deque.
    pub(super) position: i64,
}

/// The stolen job that a worker is in the middle of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Descent {
    pub(super) stolen: Stolen,
    /// Where its descendants begin, in the deque of the worker.
    pub(super) since: i64,
    version: usize,
}

/// A worker's descent, for others to see; and from where on its jobs are isolated.
#[derive(Debug)]
pub(super) struct Lineage {
    version: AtomicUsize,
    /// One more than the victim; 0 for none.
    victim: AtomicUsize,
    position: AtomicI64,
    since: AtomicI64,
    isolated_since: AtomicI64,
}

impl Lineage {
    pub(super) fn new() -> Self {
        Self {
            version: AtomicUsize::new(0),
            victim: AtomicUsize::new(0),
            position: AtomicI64::new(0),
            since: AtomicI64::new(0),
            isolated_since: AtomicI64::new(i64::MAX),
        }
    }

    /// Worker: it begins a job that was stolen there, with its own deque at `since`. Returns what
    /// to [go back](Self::go_back_to) to.
    pub(super) fn begin(&self, stolen: Stolen, since: i64) -> Option<Descent> {
        let before = self.read();
        self.write(stolen.victim + 1, stolen.position, since);
        before
    }

    /// Worker: the job has ended.
    pub(super) fn go_back_to(&self, before: Option<Descent>) {
        match before {
            Some(Descent { stolen, since, .. }) => self.write(stolen.victim + 1, stolen.position, since),
            None => self.write(0, 0, 0),
        }
    }

    fn write(&self, victim: usize, position: i64, since: i64) {
        // ORDERING: relaxed; only the worker writes it.
        let version = self.version.load(Ordering::Relaxed);
        // ORDERING: relaxed; the fence keeps it before the rest.
        self.version.store(version.wrapping_add(1), Ordering::Relaxed);
        // ORDERING: pairs with the fence in `is_still`: who has read any of what follows finds the
        // version changed.
        full_fence("lineage/write-unfenced");
        // ORDERING: relaxed, all three; released with the version.
        self.victim.store(victim, Ordering::Relaxed);
        self.position.store(position, Ordering::Relaxed);
        self.since.store(since, Ordering::Relaxed);
        // ORDERING: release pairs with the acquire in `read`.
        self.version.store(version.wrapping_add(2), Ordering::Release);
    }

    /// The worker's descent, if it has one. It may be a mixture of two: see
    /// [`is_still`](Self::is_still).
    pub(super) fn read(&self) -> Option<Descent> {
        // ORDERING: acquire pairs with the release in `write`.
        let version = self.version.load(Ordering::Acquire);
        // ORDERING: relaxed, all three; `is_still` makes sure.
        let victim = self.victim.load(Ordering::Relaxed).checked_sub(1)?;
        let position = self.position.load(Ordering::Relaxed);
        let since = self.since.load(Ordering::Relaxed);
        (version % 2 == 0).then_some(Descent { stolen: Stolen { victim, position }, since, version })
    }

    /// Whether the worker has been in the middle of that job from the moment at which this was read
    /// until now.
    pub(super) fn is_still(&self, descent: Descent) -> bool {
        // ORDERING: pairs with the fence in `write`.
        full_fence("lineage/read-unfenced");
        // ORDERING: relaxed; the fence orders it, and what was stolen has been acquired.
        faulty!("lineage/unverified", self.version.load(Ordering::Relaxed) == descent.version, true)
    }

    /// Worker: what it pushes from this position on is isolated.
    pub(super) fn isolate_since(&self, position: i64) {
        // ORDERING: relaxed; whoever steals what is pushed after this acquires it with that.
        self.isolated_since.store(position, Ordering::Relaxed);
    }

    /// Whether the job that was pushed at this position is isolated: to one who has stolen it.
    pub(super) fn is_isolated(&self, position: i64) -> bool {
        // ORDERING: relaxed; see `isolate_since`. If it was changed since, the region is over, and
        // nobody waits for the job in isolation.
        self.isolated_since.load(Ordering::Relaxed) <= position
    }
}
