//! Who starts the threads.

use crate::engine::{ThreadBuilderParts, run_worker};
use drowse_sync::thread;
use std::fmt;
use std::io;

/// A worker that has no thread yet: what a [spawn handler](crate::ThreadPoolBuilder::spawn_handler)
/// gets.
///
/// The handler starts a thread in any way it likes, and that thread calls [`run`](Self::run).
pub struct ThreadBuilder {
    name: Option<String>,
    stack_size: Option<usize>,
    parts: ThreadBuilderParts,
}

impl ThreadBuilder {
    pub(super) fn new(name: Option<String>, stack_size: Option<usize>, parts: ThreadBuilderParts) -> Self {
        Self { name, stack_size, parts }
    }

    /// The index of the worker, from 0.
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

    /// The name that [`ThreadPoolBuilder::thread_name`](crate::ThreadPoolBuilder::thread_name)
    /// asked for.
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
        self.name.as_deref()
    }

    /// The size that [`ThreadPoolBuilder::stack_size`](crate::ThreadPoolBuilder::stack_size) asked
    /// for.
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
        self.stack_size
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
        run_worker(self.parts);
    }
}

impl fmt::Debug for ThreadBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadBuilder")
            .field("index", &self.index())
            .field("name", &self.name)
            .field("stack_size", &self.stack_size)
            .finish_non_exhaustive()
    }
}

/// Starts a pool's threads. Sealed: implemented by [`DefaultSpawn`] and [`CustomSpawn`].
pub trait ThreadSpawn: sealed::Sealed {
    /// Starts one.
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
    fn spawn(&mut self, thread: ThreadBuilder) -> io::Result<()> {
        start_thread(thread).map(drop)
    }
}

/// Starts a thread with that name and stack, which becomes the worker.
pub(super) fn start_thread(worker: ThreadBuilder) -> io::Result<thread::JoinHandle<()>> {
    let mut builder = thread::Builder::new();
    if let Some(name) = worker.name() {
        builder = builder.name(name.to_owned());
    }
    if let Some(stack_size) = worker.stack_size() {
        builder = builder.stack_size(stack_size);
    }
    builder.spawn(|| worker.run())
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
    fn spawn(&mut self, thread: ThreadBuilder) -> io::Result<()> {
        (self.0)(thread)
    }
}
