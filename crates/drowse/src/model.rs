//! The parts that drowse's models examine. Not there in a normal build.

use crate::engine::{self, SharedCount};
use crate::latch::{CountLatch, Latch};

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

    /// Sets the latch and wakes whoever waits for it.
    ///
    /// # Safety
    ///
    /// `this` must be alive when the call begins.
    pub unsafe fn set(this: *const Self) {
        // SAFETY: the caller's promise.
        unsafe { Latch::set(&raw const (*this).0) }
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
