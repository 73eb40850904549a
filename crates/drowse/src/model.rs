//! The parts that drowse's models examine. Not there in a normal build.

use crate::latch::Latch;

/// The deque.
pub mod deque {
    pub use crate::deque::{Owner, Steal, Stealer};
    use drowse_sleep::PostedTo;
    use drowse_sync::LightFences;

    /// A new, empty deque whose owner has not pushed yet.
    pub fn cold<T>(capacity: usize) -> (Owner<T>, Stealer<T>) {
        crate::deque::new(capacity, LightFences::prepare())
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
