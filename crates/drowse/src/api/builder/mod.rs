//! The builder of pools.

mod blocking;
mod choices;
mod context;
#[cfg(feature = "diagnose")]
mod diagnose;
mod log;
mod registry;
mod sleep;
mod threads;

pub use threads::Start;

use self::choices::Choices;
use super::error::ThreadPoolBuildError;
use super::global::set_global_registry;
use super::pool::ThreadPool;
use super::spawner::{CustomSpawn, DefaultSpawn, ThreadBuilder, ThreadSpawn};
use crate::unwind;
use std::any::Any;
use std::fmt;
use std::io;
use std::thread;

/// Configures a pool, then builds it.
///
/// ```
/// let pool = drowse::ThreadPoolBuilder::new()
///     .num_threads(4)
///     .thread_name(|index| format!("dozer-{index}"))
///     .build()
///     .unwrap();
/// let name = pool.install(|| std::thread::current().name().map(str::to_owned));
/// assert!(name.unwrap().starts_with("dozer-"));
/// ```
pub struct ThreadPoolBuilder<S = DefaultSpawn> {
    chosen: Choices,
    spawner: S,
}

impl ThreadPoolBuilder {
    /// Returns a builder with default choices.
    ///
    /// ```
    /// let pool = drowse::ThreadPoolBuilder::new().build().unwrap();
    /// assert!(pool.current_num_threads() >= 1);
    /// ```
    pub fn new() -> Self {
        Self { chosen: Choices::default(), spawner: DefaultSpawn }
    }

    /// Builds a pool whose threads may borrow from the caller, for the duration of `with_pool`.
    ///
    /// Calls `with_pool` with the pool, and returns when all of the pool's threads have ended. Each
    /// new thread calls `wrapper`, which should call [`ThreadBuilder::run`], and may do anything
    /// before and after.
    ///
    /// # Errors
    ///
    /// If a thread cannot be started.
    ///
    /// # Example
    ///
    /// ```
    /// use std::sync::Mutex;
    ///
    /// let log = Mutex::new(Vec::new()); // not 'static
    /// let answer = drowse::ThreadPoolBuilder::new()
    ///     .num_threads(2)
    ///     .build_scoped(
    ///         |worker| {
    ///             let index = worker.index();
    ///             worker.run();
    ///             log.lock().unwrap().push(index);
    ///         },
    ///         |pool| pool.install(|| 42),
    ///     )
    ///     .unwrap();
    /// assert_eq!((answer, log.into_inner().unwrap().len()), (42, 2));
    /// ```
    pub fn build_scoped<W, F, R>(self, wrapper: W, with_pool: F) -> Result<R, ThreadPoolBuildError>
    where
        W: Fn(ThreadBuilder) + Sync,
        F: FnOnce(&ThreadPool) -> R,
    {
        thread::scope(|threads| {
            let wrapper = &wrapper;
            let pool = self
                .spawn_handler(|worker| {
                    let mut builder = thread::Builder::new();
                    if let Some(name) = worker.name() {
                        builder = builder.name(name.to_owned());
                    }
                    if let Some(stack_size) = worker.stack_size() {
                        builder = builder.stack_size(stack_size);
                    }
                    builder.spawn_scoped(threads, || wrapper(worker)).map(drop)
                })
                .build()?;
            // Dropped before `thread::scope` waits for the threads, also if `with_pool` panics.
            let result = unwind::halt_unwinding(|| with_pool(&pool));
            drop(pool);
            Ok(result.unwrap_or_else(|payload| unwind::resume_unwinding(payload)))
        })
    }
}

impl<S: ThreadSpawn> ThreadPoolBuilder<S> {
    /// Builds a pool.
    ///
    /// # Errors
    ///
    /// If a thread cannot be started, or has a name with a NUL; if more than
    /// [`max_num_threads`](crate::max_num_threads) are asked for; if
    /// [`use_current_thread`](Self::use_current_thread) was chosen on a thread that is a worker
    /// already; or if the [trace](Self::trace) belongs to another pool.
    ///
    /// ```
    /// let pool = drowse::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// assert_eq!(pool.install(|| 6 * 7), 42);
    /// ```
    pub fn build(self) -> Result<ThreadPool, ThreadPoolBuildError> {
        self.build_registry().map(ThreadPool::new)
    }

    /// Builds the global pool.
    ///
    /// Succeeds only if there is no global pool: it must come before the pool's first use. A
    /// program may call it early in `main`; a library should not.
    ///
    /// # Errors
    ///
    /// If there is a global pool already; or for the reasons of [`build`](Self::build), after which
    /// another call may succeed.
    ///
    /// ```
    /// drowse::ThreadPoolBuilder::new().num_threads(3).build_global().unwrap();
    /// assert_eq!(drowse::current_num_threads(), 3);
    /// ```
    pub fn build_global(self) -> Result<(), ThreadPoolBuildError> {
        set_global_registry(|| self.build_registry())
    }
}

impl<S> ThreadPoolBuilder<S> {
    /// Sets the number of threads.
    ///
    /// 0, the default, stands for the value of `DROWSE_NUM_THREADS`, else for as many as the
    /// process may run at once. With more than [`max_num_threads`](crate::max_num_threads),
    /// [`build`](Self::build) returns an error.
    ///
    /// ```
    /// let pool = drowse::ThreadPoolBuilder::new().num_threads(22).build().unwrap();
    /// assert_eq!(pool.current_num_threads(), 22);
    ///
    /// let error = drowse::ThreadPoolBuilder::new().num_threads(100_000).build().unwrap_err();
    /// assert!(error.to_string().contains("100000"));
    /// ```
    pub fn num_threads(mut self, num_threads: usize) -> Self {
        self.chosen.num_threads = num_threads;
        self
    }

    /// Sets how threads are named: `closure` gets the index of each, just before the thread is
    /// started.
    ///
    /// If threads are started [on demand](Self::start), all are named when the pool is built.
    /// Without this, the threads that drowse starts are named `drowse-0`, `drowse-1` and so on. (In
    /// the drop-in for rayon-core, and with the feature `rayon-names`, they have no names then.)
    ///
    /// If a name contains a NUL, [`build`](Self::build) returns an error. If the closure panics, so
    /// does `build`, after it has waited, for a second at most, for the threads started before to
    /// end.
    ///
    /// ```
    /// let builder = drowse::ThreadPoolBuilder::new().num_threads(1);
    /// let pool = builder.thread_name(|i| format!("dozer {i}")).build().unwrap();
    /// pool.install(|| assert_eq!(std::thread::current().name(), Some("dozer 0")));
    /// ```
    pub fn thread_name<F>(mut self, closure: F) -> Self
    where
        F: FnMut(usize) -> String + 'static,
    {
        self.chosen.thread_name = Some(Box::new(closure));
        self
    }

    /// Sets the size of the threads' stacks, in bytes.
    ///
    /// ```
    /// let builder = drowse::ThreadPoolBuilder::new().num_threads(1).stack_size(16 << 20);
    /// let pool = builder.build().unwrap();
    /// pool.install(|| {
    ///     let big = std::hint::black_box([1_u8; 3 << 20]);
    ///     assert_eq!(big[1 << 20], 1);
    /// });
    /// ```
    pub fn stack_size(mut self, stack_size: usize) -> Self {
        self.chosen.stack_size = Some(stack_size);
        self
    }

    /// Makes the calling thread worker 0 of the pool, so the pool starts one thread less.
    ///
    /// The thread runs jobs only while it waits in drowse: in `join`, `scope`,
    /// [`yield_now`](crate::yield_now) and so on. It stays a worker of this pool for the rest of
    /// its life, and its share of the pool is never freed. Once the pool is dropped, its other
    /// workers end: a job spawned after that runs when this thread next waits in drowse, and a
    /// `broadcast` waits for ever.
    ///
    /// ```
    /// let builder = drowse::ThreadPoolBuilder::new().num_threads(2).use_current_thread();
    /// let pool = builder.build().unwrap();
    /// assert_eq!(pool.current_thread_index(), Some(0));
    /// assert_eq!(drowse::join(|| 1, || 2), (1, 2)); // in this pool
    /// ```
    pub fn use_current_thread(mut self) -> Self {
        self.chosen.use_current_thread = true;
        self
    }

    /// Sets what is called with the payload of a panic that no caller waits for.
    ///
    /// That is a panic of a [`spawn`](crate::spawn())ed job or of another handler. Without a panic
    /// handler, such a panic aborts the process; so does a panic of this handler.
    ///
    /// ```
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// let sender = std::sync::Mutex::new(sender);
    /// let pool = drowse::ThreadPoolBuilder::new()
    ///     .num_threads(1)
    ///     .panic_handler(move |payload| {
    ///         let message = payload.downcast_ref::<&str>().copied().unwrap_or("?");
    ///         sender.lock().unwrap().send(message.to_owned()).unwrap();
    ///     })
    ///     .build()
    ///     .unwrap();
    /// pool.spawn(|| panic!("bad dream"));
    /// assert_eq!(receiver.recv().unwrap(), "bad dream");
    /// ```
    pub fn panic_handler<H>(mut self, panic_handler: H) -> Self
    where
        H: Fn(Box<dyn Any + Send>) + Send + Sync + 'static,
    {
        self.chosen.handlers.panic = Some(Box::new(panic_handler));
        self
    }

    /// Sets what each thread calls as it starts, with its index.
    ///
    /// Its panic goes to the [panic handler](Self::panic_handler). Not called by a thread that was
    /// [taken over](Self::use_current_thread).
    ///
    /// ```
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// let sender = std::sync::Mutex::new(sender);
    /// let pool = drowse::ThreadPoolBuilder::new()
    ///     .num_threads(1)
    ///     .start_handler(move |index| sender.lock().unwrap().send(index).unwrap())
    ///     .build()
    ///     .unwrap();
    /// assert_eq!(receiver.recv(), Ok(0));
    /// # drop(pool);
    /// ```
    pub fn start_handler<H>(mut self, start_handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        self.chosen.handlers.start = Some(Box::new(start_handler));
        self
    }

    /// Sets what each thread calls as it ends, with its index.
    ///
    /// Jobs that it spawns are run; but other workers may have ended before, so a `broadcast` would
    /// wait for ever. Its panic goes to the [panic handler](Self::panic_handler). Not called by a
    /// thread that was [taken over](Self::use_current_thread).
    ///
    /// ```
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// let sender = std::sync::Mutex::new(sender);
    /// let pool = drowse::ThreadPoolBuilder::new()
    ///     .num_threads(1)
    ///     .exit_handler(move |index| sender.lock().unwrap().send(index).unwrap())
    ///     .build()
    ///     .unwrap();
    /// drop(pool);
    /// assert_eq!(receiver.recv(), Ok(0));
    /// ```
    pub fn exit_handler<H>(mut self, exit_handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        self.chosen.handlers.exit = Some(Box::new(exit_handler));
        self
    }

    /// Lets workers run the oldest of their own jobs first, where they are free to choose:
    /// rayon-core's deprecated `breadth_first`.
    #[doc(hidden)]
    pub fn oldest_first(mut self) -> Self {
        self.chosen.oldest_first = true;
        self
    }

    /// Sets how threads are started.
    ///
    /// `spawn` is called with a [`ThreadBuilder`] for each thread, and starts a thread that calls
    /// [`ThreadBuilder::run`].
    ///
    /// ```
    /// let pool = drowse::ThreadPoolBuilder::new()
    ///     .num_threads(2)
    ///     .spawn_handler(|worker| {
    ///         let thread = std::thread::Builder::new().name("mine".into());
    ///         thread.spawn(|| worker.run()).map(drop)
    ///     })
    ///     .build()
    ///     .unwrap();
    /// pool.install(|| assert_eq!(std::thread::current().name(), Some("mine")));
    /// ```
    pub fn spawn_handler<F>(self, spawn: F) -> ThreadPoolBuilder<CustomSpawn<F>>
    where
        F: FnMut(ThreadBuilder) -> io::Result<()>,
    {
        ThreadPoolBuilder { chosen: self.chosen, spawner: CustomSpawn(spawn) }
    }
}

impl Default for ThreadPoolBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl<S> fmt::Debug for ThreadPoolBuilder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadPoolBuilder")
            .field("num_threads", &self.chosen.num_threads)
            .field("use_current_thread", &self.chosen.use_current_thread)
            .field("thread_name", &self.chosen.thread_name.is_some())
            .field("stack_size", &self.chosen.stack_size)
            .field("allow_fewer_threads", &self.chosen.allow_fewer_threads)
            .field("coming", &self.chosen.coming)
            .field("sleep_protocol", &self.chosen.sleep_protocol)
            .field("sleep_policy", &self.chosen.sleep_policy)
            .field("steering", &self.chosen.steering)
            .field("guests", &self.chosen.guests)
            .field("waiting", &self.chosen.waiting)
            .field("max_spare_threads", &self.chosen.max_spare_threads)
            .field("panic_handler", &self.chosen.handlers.panic.is_some())
            .field("start_handler", &self.chosen.handlers.start.is_some())
            .field("exit_handler", &self.chosen.handlers.exit.is_some())
            .field("acquire_thread_handler", &self.chosen.handlers.acquire_thread.is_some())
            .field("context", &self.chosen.handlers.context.is_some())
            .field("release_thread_handler", &self.chosen.handlers.release_thread.is_some())
            .field("diagnose", &self.chosen.diagnose)
            .finish_non_exhaustive()
    }
}
