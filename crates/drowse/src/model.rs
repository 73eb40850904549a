//! The parts that drowse's models examine. Not there in a normal build.

pub mod task;

use crate::engine::WorkerThread;
use crate::engine::{self, SharedCount};
use crate::job::{self, JobHeader, JobRef};
use crate::latch::CountLatch;
use drowse_sync::{Arc, Counter};
use std::ptr::NonNull;

/// The deque.
pub mod deque {
    pub use crate::deque::{Owner, Steal, Stealer};
    use drowse_sleep::PostedTo;
    use drowse_sync::LightFences;

    /// A new, empty deque whose owner has not pushed yet.
    pub fn cold<T>(capacity: usize) -> (Owner<T>, Stealer<T>) {
        crate::deque::new(0, capacity, LightFences::prepare())
    }

    /// An empty deque whose owner has pushed before, and takes the fast path if the system lets it.
    pub fn new<T>(capacity: usize) -> (Owner<T>, Stealer<T>) {
        let (owner, stealer) = cold(capacity);
        owner.warm_up();
        (owner, stealer)
    }

    /// The models push, and post to the owner. The engine posts what `push` returns.
    impl<T> PostedTo for Owner<T> {
        fn was_empty(&self) -> bool {
            self.len() <= 1
        }

        fn expect_thieves(&self) {
            self.share();
        }
    }
}

pub use crate::engine::models::{Descent, Lineage, Places, Seen, Ticket};

/// The latch of a thread that belongs to no pool.
#[derive(Debug)]
pub struct LockLatch(crate::latch::LockLatch);

impl LockLatch {
    /// A latch that is not set.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(crate::latch::LockLatch::new())
    }

    /// Blocks until the latch is set, then makes it as new.
    pub fn wait_and_reset(&self) {
        self.0.wait_and_reset();
    }

    /// Blocks for a while. Whether the latch is set.
    pub fn wait_for_a_while(&self) -> bool {
        self.0.wait_for(std::time::Duration::from_secs(1))
    }

    /// Sets the latch and wakes whoever waits for it.
    ///
    /// # Safety
    ///
    /// `this` must be alive when the call begins.
    pub unsafe fn set(this: *const Self) {
        // SAFETY: the caller's promise.
        unsafe { crate::latch::LockLatch::set(&raw const (*this).0) }
    }
}

/// What a scope has that was opened by a thread outside: a count of its jobs.
#[derive(Debug)]
pub struct Count(CountLatch);

impl Count {
    /// So many jobs to wait for.
    pub fn new(jobs: usize) -> Self {
        Self(CountLatch::new(jobs, None))
    }

    /// Blocks until all have ended.
    #[cfg(drowse_loom)]
    pub fn wait(&self) {
        self.0.block();
    }

    /// One job less.
    ///
    /// # Safety
    ///
    /// `this` must be alive when the call begins, and the count be the caller's.
    pub unsafe fn count_down(this: *const Self) {
        // SAFETY: the caller's promise.
        unsafe { CountLatch::subtract(&raw const (*this).0, 1) };
    }
}

/// What a worker has in stock of the counts of scopes.
#[derive(Debug)]
pub struct Stock(engine::Stock<CountLatch>);

impl Stock {
    /// Nothing.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(engine::Stock::new())
    }

    /// Takes a count, for a job.
    ///
    /// # Safety
    ///
    /// `of` must be alive, and not at its end.
    pub unsafe fn take(&self, of: *const Count) {
        // SAFETY: the caller's promise.
        self.0.take(unsafe { &(*of).0 }, || true);
    }

    /// Puts in the count of a job that has ended.
    ///
    /// # Safety
    ///
    /// `of` must be alive when the call begins, and the count be the caller's.
    pub unsafe fn put(&self, of: *const Count) {
        // SAFETY: the caller's promise.
        unsafe { self.0.put(&raw const (*of).0) };
    }

    /// Gives back what there is.
    pub fn settle(&self) {
        self.0.settle();
    }
}

/// Room for the small jobs of one worker.
#[derive(Debug)]
pub struct Slabs(crate::job::Slabs);

/// Room for one job, on its way from the worker that has made it to the one that has run it.
#[derive(Debug)]
pub struct Slot(std::ptr::NonNull<u8>);

// SAFETY: a slot is handed over as a whole.
unsafe impl Send for Slot {}

impl Slabs {
    /// None yet.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(crate::job::Slabs::new())
    }

    /// A slot.
    pub fn alloc(&self) -> Slot {
        Slot(self.0.alloc())
    }

    /// Frees a slot, of this worker or another.
    pub fn free(&self, slot: Slot) {
        // SAFETY: a slot comes from `alloc`, and is gone now.
        unsafe { self.0.free(slot.0) };
    }
}

/// A place in a deque for a job that counts how often it is run.
#[derive(Debug)]
pub struct Placeholder {
    shared: Arc<job::Placeholder>,
    job: Arc<CountedJob>,
}

/// The one reference to it, for the deque.
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
    /// `job` must be that of such a job, which is alive.
    unsafe fn run(job: JobRef) {
        // SAFETY: the caller's promise; the header comes first.
        unsafe { job.header().cast::<Self>().as_ref() }.runs.add(1);
    }

    unsafe fn execute(_: JobRef, _: &WorkerThread) {
        unreachable!("there are no workers");
    }
}

impl Placeholder {
    /// A placeholder, and what to push to a deque.
    #[allow(clippy::new_without_default)]
    pub fn new() -> (Self, PlaceholderRef) {
        let header = JobHeader::new(CountedJob::execute);
        let job = Arc::new(CountedJob { header, runs: Counter::new() });
        // SAFETY: the job lives for as long as what is returned first, and may run more than once.
        let shared = unsafe { job::Placeholder::new(JobRef::new(NonNull::from(&*job).cast())) };
        let reference = PlaceholderRef(job::Placeholder::reference(&shared));
        (Self { shared, job }, reference)
    }

    /// Runs the job before its turn, if it is still there.
    pub fn run_early(&self) {
        // SAFETY: it was taken just now.
        self.shared.take().into_iter().for_each(|job| unsafe { CountedJob::run(job) });
    }

    /// How often the job was run.
    pub fn runs(&self) -> u64 {
        self.job.runs.get()
    }
}

impl PlaceholderRef {
    /// Executes it, as a thief does, or the worker when it pops it. The placeholder must be there.
    pub fn execute(self) {
        // SAFETY: there is one reference, and it is gone now.
        unsafe {
            job::Placeholder::take_by_reference(self.0).into_iter().for_each(|job| CountedJob::run(job))
        };
    }
}

/// How many jobs are under way, where there may be only so many.
#[derive(Debug)]
pub struct Bound(engine::Bound);

/// A job's place among them, free when it is dropped.
#[derive(Debug)]
pub struct Place(#[allow(dead_code)] engine::Place);

impl Bound {
    /// None is under way.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(engine::Bound::new())
    }

    /// A place, if there are fewer than `limit`.
    ///
    /// # Safety
    ///
    /// The bound must outlive the place.
    pub unsafe fn enter(&self, limit: usize) -> Option<Place> {
        // SAFETY: the caller's promise.
        unsafe { self.0.enter(limit) }.map(Place)
    }
}

/// Whether a scope was called off.
#[derive(Debug)]
pub struct Cancellation(crate::api::Cancellation);

impl Cancellation {
    /// It was not.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(crate::api::Cancellation::new())
    }

    /// Calls it off.
    pub fn cancel(&self) {
        self.0.cancel();
    }

    /// Listens to a token.
    pub fn listen(&self, token: &crate::CancelToken) {
        assert!(self.0.listen(token));
    }

    /// Whether it was called off.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Whether a job must not begin.
    pub fn forbids_to_begin(&self) -> bool {
        self.0.forbids_to_begin()
    }
}
