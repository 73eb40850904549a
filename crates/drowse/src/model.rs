//! Parts of drowse that its models examine. Not compiled in a normal build.

pub mod task;

use crate::engine::WorkerThread;
use crate::engine::{self, SharedCount};
use crate::job::{self, JobHeader, JobRef};
use crate::latch::CountLatch;
use drowse_sync::{Arc, Counter};
use std::ptr::NonNull;

/// Deque of the models.
pub mod deque {
    pub use crate::deque::{Owner, Steal, Stealer};
    use drowse_sleep::PostedTo;
    use drowse_sync::LightFences;

    /// Returns an empty deque whose owner has not pushed yet.
    pub fn cold<T>(capacity: usize) -> (Owner<T>, Stealer<T>) {
        crate::deque::new(0, capacity, LightFences::prepare())
    }

    /// Returns an empty deque whose owner has pushed before, and takes the fast path if possible.
    pub fn new<T>(capacity: usize) -> (Owner<T>, Stealer<T>) {
        let (owner, stealer) = cold(capacity);
        owner.warm_up();
        (owner, stealer)
    }

    /// For the models, which post to the owner after a push. The engine posts what `push` returns.
    impl<T> PostedTo for Owner<T> {
        fn was_empty(&self) -> bool {
            self.len() <= 1
        }

        fn expect_thieves(&self) {
            self.share();
        }
    }
}

pub use crate::engine::models::{Descent, Lineage, Places, Seen};

/// Latch of a thread that belongs to no pool.
#[derive(Debug)]
pub struct LockLatch(crate::latch::LockLatch);

impl LockLatch {
    /// Returns a latch that is not set.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(crate::latch::LockLatch::new())
    }

    /// Blocks until the latch is set.
    pub fn wait(&self) {
        self.0.wait();
    }

    /// Blocks for a while. Returns `true` if the latch is set.
    pub fn wait_for_a_while(&self) -> bool {
        self.0.wait_for(std::time::Duration::from_secs(1))
    }

    /// Sets the latch and wakes its waiter.
    ///
    /// # Safety
    ///
    /// `this` must be alive when the call begins.
    pub unsafe fn set(this: *const Self) {
        // SAFETY: the caller's promise.
        unsafe { crate::latch::LockLatch::set(&raw const (*this).0) }
    }
}

/// Count of the jobs of a scope that a thread outside has opened.
#[derive(Debug)]
pub struct Count(CountLatch);

impl Count {
    /// Returns a count of this many jobs.
    pub fn new(jobs: usize) -> Self {
        Self(CountLatch::new(jobs, None))
    }

    /// Blocks until all jobs have ended.
    #[cfg(drowse_loom)]
    pub fn wait(&self) {
        self.0.of_outside().wait();
    }

    /// Counts down by one job.
    ///
    /// # Safety
    ///
    /// `this` must be alive when the call begins, and the caller must own one of its counts.
    pub unsafe fn count_down(this: *const Self) {
        // SAFETY: the caller's promise.
        unsafe { CountLatch::subtract(&raw const (*this).0, 1) };
    }
}

/// Stock of a worker: counts of scopes' jobs.
#[derive(Debug)]
pub struct Stock(engine::Stock<CountLatch>);

impl Stock {
    /// Returns an empty stock.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(engine::Stock::new())
    }

    /// Takes a count, for a job.
    ///
    /// # Safety
    ///
    /// `of` must be alive, and must not have reached zero.
    pub unsafe fn take(&self, of: *const Count) {
        // SAFETY: the caller's promise.
        self.0.take(unsafe { &(*of).0 }, || true);
    }

    /// Puts in the count of a job that has ended.
    ///
    /// # Safety
    ///
    /// `of` must be alive when the call begins, and the caller must own one of its counts.
    pub unsafe fn put(&self, of: *const Count) {
        // SAFETY: the caller's promise.
        unsafe { self.0.put(&raw const (*of).0) };
    }

    /// Gives back all counts.
    pub fn settle(&self) {
        self.0.settle();
    }
}

/// Slabs: room for the small jobs of one worker.
#[derive(Debug)]
pub struct Slabs(crate::job::Slabs);

/// Slot: room for one job, from the worker that has made it to the worker that has run it.
#[derive(Debug)]
pub struct Slot(std::ptr::NonNull<u8>);

// SAFETY: only one thread at a time owns a slot.
unsafe impl Send for Slot {}

impl Slabs {
    /// Returns room without a slab.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(crate::job::Slabs::new())
    }

    /// Allocates a slot.
    pub fn alloc(&self) -> Slot {
        Slot(self.0.alloc())
    }

    /// Frees a slot, of this worker or another.
    pub fn free(&self, slot: Slot) {
        // SAFETY: a slot comes from `alloc`, and is consumed here.
        unsafe { self.0.free(slot.0) };
    }
}

/// Placeholder in a deque for a job that counts how often it is run.
#[derive(Debug)]
pub struct Placeholder {
    shared: Arc<job::Placeholder>,
    job: Arc<CountedJob>,
}

/// Only reference to a placeholder, for the deque.
#[derive(Debug)]
pub struct PlaceholderRef(JobRef);

#[repr(C)]
#[derive(Debug)]
struct CountedJob {
    header: JobHeader,
    runs: Counter,
}

impl CountedJob {
    /// # Safety
    ///
    /// `job` must be a reference to a `CountedJob` that is alive.
    unsafe fn run(job: JobRef) {
        // SAFETY: the caller's promise; the header is the first field.
        unsafe { job.header().cast::<Self>().as_ref() }.runs.add(1);
    }

    unsafe fn execute(_: JobRef, _: &WorkerThread) {
        unreachable!("there are no workers");
    }
}

impl Placeholder {
    /// Returns a placeholder, and the reference to push to a deque.
    #[allow(clippy::new_without_default)]
    pub fn new() -> (Self, PlaceholderRef) {
        let header = JobHeader::new(CountedJob::execute);
        let job = Arc::new(CountedJob { header, runs: Counter::new() });
        // SAFETY: the job lives as long as the returned `Placeholder`, and may run more than once.
        let shared = unsafe { job::Placeholder::new(JobRef::new(NonNull::from(&*job).cast())) };
        let reference = PlaceholderRef(job::Placeholder::reference(&shared));
        (Self { shared, job }, reference)
    }

    /// Runs the job before its turn, if it is still there.
    pub fn run_early(&self) {
        // SAFETY: `take` returns a reference to the job, which `self` keeps alive.
        self.shared.take().into_iter().for_each(|job| unsafe { CountedJob::run(job) });
    }

    /// Returns how often the job was run.
    pub fn runs(&self) -> u64 {
        self.job.runs.get()
    }
}

impl PlaceholderRef {
    /// Executes the placeholder, like a thief or the worker that pops it. It must be alive.
    pub fn execute(self) {
        // SAFETY: this is the only reference, and it is consumed here.
        unsafe {
            job::Placeholder::take_by_reference(self.0)
                .into_iter()
                .for_each(|job| CountedJob::run(job))
        };
    }
}

/// Bound: number of jobs that are under way, where it is limited.
#[derive(Debug)]
pub struct Bound(engine::Bound);

/// Place of a job in a bound, free when it is dropped.
#[derive(Debug)]
pub struct Place(#[allow(dead_code)] engine::Place);

impl Bound {
    /// Returns a bound with no job under way.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(engine::Bound::new())
    }

    /// Takes a place, if fewer than `limit` are taken.
    ///
    /// # Safety
    ///
    /// The bound must outlive the place.
    pub unsafe fn enter(&self, limit: usize) -> Option<Place> {
        // SAFETY: the caller's promise.
        unsafe { self.0.enter(limit) }.map(Place)
    }
}

/// Cancellation state of a scope.
#[derive(Debug)]
pub struct Cancellation(crate::api::Cancellation);

impl Cancellation {
    /// Returns the state of a scope that is not cancelled.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(crate::api::Cancellation::new())
    }

    /// Cancels the scope.
    pub fn cancel(&self) {
        self.0.cancel();
    }

    /// Makes the scope listen to a token.
    pub fn listen(&self, token: &crate::CancelToken) {
        assert!(self.0.listen(token));
    }

    /// Returns `true` if the scope was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Returns `true` if a job of the scope must not begin.
    pub fn forbids_to_begin(&self) -> bool {
        self.0.forbids_to_begin()
    }
}
