//! Interface for observers of the workers' states.

use crate::Reason;
use std::fmt;

/// Observer of the workers' states. Called at each change, off the hot path, on the thread that
/// causes it.
///
/// Each method does nothing unless it is overridden. None must unwind.
pub trait Observer: fmt::Debug + Send + Sync {
    /// Called when the worker begins to search. The worker calls this and all other methods but
    /// `wake`.
    fn idle(&self, _worker: usize) {}

    /// Called when the worker has announced that it is about to sleep.
    fn sleepy(&self, _worker: usize) {}

    /// Called when the worker is about to block.
    fn asleep(&self, _worker: usize) {}

    /// Called when the worker runs again after it was blocked, and searches.
    fn awake(&self, _worker: usize) {}

    /// Called when the worker has stopped searching: it has found a job, or its latch is set.
    fn active(&self, _worker: usize) {}

    /// Called when the calling thread wakes that worker.
    fn wake(&self, _worker: usize, _reason: Reason) {}
}
