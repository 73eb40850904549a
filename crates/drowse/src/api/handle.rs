//! Spawned closures with a handle: a thread can join it, a future can await it.

use super::block_on::note_awaited;
use super::global::current_registry;
use super::home::{Order, spawn_task};
use super::{JoinError, ThreadPool};
use crate::diagnose::WaitFor;
use crate::engine::{Point, Registry, WorkerThread};
use crate::latch::CountLatch;
use crate::task::{Closure, Handle, Waiter};
use crate::unwind;
use drowse_sync::Arc;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Runs a closure later, in the current pool, and returns a handle for its result.
///
/// The closure is queued like that of [`spawn`](crate::spawn()). A thread can
/// [join](JoinHandle::join) the handle, and an async function can await it, on any executor.
///
/// A panic of the closure is kept in the handle and goes nowhere else: the process does not abort.
///
/// # Example
///
/// ```
/// let answer = drowse::spawn_handle(|| 6 * 7);
/// let mistake = drowse::spawn_handle(|| -> u32 { panic!("bad dream") });
/// assert_eq!(answer.join().unwrap(), 42);
/// assert_eq!(mistake.join().unwrap_err().to_string(), "a job panicked: bad dream");
/// ```
///
/// In an async function:
///
/// ```
/// async fn answer() -> u32 {
///     drowse::spawn_handle(|| 6 * 7).await.unwrap() // the executor runs other tasks meanwhile
/// }
/// assert_eq!(drowse::block_on(answer()), 42);
/// ```
pub fn spawn_handle<F, T>(func: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    spawn_handle_in(func, &current_registry(), Order::NewestFirst)
}

/// Like [`spawn_handle`], but a worker's jobs begin in the order in which it spawned them.
///
/// That holds among the jobs that the worker spawns by this function or by
/// [`spawn_fifo`](crate::spawn_fifo).
///
/// # Example
///
/// ```
/// let (sender, receiver) = std::sync::mpsc::channel();
/// let pool = drowse::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
/// pool.install(|| {
///     let handles = [1, 2, 3].map(|i| {
///         let sender = sender.clone();
///         drowse::spawn_handle_fifo(move || sender.send(i).unwrap())
///     });
///     handles.map(|handle| handle.join().unwrap());
/// });
/// assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [1, 2, 3]);
/// ```
pub fn spawn_handle_fifo<F, T>(func: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    spawn_handle_in(func, &current_registry(), Order::OldestFirst)
}

impl ThreadPool {
    /// Runs a closure later, in this pool, and returns a handle. See [`spawn_handle`].
    ///
    /// ```
    /// let pool = drowse::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    /// let handle = pool.spawn_handle(|| 42);
    /// assert_eq!(handle.join().unwrap(), 42);
    /// ```
    pub fn spawn_handle<OP, T>(&self, op: OP) -> JoinHandle<T>
    where
        OP: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        spawn_handle_in(op, &self.registry(), Order::NewestFirst)
    }

    /// Runs a closure later, in this pool, in order of spawning. See [`spawn_handle_fifo`].
    ///
    /// ```
    /// let pool = drowse::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    /// let handles = [1, 2].map(|i| pool.spawn_handle_fifo(move || i));
    /// assert_eq!(handles.map(|handle| handle.join().unwrap()), [1, 2]);
    /// ```
    pub fn spawn_handle_fifo<OP, T>(&self, op: OP) -> JoinHandle<T>
    where
        OP: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        spawn_handle_in(op, &self.registry(), Order::OldestFirst)
    }
}

fn spawn_handle_in<F, T>(func: F, registry: &Arc<Registry>, order: Order) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    spawn_task(Closure(Some(func)), registry, order)
}

/// Handle of a closure or a future that was [spawned](spawn_handle); gives its result.
///
/// The handle is a future: await it on any executor. It is woken once, when the result is there. A
/// thread that has nothing else to do can [join](Self::join) it.
///
/// Dropping the handle does not stop the task: it runs, and its result or its panic is dropped. To
/// cancel the task instead, use [`cancel_on_drop`](Self::cancel_on_drop).
///
/// ```
/// let pool = drowse::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
/// let handle: drowse::JoinHandle<u32> = pool.spawn_handle(|| 42);
/// assert_eq!(handle.join().unwrap(), 42);
/// ```
#[must_use = "the job runs even if the handle is dropped: drop it explicitly if you do not need the result"]
pub struct JoinHandle<T> {
    task: Handle<T>,
    /// Pool that runs the task. Declared after `task`, so dropped after it: dropping the handle's
    /// reference may offer the task to the pool.
    registry: Arc<Registry>,
    /// Worker that spawned the task, and its point then.
    spawned_at: Option<(usize, Point)>,
    is_taken: bool,
}

/// Handle of a future that was [spawned](crate::spawn_future()).
pub type Task<T> = JoinHandle<T>;

impl<T> JoinHandle<T> {
    pub(super) fn new(
        task: Handle<T>,
        registry: Arc<Registry>,
        spawned_at: Option<(usize, Point)>,
    ) -> Self {
        Self { task, registry, spawned_at, is_taken: false }
    }

    /// Waits until the task has ended, and returns its result.
    ///
    /// A worker runs other jobs meanwhile, as in [`join`](crate::join#blocking).
    ///
    /// # Errors
    ///
    /// If the task panicked, or was cancelled.
    ///
    /// # Panics
    ///
    /// If the handle was awaited before and gave its result then.
    ///
    /// ```
    /// let words = ["fork", "join", "nap"];
    /// let lengths = words.map(|word| drowse::spawn_handle(move || word.len()));
    /// assert_eq!(lengths.map(|length| length.join().unwrap()), [4, 4, 3]);
    /// ```
    #[track_caller]
    pub fn join(mut self) -> Result<T, JoinError> {
        // (A worker of that pool can run the task itself, also in a forked child.)
        if !self.is_finished() && self.registry.with_worker(|worker| worker.is_none()) {
            self.registry.assert_here();
        }
        WorkerThread::with_current(|worker| {
            let latch = self.latch_for(worker);
            if self.task.is_awaited_by(Waiter::Thread(&raw const latch)) {
                // The thread that ends the task sets `latch`, which is in this frame: the wait must
                // not unwind.
                unwind::or_abort(|| latch.wait(worker, &self.registry, WaitFor::Handle));
            }
        });
        self.take_result()
    }

    /// Returns the result of a task that has ended.
    #[track_caller]
    fn take_result(&mut self) -> Result<T, JoinError> {
        assert!(!self.is_taken, "this handle has given its result already");
        assert!(self.task.is_done(), "a result is taken when it is there");
        self.is_taken = true;
        // SAFETY: as asserted.
        unsafe { self.task.take_result() }.map_err(JoinError::new)
    }

    /// Returns the latch that this waiter waits for (`None`: a thread that is not a worker).
    fn latch_for(&self, waiter: Option<&WorkerThread>) -> CountLatch {
        match waiter.and_then(|worker| self.spawned_by(worker)) {
            Some(since) => CountLatch::since(since, 1, waiter),
            None => CountLatch::new(1, waiter),
        }
    }

    /// Returns the point at which this worker spawned the task, if it was this worker.
    fn spawned_by(&self, worker: &WorkerThread) -> Option<Point> {
        let (index, point) = self.spawned_at?;
        (index == worker.index() && worker.registry().id() == self.registry.id()).then_some(point)
    }

    /// Returns `true` if the task has ended: then [`join`](Self::join) does not wait.
    ///
    /// ```
    /// let pool = drowse::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    /// pool.install(|| {
    ///     let handle = drowse::spawn_handle(|| 42);
    ///     assert!(!handle.is_finished()); // the only worker is here
    ///     drowse::yield_now();
    ///     assert!(handle.is_finished());
    /// });
    /// ```
    pub fn is_finished(&self) -> bool {
        self.task.is_done()
    }

    /// Cancels the task, unless it is too late. Returns `true` if the call has an effect.
    ///
    /// It has none if the task has ended or was cancelled before, or if it is a closure that has
    /// begun.
    ///
    /// A closure that has not begun is dropped at once, by the calling thread. A future is dropped
    /// by its pool, soon: before its next poll, if it is being polled. Either way the result is an
    /// error that [says so](JoinError::is_cancelled), unless the poll that is under way completes
    /// the future.
    ///
    /// ```
    /// let pool = drowse::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    /// pool.install(|| {
    ///     let handle = drowse::spawn_handle(|| unreachable!("it never begins"));
    ///     assert!(handle.cancel());
    ///     assert!(handle.is_finished());
    /// });
    /// ```
    pub fn cancel(&self) -> bool {
        self.task.cancel()
    }

    /// Turns this into a handle that [cancels](Self::cancel) the task when it is dropped.
    ///
    /// For owners that are dropped themselves when the result is not wanted any more, such as the
    /// handler of a request.
    ///
    /// ```
    /// let pool = drowse::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    /// pool.install(|| {
    ///     let handle = drowse::spawn_handle(|| unreachable!("it never begins"));
    ///     drop(handle.cancel_on_drop());
    /// });
    /// ```
    pub fn cancel_on_drop(self) -> CancelOnDrop<T> {
        CancelOnDrop { handle: Some(self) }
    }
}

/// Resolves to the result of the task, or to the error that explains why there is none.
///
/// # Panics
///
/// If the handle has given its result already.
impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T, JoinError>> {
        if !self.task.is_done() && self.task.is_awaited_by_task(context.waker()) {
            WorkerThread::with_current(|worker| match worker {
                Some(worker) => {
                    self.spawned_by(worker).into_iter().for_each(|spawned| worker.awaits(spawned))
                }
                None => note_awaited(&self.registry),
            });
            return Poll::Pending;
        }
        Poll::Ready(self.take_result())
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle")
            .field("is_finished", &self.is_finished())
            .finish_non_exhaustive()
    }
}

/// [Handle](JoinHandle) that cancels its task when it is dropped. See
/// [`JoinHandle::cancel_on_drop`].
///
/// ```
/// let handle = drowse::spawn_handle(|| 6 * 7).cancel_on_drop();
/// assert_eq!(drowse::block_on(handle).unwrap(), 42);
/// ```
#[must_use = "it is cancelled at once if this is dropped"]
pub struct CancelOnDrop<T> {
    /// `None` only after [`CancelOnDrop::into_handle`].
    handle: Option<JoinHandle<T>>,
}

impl<T> CancelOnDrop<T> {
    /// Returns the handle, which cancels nothing when it is dropped.
    ///
    /// Use it to [join](JoinHandle::join) the task.
    ///
    /// ```
    /// let handle = drowse::spawn_handle(|| 6 * 7).cancel_on_drop();
    /// assert_eq!(handle.into_handle().join().unwrap(), 42);
    /// ```
    pub fn into_handle(mut self) -> JoinHandle<T> {
        self.handle.take().expect("it is there until now")
    }
}

impl<T> Future for CancelOnDrop<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T, JoinError>> {
        let handle = self.handle.as_mut().expect("it is there until it is given back");
        Pin::new(handle).poll(context)
    }
}

impl<T> Drop for CancelOnDrop<T> {
    fn drop(&mut self) {
        self.handle.iter().for_each(|handle| _ = handle.cancel());
    }
}

impl<T> fmt::Debug for CancelOnDrop<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancelOnDrop").field("handle", &self.handle).finish()
    }
}
