//! Starting the threads of a pool.

use crate::engine::ThreadBuilderParts;
use std::cell::Cell;
use std::fmt;
use std::io;
use std::marker::PhantomData;

/// Worker that has no thread yet. A [spawn handler](crate::ThreadPoolBuilder::spawn_handler) gets
/// one for each thread.
///
/// The handler starts a thread in any way it likes, and that thread calls [`run`](Self::run).
///
/// # Example
///
/// ```
/// use std::thread;
///
/// let pool = drowse::ThreadPoolBuilder::new().num_threads(2).spawn_handler(|worker| {
///     let name = format!("render-{}", worker.index());
///     thread::Builder::new().name(name).spawn(|| worker.run()).map(drop)
/// });
/// let pool = pool.build().unwrap();
/// let name = pool.install(|| thread::current().name().map(str::to_string));
/// assert!(name.unwrap().starts_with("render-"));
/// ```
pub struct ThreadBuilder {
    parts: ThreadBuilderParts,
    /// Not `Sync`, as rayon-core's.
    not_sync: PhantomData<Cell<()>>,
}

impl ThreadBuilder {
    pub(super) fn new(parts: ThreadBuilderParts) -> Self {
        Self { parts, not_sync: PhantomData }
    }

    /// Starts a thread with the pool's name and stack size for this worker.
    pub(super) fn start(self) -> io::Result<()> {
        self.parts.start()
    }

    /// Returns the index of the worker, from 0.
    ///
    /// ```
    /// use std::thread;
    ///
    /// let mut indices = Vec::new();
    /// let pool = drowse::ThreadPoolBuilder::new().num_threads(2).spawn_handler(|worker| {
    ///     indices.push(worker.index());
    ///     thread::Builder::new().spawn(|| worker.run()).map(drop)
    /// });
    /// pool.build().unwrap();
    /// assert_eq!(indices, [0, 1]);
    /// ```
    pub fn index(&self) -> usize {
        self.parts.index
    }

    /// Returns the name that [`thread_name`](crate::ThreadPoolBuilder::thread_name) asked for.
    ///
    /// ```
    /// let builder = drowse::ThreadPoolBuilder::new().num_threads(1);
    /// let builder = builder.thread_name(|i| format!("dozer {i}"));
    /// let pool = builder.spawn_handler(|worker| {
    ///     assert_eq!(worker.name(), Some("dozer 0"));
    ///     std::thread::Builder::new().spawn(|| worker.run()).map(drop)
    /// });
    /// pool.build().unwrap();
    /// ```
    pub fn name(&self) -> Option<&str> {
        self.parts.name()
    }

    /// Returns the stack size that [`stack_size`](crate::ThreadPoolBuilder::stack_size) asked for.
    ///
    /// ```
    /// let builder = drowse::ThreadPoolBuilder::new().num_threads(1).stack_size(1 << 20);
    /// let pool = builder.spawn_handler(|worker| {
    ///     assert_eq!(worker.stack_size(), Some(1 << 20));
    ///     std::thread::Builder::new().spawn(|| worker.run()).map(drop)
    /// });
    /// pool.build().unwrap();
    /// ```
    pub fn stack_size(&self) -> Option<usize> {
        self.parts.stack_size()
    }

    /// Makes the calling thread the worker, until the pool ends.
    ///
    /// ```
    /// let pool = drowse::ThreadPoolBuilder::new()
    ///     .num_threads(2)
    ///     .spawn_handler(|worker| std::thread::Builder::new().spawn(|| worker.run()).map(drop))
    ///     .build()
    ///     .unwrap();
    /// assert_eq!(pool.install(|| 6 * 7), 42);
    /// ```
    ///
    /// # Panics
    ///
    /// If the calling thread is a worker already.
    pub fn run(self) {
        self.parts.run();
    }
}

impl fmt::Debug for ThreadBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadBuilder")
            .field("index", &self.index())
            .field("name", &self.name())
            .field("stack_size", &self.stack_size())
            .finish_non_exhaustive()
    }
}

/// Starts a pool's threads. Sealed: implemented by [`DefaultSpawn`] and [`CustomSpawn`].
pub trait ThreadSpawn: sealed::Sealed {
    /// `true` if it starts threads as drowse does by default.
    #[doc(hidden)]
    fn is_ours(&self) -> bool;

    /// Starts one thread.
    #[doc(hidden)]
    fn spawn(&mut self, thread: ThreadBuilder) -> io::Result<()>;
}

mod sealed {
    #[allow(unreachable_pub)]
    pub trait Sealed {}
}

/// Starts threads with `std::thread`.
#[derive(Debug, Default)]
pub struct DefaultSpawn;

impl sealed::Sealed for DefaultSpawn {}

impl ThreadSpawn for DefaultSpawn {
    fn is_ours(&self) -> bool {
        true
    }

    fn spawn(&mut self, thread: ThreadBuilder) -> io::Result<()> {
        thread.start()
    }
}

/// Starts threads with the user's closure.
pub struct CustomSpawn<F>(pub(super) F);

impl<F> fmt::Debug for CustomSpawn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CustomSpawn")
    }
}

impl<F> sealed::Sealed for CustomSpawn<F> {}

impl<F: FnMut(ThreadBuilder) -> io::Result<()>> ThreadSpawn for CustomSpawn<F> {
    fn is_ours(&self) -> bool {
        false
    }

    fn spawn(&mut self, thread: ThreadBuilder) -> io::Result<()> {
        (self.0)(thread)
    }
}
