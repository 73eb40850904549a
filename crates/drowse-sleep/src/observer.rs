//! Who wants to know what becomes of the workers.

use crate::Reason;
use std::fmt;

/// Is told of each change of a worker's state, where it happens: off the hot path, on the thread
/// that makes it happen.
///
/// Each method does nothing unless it is overridden. None must unwind.
pub trait Observer: fmt::Debug + Send + Sync {
    /// The worker begins to search. Called by itself, as are all but the last.
    fn idle(&self, _worker: usize) {}

    /// The worker has announced that it is about to sleep.
    fn sleepy(&self, _worker: usize) {}

    /// The worker is about to block.
    fn asleep(&self, _worker: usize) {}

    /// The worker runs again after it was blocked, and searches.
    fn awake(&self, _worker: usize) {}

    /// The worker has stopped searching: it has found a job, or what it waits for has happened.
    fn active(&self, _worker: usize) {}

    /// The calling thread wakes that worker.
    fn wake(&self, _worker: usize, _reason: Reason) {}
}
