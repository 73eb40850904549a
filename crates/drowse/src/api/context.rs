//! Questions about the calling thread and its pool.

use super::global::current_registry;
use crate::Metrics;
use crate::engine::WorkerThread;
use std::marker::PhantomData;

/// Context of a closure that [`join_context`](crate::join_context) runs.
#[derive(Debug)]
pub struct FnContext {
    migrated: bool,
    /// Valid on this thread only: neither `Send` nor `Sync`.
    here: PhantomData<*mut ()>,
}

impl FnContext {
    #[inline(always)]
    pub(super) fn new(migrated: bool) -> Self {
        Self { migrated, here: PhantomData }
    }

    /// Returns `true` if the closure runs on another thread than the caller of
    /// [`join_context`](crate::join_context).
    ///
    /// A closure that was stolen can conclude that other workers are short of work, and split its
    /// own work more finely.
    ///
    /// ```
    /// // From outside, both closures move to the global pool.
    /// let (a, b) = drowse::join_context(|a| a.migrated(), |b| b.migrated());
    /// assert!(a && b);
    /// ```
    #[inline]
    pub fn migrated(&self) -> bool {
        self.migrated
    }
}

/// Returns the number of workers of the current pool: the calling worker's pool, else the global
/// one.
///
/// ```
/// let pool = drowse::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
/// assert_eq!(pool.install(drowse::current_num_threads), 3);
/// ```
pub fn current_num_threads() -> usize {
    current_registry().num_threads()
}

/// Returns the calling worker's index in its pool, from 0.
///
/// `None` on a thread that is not a worker, and at times after [`blocking`](crate::blocking()).
///
/// ```
/// assert_eq!(drowse::current_thread_index(), None);
/// let pool = drowse::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
/// assert_eq!(pool.install(drowse::current_thread_index), Some(0));
/// ```
#[inline]
pub fn current_thread_index() -> Option<usize> {
    WorkerThread::with_current(|worker| worker.and_then(WorkerThread::place))
}

/// Returns `true` if the calling worker's own queue holds jobs.
///
/// If it does, no other worker was short of work lately, and there is little point in splitting off
/// more. `None` on a thread that is not a worker.
///
/// ```
/// assert_eq!(drowse::current_thread_has_pending_tasks(), None);
/// let pool = drowse::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
/// pool.install(|| {
///     assert_eq!(drowse::current_thread_has_pending_tasks(), Some(false));
///     drowse::spawn(|| {});
///     assert_eq!(drowse::current_thread_has_pending_tasks(), Some(true));
/// });
/// ```
#[inline]
pub fn current_thread_has_pending_tasks() -> Option<bool> {
    WorkerThread::with_current(|worker| worker.map(|worker| !worker.deque_is_empty()))
}

/// Returns the maximum number of threads of a pool: 4,096.
///
/// A builder that asks for more returns an error. A larger number in an environment variable is
/// reported and ignored. 4,096 is as many processors as the largest machines have, and an eighth of
/// the default limit on process ids.
///
/// ```
/// use drowse::{ThreadPoolBuilder, max_num_threads};
///
/// let error = ThreadPoolBuilder::new().num_threads(max_num_threads() + 1).build().unwrap_err();
/// assert!(error.to_string().contains(&max_num_threads().to_string()));
/// ```
pub fn max_num_threads() -> usize {
    MOST_THREADS
}

/// Far below the number of workers that the sleep protocols can count.
const MOST_THREADS: usize = 4_096;
const _: () = assert!(MOST_THREADS < drowse_sleep::MAX_WORKERS / 2);

/// Returns what the workers of the current pool have done so far.
///
/// The current pool is that of the calling worker, else the global pool. See
/// [`ThreadPool::metrics`](crate::ThreadPool::metrics).
///
/// ```
/// drowse::join(|| 1, || 2);
/// assert_eq!(drowse::metrics().workers.len(), drowse::current_num_threads());
/// ```
pub fn metrics() -> Metrics {
    current_registry().metrics()
}
