//! `ThreadPoolBuilder`, with a method that exists only for compatibility.

use crate::{ThreadBuilder, ThreadPool, ThreadPoolBuildError};
use drowse::spawner::{CustomSpawn, DefaultSpawn, ThreadSpawn};
use std::any::Any;
use std::fmt;
use std::io;

/// Builder of pools: [`drowse::ThreadPoolBuilder`] under rayon-core's name.
///
/// The methods are documented there.
///
/// ```
/// let pool = rayon_core::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
/// assert_eq!(pool.install(rayon_core::current_num_threads), 3);
/// ```
pub struct ThreadPoolBuilder<S = DefaultSpawn>(drowse::ThreadPoolBuilder<S>);

impl ThreadPoolBuilder {
    /// Returns a builder with default choices. See [`drowse::ThreadPoolBuilder::new`].
    pub fn new() -> Self {
        Self(drowse::ThreadPoolBuilder::new())
    }

    /// Builds a pool whose threads may borrow. See [`drowse::ThreadPoolBuilder::build_scoped`].
    ///
    /// # Errors
    ///
    /// If a thread cannot be started.
    pub fn build_scoped<W, F, R>(self, wrapper: W, with_pool: F) -> Result<R, ThreadPoolBuildError>
    where
        W: Fn(ThreadBuilder) + Sync,
        F: FnOnce(&ThreadPool) -> R,
    {
        self.0.build_scoped(wrapper, |pool| with_pool(ThreadPool::from_ref(pool)))
    }
}

#[allow(private_bounds)]
impl<S: ThreadSpawn> ThreadPoolBuilder<S> {
    /// Builds a pool. See [`drowse::ThreadPoolBuilder::build`].
    ///
    /// # Errors
    ///
    /// If a thread cannot be started.
    pub fn build(self) -> Result<ThreadPool, ThreadPoolBuildError> {
        self.0.build().map(ThreadPool::from)
    }

    /// Builds the global pool. See [`drowse::ThreadPoolBuilder::build_global`].
    ///
    /// # Errors
    ///
    /// If there is a global pool already, or a thread cannot be started.
    pub fn build_global(self) -> Result<(), ThreadPoolBuildError> {
        self.0.build_global()
    }
}

impl<S> ThreadPoolBuilder<S> {
    /// Sets the number of threads. See [`drowse::ThreadPoolBuilder::num_threads`].
    ///
    /// As in rayon-core, a number above [`max_num_threads`](crate::max_num_threads) is reduced to
    /// it.
    pub fn num_threads(self, num_threads: usize) -> Self {
        Self(self.0.num_threads(num_threads.min(drowse::max_num_threads())))
    }

    /// Makes the calling thread a worker. See [`drowse::ThreadPoolBuilder::use_current_thread`].
    pub fn use_current_thread(self) -> Self {
        Self(self.0.use_current_thread())
    }

    /// Sets how threads are named. See [`drowse::ThreadPoolBuilder::thread_name`].
    pub fn thread_name<F>(self, closure: F) -> Self
    where
        F: FnMut(usize) -> String + 'static,
    {
        Self(self.0.thread_name(closure))
    }

    /// Sets the size of the stacks. See [`drowse::ThreadPoolBuilder::stack_size`].
    pub fn stack_size(self, stack_size: usize) -> Self {
        Self(self.0.stack_size(stack_size))
    }

    /// Sets the panic handler. See [`drowse::ThreadPoolBuilder::panic_handler`].
    pub fn panic_handler<H>(self, panic_handler: H) -> Self
    where
        H: Fn(Box<dyn Any + Send>) + Send + Sync + 'static,
    {
        Self(self.0.panic_handler(panic_handler))
    }

    /// Sets the start handler. See [`drowse::ThreadPoolBuilder::start_handler`].
    pub fn start_handler<H>(self, start_handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        Self(self.0.start_handler(start_handler))
    }

    /// Sets the exit handler. See [`drowse::ThreadPoolBuilder::exit_handler`].
    pub fn exit_handler<H>(self, exit_handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        Self(self.0.exit_handler(exit_handler))
    }

    /// Lets workers run the oldest of the jobs that they have spawned first, instead of the newest.
    #[deprecated(note = "use `scope_fifo` and `spawn_fifo` for similar effect")]
    pub fn breadth_first(self) -> Self {
        Self(self.0.oldest_first())
    }

    /// Sets how threads are started. See [`drowse::ThreadPoolBuilder::spawn_handler`].
    pub fn spawn_handler<F>(self, spawn: F) -> ThreadPoolBuilder<CustomSpawn<F>>
    where
        F: FnMut(ThreadBuilder) -> io::Result<()>,
    {
        ThreadPoolBuilder(self.0.spawn_handler(spawn))
    }
}

/// Implemented by hand: a derived one would require `S: Debug`.
impl<S> fmt::Debug for ThreadPoolBuilder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Default for ThreadPoolBuilder {
    fn default() -> Self {
        Self::new()
    }
}
