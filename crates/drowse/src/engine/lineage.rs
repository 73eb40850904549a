//! Descent of jobs: which stolen job a worker is in the middle of, and where its descendants are.
//!
//! A worker that steals a job has none of its own left. Until the job has ended, all that the
//! worker pushes are *descendants* of the job, if it does not run anything else meanwhile. So it is
//! enough to know the victim, the position at which the job was stolen from the victim's deque, and
//! the position from which on the thief's own deque holds descendants: the thief's [`Descent`]. The
//! job in turn descends from what its owner was in the middle of when it pushed it; and so on, from
//! thief to victim.
//!
//! The positions of stolen jobs only grow ([`Owner::position`](crate::deque::Owner::position)). So
//! what was stolen at or after the position at which a wait began was pushed after that. A job that
//! is sent and not pushed (a letter) uses up no position: it has a *moment*, which the worker
//! counts.
//!
//! # Notes on memory ordering
//!
//! A descent is written by its worker and read by others, which need all of it or nothing: the
//! version is odd while the descent changes, and another one afterwards. A thief looks at the
//! version again after a theft (`is_still`). Had the job been pushed after a change of the descent,
//! the thief would have acquired that change with the job.

use crate::job::JobRef;
use drowse_sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use drowse_sync::{faulty, full_fence};

/// Origin of a job: a worker, and which of its jobs this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Origin {
    /// Index of the worker that it was stolen from, or sent by.
    pub(super) worker: usize,
    pub(super) mark: Mark,
}

/// A job that was taken from a queue, with its origin if it comes from another worker.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) job: JobRef,
    pub(super) origin: Option<Origin>,
}

impl From<JobRef> for Found {
    fn from(job: JobRef) -> Self {
        Self { job, origin: None }
    }
}

/// Origins of a job that is in no deque, for workers that may wait for it in isolation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Origins {
    pub(super) from: Origin,
    /// A second origin, for jobs that belong to a scope: the worker that waits for the scope may
    /// run the job, regardless of what the sender was running.
    pub(super) also: Option<Origin>,
}

impl Origins {
    /// Returns the origins of a job that `worker` might have sent at `point`.
    pub(crate) fn sent_at(worker: usize, point: Point) -> Self {
        Origin::sent(worker, point.moment).into()
    }

    pub(crate) fn or_also(self, other: Option<Self>) -> Self {
        Self { also: other.map(|other| other.from), ..self }
    }
}

impl From<Origin> for Origins {
    fn from(from: Origin) -> Self {
        Self { from, also: None }
    }
}

/// Identity of a job among those of its worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// Stolen at this position of the worker's deque.
    Stolen(i64),
    /// Sent at this moment.
    Sent(i64),
}

/// Progress of a worker: the next position that it pushes to, and the moment of what it sends next.
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

    /// Returns `true` if the worker had reached `point` when it pushed or sent the job.
    pub(super) fn is_since(self, point: Point) -> bool {
        match self.mark {
            Mark::Stolen(position) => position >= point.position,
            Mark::Sent(moment) => faulty!("isolate/any-letter", moment >= point.moment, true),
        }
    }

    /// Encodes the origin in two words, of which the first is not 0.
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

/// The job of another worker that a worker is in the middle of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Descent {
    pub(super) origin: Origin,
    /// Point from which on all that the worker pushes and sends descends from the job.
    pub(super) since: Point,
    version: usize,
}

/// A worker's descent, read by others; and the position from which on its jobs are isolated.
#[derive(Debug)]
pub(super) struct Lineage {
    version: AtomicUsize,
    /// The origin of the descent, in two words; 0 in the first one for none.
    worker: AtomicUsize,
    mark: AtomicI64,
    /// `Descent::since`.
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

    /// Returns the moment of what the worker sends next. For the worker only.
    pub(super) fn moment(&self) -> i64 {
        // ORDERING: relaxed; only the worker uses this field.
        self.next_moment.load(Ordering::Relaxed)
    }

    /// Returns a moment that no other job has. For the worker only.
    pub(super) fn take_moment(&self) -> i64 {
        let moment = self.moment();
        // ORDERING: relaxed; only the worker uses this field.
        self.next_moment.store(moment + 1, Ordering::Relaxed);
        moment
    }

    /// Begins a job with this origin, with the worker's own deque at this position. Returns what to
    /// [go back](Self::go_back_to) to. For the worker only.
    pub(super) fn begin(&self, origin: Origin, position: i64) -> Option<Descent> {
        let before = self.read();
        let moment = self.moment();
        self.write(origin.into_words(), Point { position, moment });
        before
    }

    /// Begins a job that no worker waits for in isolation. Returns what to [go
    /// back](Self::go_back_to) to. For the worker only.
    pub(super) fn begin_other(&self) -> Option<Descent> {
        let before = self.read();
        if before.is_some() {
            self.go_back_to(None);
        }
        before
    }

    /// Ends a job: goes back to the descent before it. For the worker only.
    pub(super) fn go_back_to(&self, before: Option<Descent>) {
        match before {
            Some(Descent { origin, since, .. }) => self.write(origin.into_words(), since),
            None => self.write((0, 0), Point { position: i64::MAX, moment: i64::MAX }),
        }
    }

    #[inline(never)]
    fn write(&self, (worker, mark): (usize, i64), since: Point) {
        // ORDERING: relaxed; only the worker writes it.
        let version = self.version.load(Ordering::Relaxed);
        // ORDERING: relaxed; the fence below keeps it before the other stores.
        self.version.store(version.wrapping_add(1), Ordering::Relaxed);
        // ORDERING: pairs with the fence in `is_still`: a reader of any of the values below finds
        // the version changed. Without it, the reader may take a mixture of two descents for one.
        full_fence("lineage/write-unfenced");
        // ORDERING: relaxed, all four; released with the version below.
        self.worker.store(worker, Ordering::Relaxed);
        self.mark.store(mark, Ordering::Relaxed);
        self.position.store(since.position, Ordering::Relaxed);
        self.moment.store(since.moment, Ordering::Relaxed);
        // ORDERING: release pairs with the acquire in `read`: with this version come these values,
        // or later ones, which `is_still` detects.
        self.version.store(version.wrapping_add(2), Ordering::Release);
    }

    /// Returns the worker's descent, if it has one, as it is at one moment.
    pub(super) fn read_whole(&self) -> Option<Descent> {
        self.read().filter(|descent| self.is_still(*descent))
    }

    /// Returns the worker's descent, if it has one. It may be a mixture of two: see
    /// [`is_still`](Self::is_still).
    #[inline(never)]
    pub(super) fn read(&self) -> Option<Descent> {
        // ORDERING: acquire pairs with the release in `write`.
        let version = self.version.load(Ordering::Acquire);
        // ORDERING: relaxed, all four; `is_still` detects a mixture.
        let worker = self.worker.load(Ordering::Relaxed);
        let origin = Origin::from_words(worker, self.mark.load(Ordering::Relaxed))?;
        let position = self.position.load(Ordering::Relaxed);
        let moment = self.moment.load(Ordering::Relaxed);
        (version % 2 == 0).then_some(Descent { origin, since: Point { position, moment }, version })
    }

    /// Returns `true` if the worker has been in the middle of that job since `descent` was read.
    pub(super) fn is_still(&self, descent: Descent) -> bool {
        // ORDERING: pairs with the fence in `write`: if `read` saw later values, the version
        // differs.
        full_fence("lineage/read-unfenced");
        // ORDERING: relaxed; the fence above orders it. And if a job was stolen since, the theft
        // has acquired every change of the descent that was made before the push.
        faulty!("lineage/unverified", self.version.load(Ordering::Relaxed) == descent.version, true)
    }

    /// Isolates what the worker pushes from this position on. For the worker only.
    pub(super) fn isolate_since(&self, position: i64) {
        // ORDERING: relaxed; a thief of what is pushed after this acquires it with the job.
        self.isolated_since.store(position, Ordering::Relaxed);
    }

    /// Returns `true` if the job that was pushed at this position is isolated. For its thief.
    pub(super) fn is_isolated(&self, position: i64) -> bool {
        // ORDERING: relaxed; acquired with the job: see `isolate_since`. If it was changed since,
        // the region is over, and no worker waits for the job in isolation.
        self.isolated_since.load(Ordering::Relaxed) <= position
    }
}
