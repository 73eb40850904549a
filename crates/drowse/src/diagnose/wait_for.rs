//! Kinds of waits.

use std::fmt;

/// Event that a worker waits for.
///
/// ```
/// assert_eq!(drowse::WaitFor::Join.to_string(), "the other half of a join");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WaitFor {
    /// The end of its pool, in its main loop: it waits for work.
    Home,
    /// The other half of a `join`.
    Join,
    /// The jobs of a scope.
    Scope,
    /// A closure that it has sent to another pool.
    Install,
    /// A closure on each worker.
    Broadcast,
    /// The closure of a [`JoinHandle`](crate::JoinHandle).
    Handle,
    /// The waker of the future of a [`block_on`](crate::block_on()).
    Future,
    /// The end of a pool that it [shuts down](crate::ThreadPool::shutdown).
    Shutdown,
}

impl WaitFor {
    /// Returns the name for reports.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Home => "work",
            Self::Join => "the other half of a join",
            Self::Scope => "the jobs of a scope",
            Self::Install => "a closure in another pool",
            Self::Broadcast => "a broadcast",
            Self::Handle => "the closure of a handle",
            Self::Future => "a future",
            Self::Shutdown => "the end of the pool",
        }
    }
}

impl fmt::Display for WaitFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
