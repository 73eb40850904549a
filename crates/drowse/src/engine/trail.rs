//! What is known of a worker by those who ask why nothing moves.

/// What a worker waits for, in [`wait_until`](super::WorkerThread::wait_until).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WaitFor {
    /// For the end of its pool, in its main loop: that is, for work.
    Home,
    /// For the other half of a `join`.
    Join,
    /// For the jobs of a scope.
    Scope,
    /// For a closure that it sent to another pool.
    Install,
    /// For a closure on each worker.
    Broadcast,
    /// For the closure of a `JoinHandle`.
    Handle,
}
