//! Closures that run later, and for which somebody may wait.

use super::block_on::note_awaited;
use super::global::current_registry;
use super::home::{Order, spawn_task};
use super::{JoinError, ThreadPool};
use crate::engine::{Point, Registry, WaitFor, WorkerThread};
use crate::latch::CountLatch;
use crate::task::{Closure, Handle, Waiter};
use crate::unwind;
use drowse_sync::Arc;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Runs a closure later, in the current pool, as [`spawn`](crate::spawn()) does, and returns a
/// handle: a thread can [wait](JoinHandle::join) for it, and an async function can await it, on
/// whatever executor.
///
/// A panic of the closure is kept in the handle, and is nobody else's: the process does not abort.
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
///     drowse::spawn_handle(|| 6 * 7).await.unwrap() // the executor goes on with other tasks
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

/// Like [`spawn_handle`], but jobs that one worker spawns this way, or by
/// [`spawn_fifo`](crate::spawn_fifo), are begun in the order in which it spawned them.
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
    /// [`spawn_handle`] into this pool.
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

    /// [`spawn_handle_fifo`] into this pool.
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

/// A closure or a future that was [spawned](spawn_handle), and its result.
///
/// It is a future: await it on whatever executor. It is woken once, when the result is there. A
/// thread that has nothing else to do [joins](Self::join) it.
///
/// If the handle is dropped, what was spawned runs all the same, and its result, or its panic, is
/// dropped. To have it cancelled then, use [`cancel_on_drop`](Self::cancel_on_drop).
///
/// ```
/// let pool = drowse::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
/// let handle: drowse::JoinHandle<u32> = pool.spawn_handle(|| 42);
/// assert_eq!(handle.join().unwrap(), 42);
/// ```
#[must_use = "it runs all the same: drop the handle if nobody waits for it"]
pub struct JoinHandle<T> {
    task: Handle<T>,
    /// Where it runs. Dropped after the task: to let go of that may mean to offer it to somebody.
    registry: Arc<Registry>,
    /// The worker that has spawned it, and how far it had got.
    spawned_at: Option<(usize, Point)>,
    is_taken: bool,
}

/// A future that was [spawned](crate::spawn_future()), and its result.
pub type Task<T> = JoinHandle<T>;

impl<T> JoinHandle<T> {
    pub(super) fn new(task: Handle<T>, registry: Arc<Registry>, spawned_at: Option<(usize, Point)>) -> Self {
        Self { task, registry, spawned_at, is_taken: false }
    }

    /// Waits until the closure has ended, and returns its result.
    ///
    /// A worker runs other jobs meanwhile, as in [`join`](crate::join#blocking).
    ///
    /// # Errors
    ///
    /// If the closure panicked, or was cancelled.
    ///
    /// # Panics
    ///
    /// If it was awaited before, and has given its result then.
    ///
    /// ```
    /// let words = ["fork", "join", "nap"];
    /// let lengths = words.map(|word| drowse::spawn_handle(move || word.len()));
    /// assert_eq!(lengths.map(|length| length.join().unwrap()), [4, 4, 3]);
    /// ```
    #[track_caller]
    pub fn join(mut self) -> Result<T, JoinError> {
        // (A worker of that pool can run it, also in a forked child.)
        if !self.is_finished() && self.registry.with_worker(|worker| worker.is_none()) {
            self.registry.assert_here();
        }
        WorkerThread::with_current(|worker| {
            let latch = self.latch_for(worker);
            if self.task.is_awaited_by(Waiter::Thread(&raw const latch)) {
                // What whoever ends the closure sets is on this stack.
                unwind::or_abort(|| latch.wait(worker, &self.registry, WaitFor::Handle));
            }
        });
        self.take_result()
    }

    /// The result of a task that has ended.
    #[track_caller]
    fn take_result(&mut self) -> Result<T, JoinError> {
        assert!(!self.is_taken, "this handle has given its result already");
        assert!(self.task.is_done(), "a result is taken when it is there");
        self.is_taken = true;
        // SAFETY: as asserted.
        unsafe { self.task.take_result() }.map_err(JoinError::new)
    }

    /// What this worker, or a thread outside, waits for.
    fn latch_for(&self, waiter: Option<&WorkerThread>) -> CountLatch {
        match waiter.and_then(|worker| self.spawned_by(worker)) {
            Some(since) => CountLatch::since(since, 1, waiter),
            None => CountLatch::new(1, waiter),
        }
    }

    /// How far this worker had got when it spawned this, if it did.
    fn spawned_by(&self, worker: &WorkerThread) -> Option<Point> {
        let (index, point) = self.spawned_at?;
        (index == worker.index() && worker.registry().id() == self.registry.id()).then_some(point)
    }

    /// Whether the closure has ended: then [`join`](Self::join) does not wait.
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

    /// Calls off what has not begun. Whether that has an effect: not if it has ended, or is a
    /// closure that has begun, or was cancelled before.
    ///
    /// A closure that has not begun is dropped at once, with all that it has captured, by the
    /// calling thread. A future is dropped by its pool, soon: before its next step, if it runs.
    /// Either way the result is an error that [says so](JoinError::is_cancelled), unless the future
    /// ends with the step that it is in the middle of.
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

    /// The same handle, that [cancels](Self::cancel) when it is dropped: for those who are dropped
    /// themselves when nobody wants the result any more, such as the handler of a request.
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

/// The result of the closure or the future, or why there is none.
///
/// # Panics
///
/// If it has given its result already.
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
        f.debug_struct("JoinHandle").field("is_finished", &self.is_finished()).finish_non_exhaustive()
    }
}

/// A [handle](JoinHandle) whose closure or future is cancelled when it is dropped. See
/// [`JoinHandle::cancel_on_drop`].
///
/// ```
/// let handle = drowse::spawn_handle(|| 6 * 7).cancel_on_drop();
/// assert_eq!(drowse::block_on(handle).unwrap(), 42);
/// ```
#[must_use = "it is cancelled at once if this is dropped"]
pub struct CancelOnDrop<T> {
    /// There until it is given back.
    handle: Option<JoinHandle<T>>,
}

impl<T> CancelOnDrop<T> {
    /// The handle itself, that cancels nothing when it is dropped: to [join](JoinHandle::join) it,
    /// say.
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
