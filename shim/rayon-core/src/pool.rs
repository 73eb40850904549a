//! The pool, with the one method that is only for compatibility.

use crate::{BroadcastContext, Scope, ScopeFifo, Yield};
use std::error::Error;

/// A [`drowse::ThreadPool`] under rayon-core's name. Its methods are documented there.
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
    /// As [`ThreadPoolBuilder::build`](crate::ThreadPoolBuilder::build).
    #[deprecated(note = "use `ThreadPoolBuilder::build`")]
    #[allow(deprecated)]
    pub fn new(configuration: crate::Configuration) -> Result<Self, Box<dyn Error>> {
        configuration.build()
    }

    /// The pool whose inside this is.
    pub(crate) fn from_ref(pool: &drowse::ThreadPool) -> &Self {
        // SAFETY: transparent, so that the one is laid out as the other; the borrow is the same.
        unsafe { &*std::ptr::from_ref(pool).cast() }
    }

    /// See [`drowse::ThreadPool::install`].
    pub fn install<OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce() -> R + Send,
        R: Send,
    {
        self.0.install(op)
    }

    /// See [`drowse::ThreadPool::broadcast`].
    pub fn broadcast<OP, R>(&self, op: OP) -> Vec<R>
    where
        OP: Fn(BroadcastContext<'_>) -> R + Sync,
        R: Send,
    {
        self.0.broadcast(op)
    }

    /// See [`drowse::ThreadPool::current_num_threads`].
    pub fn current_num_threads(&self) -> usize {
        self.0.current_num_threads()
    }

    /// See [`drowse::ThreadPool::current_thread_index`].
    pub fn current_thread_index(&self) -> Option<usize> {
        self.0.current_thread_index()
    }

    /// See [`drowse::ThreadPool::current_thread_has_pending_tasks`].
    pub fn current_thread_has_pending_tasks(&self) -> Option<bool> {
        self.0.current_thread_has_pending_tasks()
    }

    /// See [`drowse::ThreadPool::join`].
    pub fn join<A, B, RA, RB>(&self, oper_a: A, oper_b: B) -> (RA, RB)
    where
        A: FnOnce() -> RA + Send,
        B: FnOnce() -> RB + Send,
        RA: Send,
        RB: Send,
    {
        self.0.join(oper_a, oper_b)
    }

    /// See [`drowse::ThreadPool::scope`].
    pub fn scope<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&Scope<'scope>) -> R + Send,
        R: Send,
    {
        self.0.scope(op)
    }

    /// See [`drowse::ThreadPool::scope_fifo`].
    pub fn scope_fifo<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&ScopeFifo<'scope>) -> R + Send,
        R: Send,
    {
        self.0.scope_fifo(op)
    }

    /// See [`drowse::ThreadPool::in_place_scope`].
    pub fn in_place_scope<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&Scope<'scope>) -> R,
    {
        self.0.in_place_scope(op)
    }

    /// See [`drowse::ThreadPool::in_place_scope_fifo`].
    pub fn in_place_scope_fifo<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&ScopeFifo<'scope>) -> R,
    {
        self.0.in_place_scope_fifo(op)
    }

    /// See [`drowse::ThreadPool::spawn`].
    pub fn spawn<OP>(&self, op: OP)
    where
        OP: FnOnce() + Send + 'static,
    {
        self.0.spawn(op);
    }

    /// See [`drowse::ThreadPool::spawn_fifo`].
    pub fn spawn_fifo<OP>(&self, op: OP)
    where
        OP: FnOnce() + Send + 'static,
    {
        self.0.spawn_fifo(op);
    }

    /// See [`drowse::ThreadPool::spawn_broadcast`].
    pub fn spawn_broadcast<OP>(&self, op: OP)
    where
        OP: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
    {
        self.0.spawn_broadcast(op);
    }

    /// See [`drowse::ThreadPool::yield_now`].
    pub fn yield_now(&self) -> Option<Yield> {
        self.0.yield_now()
    }

    /// See [`drowse::ThreadPool::yield_local`].
    pub fn yield_local(&self) -> Option<Yield> {
        self.0.yield_local()
    }
}

/// For what rayon-core has no word for, metrics for one.
impl AsRef<drowse::ThreadPool> for ThreadPool {
    fn as_ref(&self) -> &drowse::ThreadPool {
        &self.0
    }
}

/// A pool that was built with what only drowse has, as rayon's.
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
