//! `ThreadPool`, with a method that exists only for compatibility.

use crate::{BroadcastContext, Scope, ScopeFifo, Yield};
use std::error::Error;

/// Pool of worker threads: [`drowse::ThreadPool`] under rayon-core's name.
///
/// The methods are documented there.
///
/// ```
/// let pool = rayon_core::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
/// assert_eq!(pool.current_num_threads(), 3);
/// ```
#[derive(Debug)]
#[repr(transparent)]
pub struct ThreadPool(drowse::ThreadPool);

impl ThreadPool {
    /// Builds a pool as configured.
    ///
    /// # Errors
    ///
    /// See [`ThreadPoolBuilder::build`](crate::ThreadPoolBuilder::build).
    #[deprecated(note = "use `ThreadPoolBuilder::build`")]
    #[allow(deprecated)]
    pub fn new(configuration: crate::Configuration) -> Result<Self, Box<dyn Error>> {
        configuration.build()
    }

    /// Returns the shim's view of a pool.
    pub(crate) fn from_ref(pool: &drowse::ThreadPool) -> &Self {
        // SAFETY: `ThreadPool` is `repr(transparent)`, so both have one layout; the borrow does not
        // change.
        unsafe { &*std::ptr::from_ref(pool).cast() }
    }

    /// Runs a closure in this pool. See [`drowse::ThreadPool::install`].
    pub fn install<OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce() -> R + Send,
        R: Send,
    {
        self.0.install(op)
    }

    /// Runs a closure once on each worker. See [`drowse::ThreadPool::broadcast`].
    pub fn broadcast<OP, R>(&self, op: OP) -> Vec<R>
    where
        OP: Fn(BroadcastContext<'_>) -> R + Sync,
        R: Send,
    {
        self.0.broadcast(op)
    }

    /// Returns the number of workers. See [`drowse::ThreadPool::current_num_threads`].
    pub fn current_num_threads(&self) -> usize {
        self.0.current_num_threads()
    }

    /// Returns the calling worker's index. See [`drowse::ThreadPool::current_thread_index`].
    pub fn current_thread_index(&self) -> Option<usize> {
        self.0.current_thread_index()
    }

    /// Returns `true` if the calling worker's queue holds jobs. See
    /// [`drowse::ThreadPool::current_thread_has_pending_tasks`].
    pub fn current_thread_has_pending_tasks(&self) -> Option<bool> {
        self.0.current_thread_has_pending_tasks()
    }

    /// Runs two closures, possibly in parallel. See [`drowse::ThreadPool::join`].
    pub fn join<A, B, RA, RB>(&self, oper_a: A, oper_b: B) -> (RA, RB)
    where
        A: FnOnce() -> RA + Send,
        B: FnOnce() -> RB + Send,
        RA: Send,
        RB: Send,
    {
        self.0.join(oper_a, oper_b)
    }

    /// Opens a scope in this pool. See [`drowse::ThreadPool::scope`].
    pub fn scope<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&Scope<'scope>) -> R + Send,
        R: Send,
    {
        self.0.scope(op)
    }

    /// Opens a scope with jobs in order of spawning. See [`drowse::ThreadPool::scope_fifo`].
    pub fn scope_fifo<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&ScopeFifo<'scope>) -> R + Send,
        R: Send,
    {
        self.0.scope_fifo(op)
    }

    /// Opens a scope on the calling thread. See [`drowse::ThreadPool::in_place_scope`].
    pub fn in_place_scope<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&Scope<'scope>) -> R,
    {
        self.0.in_place_scope(op)
    }

    /// Opens a scope here, jobs in order. See [`drowse::ThreadPool::in_place_scope_fifo`].
    pub fn in_place_scope_fifo<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&ScopeFifo<'scope>) -> R,
    {
        self.0.in_place_scope_fifo(op)
    }

    /// Runs a closure later. See [`drowse::ThreadPool::spawn`].
    pub fn spawn<OP>(&self, op: OP)
    where
        OP: FnOnce() + Send + 'static,
    {
        self.0.spawn(op);
    }

    /// Runs a closure later, in order of spawning. See [`drowse::ThreadPool::spawn_fifo`].
    pub fn spawn_fifo<OP>(&self, op: OP)
    where
        OP: FnOnce() + Send + 'static,
    {
        self.0.spawn_fifo(op);
    }

    /// Runs a closure later on each worker. See [`drowse::ThreadPool::spawn_broadcast`].
    pub fn spawn_broadcast<OP>(&self, op: OP)
    where
        OP: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
    {
        self.0.spawn_broadcast(op);
    }

    /// Runs one job of the pool, if there is one. See [`drowse::ThreadPool::yield_now`].
    pub fn yield_now(&self) -> Option<Yield> {
        self.0.yield_now()
    }

    /// Runs one job of the worker's own queue. See [`drowse::ThreadPool::yield_local`].
    pub fn yield_local(&self) -> Option<Yield> {
        self.0.yield_local()
    }
}

/// Gives access to what rayon-core does not have, for example metrics.
impl AsRef<drowse::ThreadPool> for ThreadPool {
    fn as_ref(&self) -> &drowse::ThreadPool {
        &self.0
    }
}

/// Wraps a pool that was built with drowse's own builder.
///
/// ```
/// use rayon_core::drowse::{SleepProtocol, ThreadPoolBuilder};
///
/// let pool = ThreadPoolBuilder::new().sleep_protocol(SleepProtocol::Sleepy).build().unwrap();
/// let pool: rayon_core::ThreadPool = pool.into();
/// assert_eq!(pool.install(|| 6 * 7), 42);
/// ```
impl From<drowse::ThreadPool> for ThreadPool {
    fn from(pool: drowse::ThreadPool) -> Self {
        Self(pool)
    }
}
