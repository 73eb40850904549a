//! Which job a worker is in the middle of, and where its descendants are.
//!
//! A worker that steals a job has run out of its own: what it pushes from then on, until the job
//! has ended, are *descendants* of the job, if it does not run anything else meanwhile. So it is
//! enough to know whom the job was stolen from, at which position of that one's deque, and from
//! which position on the thief's own deque holds its descendants: the thief's [`Descent`]. The job
//! in turn descends from what its owner was in the middle of when it pushed it; and so on, from
//! thief to victim.
//!
//! The positions of what is stolen only grow ([`Owner::position`](crate::deque::Owner::position)).
//! So what was stolen at or after the position at which somebody began to wait for something was
//! pushed after that. What is not stolen but sent, a letter say, uses up no position: each has a
//! *moment* instead, which the worker counts.
//!
//! # Notes on memory ordering
//!
//! A descent is written by its worker and read by others, who want all of it or nothing: the
//! version is odd while it changes, and not the same afterwards. A thief looks at the version once
//! more when it has stolen something. Had the job been pushed after the descent has changed, the
//! thief would have acquired that change with the job.

use drowse_sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use drowse_sync::{faulty, full_fence};

/// Where a job comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Origin {
    /// Whom it was stolen from, or sent by.
    pub(super) worker: usize,
    pub(super) mark: Mark,
}

/// Where a job comes from that is in no deque, to those who may wait for it in isolation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Origins {
    pub(super) from: Origin,
    /// Another one that it may as well come from: who waits for the scope that it belongs to, say,
    /// whatever the one who has sent it is in the middle of.
    pub(super) also: Option<Origin>,
}

impl Origins {
    /// That of something which this worker might have sent at that point.
    pub(crate) fn sent_at(worker: usize, point: Point) -> Self {
        Origin::sent(worker, point.moment).into()
    }

    pub(crate) fn or_also(self, other: Option<Self>) -> Self {
        Self { also: other.map(|other| other.from), ..self }
    }

    pub(super) fn all(self) -> impl Iterator<Item = Origin> {
        [Some(self.from), self.also].into_iter().flatten()
    }
}

impl From<Origin> for Origins {
    fn from(from: Origin) -> Self {
        Self { from, also: None }
    }
}

/// Which of that worker's jobs it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// The one that was stolen at this position of its deque.
    Stolen(i64),
    /// One that was sent at this moment.
    Sent(i64),
}

/// How far a worker has got, by what it has pushed and what it has sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Point {
    pub(crate) position: i64,
    pub(crate) moment: i64,
}

impl Origin {
    pub(super) fn stolen(victim: usize, position: i64) -> Self {
        Self { worker: victim, mark: Mark::Stolen(position) }
    }

    pub(super) fn sent(worker: usize, moment: i64) -> Self {
        Self { worker, mark: Mark::Sent(moment) }
    }

    /// Whether the worker had got that far when it pushed it, or sent it.
    pub(super) fn is_since(self, point: Point) -> bool {
        match self.mark {
            Mark::Stolen(position) => position >= point.position,
            Mark::Sent(moment) => faulty!("isolate/any-letter", moment >= point.moment, true),
        }
    }

    /// In two words, of which the first is not 0.
    fn into_words(self) -> (usize, i64) {
        match self.mark {
            Mark::Stolen(position) => (2 * self.worker + 1, position),
            Mark::Sent(moment) => (2 * self.worker + 2, moment),
        }
    }

    fn from_words(worker: usize, mark: i64) -> Option<Self> {
        let worker = worker.checked_sub(1)?;
        let kind = if worker % 2 == 0 { Mark::Stolen } else { Mark::Sent };
        Some(Self { worker: worker / 2, mark: kind(mark) })
    }
}

/// The job of somebody else that a worker is in the middle of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Descent {
    pub(super) origin: Origin,
    /// Where its descendants begin, of all that the worker pushes and sends.
    pub(super) since: Point,
    version: usize,
}

/// A worker's descent, for others to see; and from where on its jobs are isolated.
#[derive(Debug)]
pub(super) struct Lineage {
    version: AtomicUsize,
    /// Its origin, in two words; 0 in the first one for none.
    worker: AtomicUsize,
    mark: AtomicI64,
    /// Since which position, and which moment.
    position: AtomicI64,
    moment: AtomicI64,
    isolated_since: AtomicI64,
    /// The moment of what the worker sends next.
    next_moment: AtomicI64,
}

impl Lineage {
    pub(super) fn new() -> Self {
        Self {
            version: AtomicUsize::new(0),
            worker: AtomicUsize::new(0),
            mark: AtomicI64::new(0),
            position: AtomicI64::new(0),
            moment: AtomicI64::new(0),
            isolated_since: AtomicI64::new(i64::MAX),
            next_moment: AtomicI64::new(0),
        }
    }

    /// Worker: the moment of what it sends next.
    pub(super) fn moment(&self) -> i64 {
        // ORDERING: relaxed; only the worker uses it.
        self.next_moment.load(Ordering::Relaxed)
    }

    /// Worker: a moment that no other is like.
    pub(super) fn take_moment(&self) -> i64 {
        let moment = self.moment();
        // ORDERING: relaxed, as above.
        self.next_moment.store(moment + 1, Ordering::Relaxed);
        moment
    }

    /// Worker: it begins a job that comes from there, with its own deque at this position. Returns
    /// what to [go back](Self::go_back_to) to.
    pub(super) fn begin(&self, origin: Origin, position: i64) -> Option<Descent> {
        let before = self.read();
        let moment = self.moment();
        self.write(origin.into_words(), Point { position, moment });
        before
    }

    /// Worker: it begins a job that nobody waits for in isolation. Returns what to [go
    /// back](Self::go_back_to) to.
    pub(super) fn begin_other(&self) -> Option<Descent> {
        let before = self.read();
        if before.is_some() {
            self.go_back_to(None);
        }
        before
    }

    /// Worker: the job has ended.
    pub(super) fn go_back_to(&self, before: Option<Descent>) {
        match before {
            Some(Descent { origin, since, .. }) => self.write(origin.into_words(), since),
            None => self.write((0, 0), Point { position: i64::MAX, moment: i64::MAX }),
        }
    }

    fn write(&self, (worker, mark): (usize, i64), since: Point) {
        // ORDERING: relaxed; only the worker writes it.
        let version = self.version.load(Ordering::Relaxed);
        // ORDERING: relaxed; the fence keeps it before the rest.
        self.version.store(version.wrapping_add(1), Ordering::Relaxed);
        // ORDERING: pairs with the fence in `is_still`: who has read any of what follows finds the
        // version changed.
        full_fence("lineage/write-unfenced");
        // ORDERING: relaxed, all four; released with the version.
        self.worker.store(worker, Ordering::Relaxed);
        self.mark.store(mark, Ordering::Relaxed);
        self.position.store(since.position, Ordering::Relaxed);
        self.moment.store(since.moment, Ordering::Relaxed);
        // ORDERING: release pairs with the acquire in `read`.
        self.version.store(version.wrapping_add(2), Ordering::Release);
    }

    /// The worker's descent, if it has one, as it is at one moment.
    pub(super) fn read_whole(&self) -> Option<Descent> {
        self.read().filter(|descent| self.is_still(*descent))
    }

    /// The worker's descent, if it has one. It may be a mixture of two: see
    /// [`is_still`](Self::is_still).
    pub(super) fn read(&self) -> Option<Descent> {
        // ORDERING: acquire pairs with the release in `write`.
        let version = self.version.load(Ordering::Acquire);
        // ORDERING: relaxed, all four; `is_still` makes sure.
        let worker = self.worker.load(Ordering::Relaxed);
        let origin = Origin::from_words(worker, self.mark.load(Ordering::Relaxed))?;
        let position = self.position.load(Ordering::Relaxed);
        let moment = self.moment.load(Ordering::Relaxed);
        (version % 2 == 0).then_some(Descent { origin, since: Point { position, moment }, version })
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
