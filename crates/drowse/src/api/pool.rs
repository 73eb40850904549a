//! Pools other than the global one.

use super::broadcast::{broadcast_in, spawn_broadcast_in};
use super::scope::{in_place_scope_fifo_in, in_place_scope_in};
use super::spawn::{spawn_all_in, spawn_fifo_in, spawn_in};
use super::try_spawn::try_spawn_in;
use super::{BroadcastContext, Scope, ScopeFifo, TrySpawnError, Yield};
use crate::Metrics;
use crate::engine::{Registry, WorkerThread};
use drowse_sync::Arc;
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};

/// Pool of worker threads, separate from the global one. Built by a
/// [`ThreadPoolBuilder`](crate::ThreadPoolBuilder).
///
/// Dropping it does not block: the workers run the jobs that were spawned, then end. To wait for
/// that, call [`shutdown`](Self::shutdown).
///
/// ```
/// let pool = drowse::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
/// let sum = pool.install(|| {
///     let (a, b) = drowse::join(|| 40, || 2);
///     a + b
/// });
/// assert_eq!(sum, 42);
/// ```
pub struct ThreadPool {
    registry: Arc<Registry>,
}

impl ThreadPool {
    pub(super) fn new(registry: Arc<Registry>) -> Self {
        Self { registry }
    }

    pub(super) fn registry(&self) -> Arc<Registry> {
        Arc::clone(&self.registry)
    }

    /// Runs a closure on a worker of this pool and returns its result.
    ///
    /// Calls in the closure, for instance of `join` and `scope`, use this pool.
    ///
    /// A thread that is not a worker blocks meanwhile. A worker of this pool simply calls the
    /// closure. A worker of *another* pool runs other jobs of its own pool until the closure is
    /// done: mind thread-locals and locks, as with [`join`](crate::join#blocking).
    ///
    /// # From pool to pool
    ///
    /// The jobs that a worker of another pool runs meanwhile are on the same stack, on top of the
    /// job that waits. If they install into this pool too, the calls nest. A worker with half of
    /// its stack in use leaves further jobs to spares. But if this pool's jobs install back into
    /// the other pool, a few thousand jobs use up the spares too, and all threads wait for ever. So
    /// enter this pool once, around all the work for it, rather than in each job; or use
    /// [`spawn`](Self::spawn), which does not wait.
    ///
    /// # Panics
    ///
    /// If the closure panics, with the same payload.
    ///
    /// # Example
    ///
    /// ```
    /// let pool = drowse::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    /// assert_eq!(pool.install(drowse::current_num_threads), 3);
    /// ```
    pub fn install<OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce() -> R + Send,
        R: Send,
    {
        self.registry.in_worker(|_| op())
    }

    /// Like [`install`](Self::install), but a worker of another pool blocks, and runs no other job
    /// meanwhile.
    ///
    /// So no other job runs on its thread, where it could meet what the caller has borrowed or
    /// locked.
    ///
    /// Meanwhile a spare thread works in the worker's place in its own pool, as during
    /// [`blocking`](crate::blocking()); so the closure may wait for that pool. Without spares
    /// ([`max_spare_threads`](crate::ThreadPoolBuilder::max_spare_threads)), that pool runs one
    /// worker less until the closure is done.
    ///
    /// # Panics
    ///
    /// If the closure panics, with the same payload.
    ///
    /// # Example
    ///
    /// ```
    /// use std::cell::RefCell;
    ///
    /// thread_local!(static NAMES: RefCell<Vec<String>> = RefCell::default());
    ///
    /// let (here, there) = (drowse::ThreadPoolBuilder::new(), drowse::ThreadPoolBuilder::new());
    /// let here = here.num_threads(1).build().unwrap();
    /// let there = there.num_threads(1).build().unwrap();
    /// here.install(|| {
    ///     NAMES.with_borrow_mut(|names| {
    /// // No other job of `here` runs on this thread and finds `NAMES` borrowed.
    ///         names.push(there.install_blocking(|| "dozer".to_owned()));
    ///     });
    ///     assert_eq!(NAMES.take(), ["dozer"]);
    /// });
    /// ```
    pub fn install_blocking<OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce() -> R + Send,
        R: Send,
    {
        self.registry.in_worker_blocking(|_| op())
    }

    /// Runs a closure once on each worker of this pool. See [`broadcast`](crate::broadcast()).
    ///
    /// ```
    /// let pool = drowse::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// assert_eq!(pool.broadcast(|context| context.index()), [0, 1]);
    /// ```
    pub fn broadcast<OP, R>(&self, op: OP) -> Vec<R>
    where
        OP: Fn(BroadcastContext<'_>) -> R + Sync,
        R: Send,
    {
        broadcast_in(op, &self.registry)
    }

    /// Returns the number of workers of this pool.
    ///
    /// ```
    /// let pool = drowse::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// assert_eq!(pool.current_num_threads(), 2);
    /// ```
    #[inline]
    pub fn current_num_threads(&self) -> usize {
        self.registry.num_threads()
    }

    /// Returns the calling worker's index, from 0; `None` on a thread that is no worker of *this*
    /// pool.
    ///
    /// ```
    /// let pool = drowse::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    /// assert_eq!(pool.current_thread_index(), None);
    /// assert_eq!(pool.install(|| pool.current_thread_index()), Some(0));
    /// ```
    #[inline]
    pub fn current_thread_index(&self) -> Option<usize> {
        self.registry.with_worker(|worker| worker.and_then(WorkerThread::place))
    }

    /// Returns `true` if the calling worker's own queue holds jobs.
    ///
    /// `None` on a thread that is not a worker of *this* pool. See
    /// [`current_thread_has_pending_tasks`](crate::current_thread_has_pending_tasks).
    ///
    /// ```
    /// let pool = drowse::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    /// assert_eq!(pool.current_thread_has_pending_tasks(), None);
    /// assert_eq!(pool.install(|| pool.current_thread_has_pending_tasks()), Some(false));
    /// ```
    #[inline]
    pub fn current_thread_has_pending_tasks(&self) -> Option<bool> {
        self.registry.with_worker(|worker| worker.map(|worker| !worker.deque_is_empty()))
    }

    /// Runs two closures in this pool, possibly in parallel. See [`join`](crate::join).
    ///
    /// ```
    /// let pool = drowse::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// assert_eq!(pool.join(|| 1, || 2), (1, 2));
    /// ```
    pub fn join<A, B, RA, RB>(&self, oper_a: A, oper_b: B) -> (RA, RB)
    where
        A: FnOnce() -> RA + Send,
        B: FnOnce() -> RB + Send,
        RA: Send,
        RB: Send,
    {
        self.install(|| crate::join(oper_a, oper_b))
    }

    /// Opens a scope in this pool. See [`scope()`](crate::scope()).
    ///
    /// ```
    /// let pool = drowse::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// let mut x = 0;
    /// pool.scope(|s| s.spawn(|_| x = 1));
    /// assert_eq!(x, 1);
    /// ```
    pub fn scope<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&Scope<'scope>) -> R + Send,
        R: Send,
    {
        self.install(|| crate::scope(op))
    }

    /// Opens a scope in this pool, with jobs in order of spawning. See
    /// [`scope_fifo`](crate::scope_fifo).
    ///
    /// ```
    /// let pool = drowse::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// let mut x = 0;
    /// pool.scope_fifo(|s| s.spawn_fifo(|_| x = 1));
    /// assert_eq!(x, 1);
    /// ```
    pub fn scope_fifo<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&ScopeFifo<'scope>) -> R + Send,
        R: Send,
    {
        self.install(|| crate::scope_fifo(op))
    }

    /// Opens a scope here, whose jobs run in this pool. See
    /// [`in_place_scope`](crate::in_place_scope).
    ///
    /// ```
    /// let pool = drowse::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// let mut x = 0;
    /// pool.in_place_scope(|s| s.spawn(|_| x = 1));
    /// assert_eq!(x, 1);
    /// ```
    pub fn in_place_scope<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&Scope<'scope>) -> R,
    {
        in_place_scope_in(&self.registry, op)
    }

    /// Opens a scope here, whose jobs run in this pool, in order of spawning.
    ///
    /// See [`in_place_scope_fifo`](crate::in_place_scope_fifo).
    ///
    /// ```
    /// let pool = drowse::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// let mut x = 0;
    /// pool.in_place_scope_fifo(|s| s.spawn_fifo(|_| x = 1));
    /// assert_eq!(x, 1);
    /// ```
    pub fn in_place_scope_fifo<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&ScopeFifo<'scope>) -> R,
    {
        in_place_scope_fifo_in(&self.registry, op)
    }

    /// Runs a closure later, in this pool. See [`spawn`](crate::spawn()).
    ///
    /// ```
    /// let pool = drowse::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// pool.spawn(move || sender.send(42).unwrap());
    /// assert_eq!(receiver.recv(), Ok(42));
    /// ```
    pub fn spawn<OP>(&self, op: OP)
    where
        OP: FnOnce() + Send + 'static,
    {
        spawn_in(op, &self.registry);
    }

    /// Runs closures later, in this pool. See [`spawn_all`](crate::spawn_all()).
    ///
    /// ```
    /// let pool = drowse::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// pool.spawn_all((0..3).map(|i| {
    ///     let sender = sender.clone();
    ///     move || sender.send(i).unwrap()
    /// }));
    /// drop(sender);
    /// assert_eq!(receiver.iter().sum::<i32>(), 0 + 1 + 2);
    /// ```
    pub fn spawn_all<I>(&self, jobs: I)
    where
        I: IntoIterator<Item: FnOnce() + Send + 'static>,
    {
        spawn_all_in(jobs, &self.registry);
    }

    /// Runs a closure later, in this pool, unless too many are waiting or running already.
    ///
    /// The pool counts the closures spawned this way, by any thread. See
    /// [`try_spawn`](crate::try_spawn()).
    ///
    /// # Errors
    ///
    /// If `limit` closures are waiting or running already: a [`TrySpawnError`] with the closure.
    ///
    /// ```
    /// let pool = drowse::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    /// let (sender, receiver) = std::sync::mpsc::channel::<()>();
    /// pool.try_spawn(1, move || _ = receiver.recv()).unwrap();
    /// assert!(pool.try_spawn(1, || ()).is_err()); // the first one still runs
    /// assert!(pool.try_spawn(2, || ()).is_ok());
    /// drop(sender);
    /// ```
    pub fn try_spawn<OP>(&self, limit: usize, op: OP) -> Result<(), TrySpawnError<OP>>
    where
        OP: FnOnce() + Send + 'static,
    {
        try_spawn_in(limit, op, &self.registry)
    }

    /// Runs a closure later, in this pool, in order of spawning. See
    /// [`spawn_fifo`](crate::spawn_fifo).
    ///
    /// ```
    /// let pool = drowse::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// pool.spawn_fifo(move || sender.send(42).unwrap());
    /// assert_eq!(receiver.recv(), Ok(42));
    /// ```
    pub fn spawn_fifo<OP>(&self, op: OP)
    where
        OP: FnOnce() + Send + 'static,
    {
        spawn_fifo_in(op, &self.registry);
    }

    /// Runs a closure later on each worker of this pool. See
    /// [`spawn_broadcast`](crate::spawn_broadcast).
    ///
    /// ```
    /// let pool = drowse::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// pool.spawn_broadcast(move |context| sender.send(context.index()).unwrap());
    /// assert_eq!(receiver.iter().sum::<usize>(), 0 + 1);
    /// ```
    pub fn spawn_broadcast<OP>(&self, op: OP)
    where
        OP: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
    {
        spawn_broadcast_in(op, &self.registry);
    }

    /// Returns what the workers have done so far: searches, steals, sleeps, wake-ups by reason.
    ///
    /// Prints as a table.
    ///
    /// ```
    /// let pool = drowse::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// let before = pool.metrics();
    /// pool.install(|| drowse::join(|| 1, || 2));
    /// let work = pool.metrics().since(&before);
    /// assert_eq!(work.total().injected, 1);
    /// println!("{work}");
    /// ```
    pub fn metrics(&self) -> Metrics {
        self.registry.metrics()
    }

    /// Runs one job of this pool, if there is one. See [`yield_now`](crate::yield_now).
    ///
    /// Returns `None` on a thread that is not a worker of *this* pool.
    ///
    /// ```
    /// let pool = drowse::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    /// assert_eq!(pool.yield_now(), None);
    /// assert_eq!(pool.install(|| pool.yield_now()), Some(drowse::Yield::Idle));
    /// ```
    pub fn yield_now(&self) -> Option<Yield> {
        self.registry.with_worker(|worker| worker.map(|worker| Yield::from_run(worker.run_one())))
    }

    /// Runs one job of the calling worker's own queue. See [`yield_local`](crate::yield_local).
    ///
    /// Returns `None` on a thread that is not a worker of *this* pool.
    ///
    /// ```
    /// let pool = drowse::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    /// assert_eq!(pool.yield_local(), None);
    /// assert_eq!(pool.install(|| pool.yield_local()), Some(drowse::Yield::Idle));
    /// ```
    pub fn yield_local(&self) -> Option<Yield> {
        self.registry
            .with_worker(|worker| worker.map(|worker| Yield::from_run(worker.run_one_local())))
    }
}

/// A panic in a job leaves the pool as it was.
impl UnwindSafe for ThreadPool {}
impl RefUnwindSafe for ThreadPool {}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        // A forked child has no workers to release, and locks may be locked for ever.
        if !self.registry.is_left_behind() {
            self.registry.recruiter.forget();
            self.registry.release();
        }
    }
}

impl fmt::Debug for ThreadPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadPool")
            .field("num_threads", &self.current_num_threads())
            .field("protocol", &self.registry.sleep.protocol())
            .field("sleeping", &self.registry.sleep.sleeping())
            .field("id", &self.registry.id())
            .finish()
    }
}
