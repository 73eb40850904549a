//! Interface for observers of the workers' states.

use crate::Reason;
#[cfg(feature = "diagnose")]
use drowse_sync::Arc;
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

/// The observer of a pool, if it has one. Without the feature `diagnose` it has none.
#[derive(Debug, Default)]
pub(crate) struct Observed {
    #[cfg(feature = "diagnose")]
    pub(crate) by: Option<Arc<dyn Observer>>,
}

impl Observed {
    /// Calls `tell` with the observer, if there is one.
    #[inline]
    pub(crate) fn tell(&self, tell: impl FnOnce(&dyn Observer)) {
        #[cfg(feature = "diagnose")]
        if let Some(observer) = &self.by {
            tell(&**observer);
        }
        #[cfg(not(feature = "diagnose"))]
        let _ = tell;
    }
}
