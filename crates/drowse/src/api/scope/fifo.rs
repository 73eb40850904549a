//! Scope that begins jobs in order of spawning.

use super::base::{AsBase, ScopeBase};
use crate::api::BroadcastContext;
use crate::api::global::{current_registry, in_worker};
use crate::engine::{Registry, WorkerThread};
use crate::job::{JobFifo, JobRef};
use drowse_sync::{Arc, Table};
use std::fmt;

/// Scope like [`Scope`](crate::Scope), but a worker's jobs begin in the order in which it spawned
/// them. See [`scope_fifo`].
pub struct ScopeFifo<'scope> {
    base: ScopeBase<'scope>,
    /// One queue per worker.
    fifos: Table<JobFifo>,
}

/// Like [`scope()`](crate::scope()), but a worker's jobs begin in the order in which it spawned
/// them.
///
/// # Example
///
/// ```
/// use std::sync::Mutex;
///
/// let pool = drowse::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
/// let order = Mutex::new(Vec::new());
/// pool.install(|| {
///     drowse::scope_fifo(|s| {
///         for i in 0..4 {
///             let order = &order;
///             s.spawn_fifo(move |_| order.lock().unwrap().push(i));
///         }
///     });
/// });
/// assert_eq!(order.into_inner().unwrap(), [0, 1, 2, 3]);
/// ```
pub fn scope_fifo<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&ScopeFifo<'scope>) -> R + Send,
    R: Send,
{
    in_worker(|owner| {
        let scope = ScopeFifo::new(Some(owner), Arc::clone(owner.registry()));
        scope.base.complete(Some(owner), || op(&scope))
    })
}

/// Like [`scope_fifo`], but `op` runs on the calling thread.
///
/// See [`in_place_scope`](crate::in_place_scope).
///
/// # Example
///
/// ```
/// let mut done = [false; 4];
/// drowse::in_place_scope_fifo(|s| {
///     for flag in &mut done {
///         s.spawn_fifo(move |_| *flag = true);
///     }
/// });
/// assert_eq!(done, [true; 4]);
/// ```
pub fn in_place_scope_fifo<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&ScopeFifo<'scope>) -> R,
{
    in_place_scope_fifo_in(&current_registry(), op)
}

pub(in crate::api) fn in_place_scope_fifo_in<'scope, OP, R>(registry: &Arc<Registry>, op: OP) -> R
where
    OP: FnOnce(&ScopeFifo<'scope>) -> R,
{
    WorkerThread::with_current(|owner| {
        let scope = ScopeFifo::new(owner, Arc::clone(registry));
        scope.base.complete(owner, || op(&scope))
    })
}

impl<'scope> ScopeFifo<'scope> {
    fn new(owner: Option<&WorkerThread>, registry: Arc<Registry>) -> Self {
        let fifos = Table::new(registry.num_threads(), registry.num_seats(), |_| JobFifo::new());
        Self { base: ScopeBase::new(owner, registry), fifos }
    }

    /// Runs a closure before the scope ends, in order of spawning.
    ///
    /// It begins after those that the same worker has spawned into the scope before.
    ///
    /// # Example
    ///
    /// ```
    /// let mut answer = 0;
    /// drowse::scope_fifo(|s| s.spawn_fifo(|_| answer = 42));
    /// assert_eq!(answer, 42);
    /// ```
    pub fn spawn_fifo<BODY>(&self, body: BODY)
    where
        BODY: FnOnce(&ScopeFifo<'scope>) + Send + 'scope,
    {
        let job = ScopeBase::job(self, body);
        // SAFETY: a new reference, which is in no queue.
        unsafe { self.offer(job) };
    }

    /// Offers a job, to begin after those that this worker has offered to the scope before.
    ///
    /// # Safety
    ///
    /// The reference must not be in any queue.
    unsafe fn offer(&self, job: JobRef) {
        self.base.registry.with_worker(|worker| match worker {
            // SAFETY: the caller's promise. The fifos are part of the scope, which waits for the
            // job, and so for the reference in the deque that stands for it.
            Some(worker) => unsafe {
                worker.push_to(self.fifos.get_or_grow(worker.index(), |_| JobFifo::new()), job);
            },
            // SAFETY: the caller's promise.
            None => unsafe { self.base.offer(job) },
        });
    }

    /// Runs a closure once on each worker of the scope's pool, before the scope ends.
    ///
    /// See [`Scope::spawn_broadcast`](crate::Scope::spawn_broadcast).
    ///
    /// # Example
    ///
    /// ```
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// let pool = drowse::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// let visits = AtomicUsize::new(0);
    /// pool.scope_fifo(|s| {
    ///     s.spawn_broadcast(|_, _| {
    ///         visits.fetch_add(1, Ordering::Relaxed);
    ///     });
    /// });
    /// assert_eq!(visits.into_inner(), 2);
    /// ```
    pub fn spawn_broadcast<BODY>(&self, body: BODY)
    where
        BODY: Fn(&ScopeFifo<'scope>, BroadcastContext<'_>) + Send + Sync + 'scope,
    {
        ScopeBase::inject_broadcast(self, body);
    }
}

impl<'scope> AsBase<'scope> for ScopeFifo<'scope> {
    fn base(&self) -> &ScopeBase<'scope> {
        &self.base
    }
}

impl fmt::Debug for ScopeFifo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.base.fmt("ScopeFifo", f)
    }
}
