//! Latches: events that a worker or a thread outside waits for.
//!
//! | | set when | who waits, and how |
//! |---|---|---|
//! | [`SpinLatch`] | the one job is done | the worker that made it; runs jobs meanwhile |
//! | [`CountLatch`] | all its jobs are done | a worker of any pool; a thread outside, blocking |
//! | [`LockLatch`] | a worker or a thread outside sets it | a thread outside, blocking |
//!
//! A worker sleeps on the [`LatchWord`](drowse_sleep::LatchWord) in the first two. In its main loop
//! it sleeps on that of its seat, which is set when the pool ends.

mod count;
mod lock;
mod worker;

pub(crate) use count::CountLatch;
pub(crate) use lock::LockLatch;
pub(crate) use worker::SpinLatch;

use crate::engine::WorkerThread;

/// Event that is set by the worker that has run the latch's job.
pub(crate) trait Latch {
    /// Sets the latch and wakes its waiter. `setter` is the calling thread.
    ///
    /// The waiter may free the latch as soon as it sees it set. So this takes a raw pointer, and an
    /// implementation must not touch `this` after the step that makes it set.
    ///
    /// # Safety
    ///
    /// `this` must be alive when the call begins.
    unsafe fn set(this: *const Self, setter: &WorkerThread);

    /// Returns `true` if the calling worker, which is about to run the job, did not make the latch.
    #[inline(always)]
    fn migrated(&self, _worker: &WorkerThread) -> bool {
        true
    }
}

/// A latch that another frame owns.
impl<L: Latch> Latch for &L {
    unsafe fn set(this: *const Self, setter: &WorkerThread) {
        // SAFETY: `this` is alive as the call begins, and is not used once the inner latch is being
        // set.
        unsafe {
            let inner: *const L = *this;
            L::set(inner, setter);
        }
    }
}
