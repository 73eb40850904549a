//! Running other jobs while waiting for something else.

use crate::engine::WorkerThread;

/// Result of [`yield_now`] or [`yield_local`].
///
/// ```
/// assert_ne!(drowse::Yield::Executed, drowse::Yield::Idle);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Yield {
    /// A job was run.
    Executed,
    /// There was no job to run.
    Idle,
}

impl Yield {
    pub(super) fn from_run(ran: bool) -> Self {
        if ran { Self::Executed } else { Self::Idle }
    }
}

/// Runs one job of the pool, if there is one. Returns `None` on a thread that is not a worker.
///
/// Use it while waiting for something that drowse does not know, where other jobs can run
/// meanwhile. Runs any job: one from the worker's own queue, a stolen one, or one from outside the
/// pool.
///
/// ```
/// use drowse::Yield;
///
/// assert_eq!(drowse::yield_now(), None);
/// let pool = drowse::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
/// pool.install(|| {
///     drowse::spawn(|| {});
///     assert_eq!(drowse::yield_now(), Some(Yield::Executed));
///     assert_eq!(drowse::yield_now(), Some(Yield::Idle));
/// });
/// ```
pub fn yield_now() -> Option<Yield> {
    WorkerThread::with_current(|worker| worker.map(|worker| Yield::from_run(worker.run_one())))
}

/// Like [`yield_now`], but runs only jobs from the worker's own queue.
///
/// ```
/// use drowse::Yield;
///
/// let pool = drowse::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
/// pool.install(|| {
///     assert_eq!(drowse::yield_local(), Some(Yield::Idle));
///     drowse::spawn(|| {});
///     assert_eq!(drowse::yield_local(), Some(Yield::Executed));
/// });
/// ```
pub fn yield_local() -> Option<Yield> {
    WorkerThread::with_current(|worker| {
        worker.map(|worker| Yield::from_run(worker.run_one_local()))
    })
}
