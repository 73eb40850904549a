//! Tasks whose home is a queue that a model runs.

use crate::engine::WorkerThread;
use crate::job::{Execute, JobRef};
use crate::latch::CountLatch;
use crate::task::{self, Cancelled, Closure, Handle, Home, Polled, Waiter};
use drowse_sync::{Arc, Mutex};
use std::any::Any;
use std::cell::Cell;
use std::future::Future;
use std::task::{Poll, Waker};
use std::thread;

/// Returns `true` if this is the payload of a task that was cancelled.
pub fn is_cancelled(payload: &(dyn Any + Send)) -> bool {
    payload.is::<Cancelled>()
}

/// Queue in which tasks wait for their next step.
#[derive(Debug, Clone)]
pub struct TaskQueue {
    state: Arc<Mutex<State>>,
    /// `true` if the tasks are no reason to keep the queue open, because a scope waits for them.
    is_scoped: bool,
}

#[derive(Debug)]
struct State {
    jobs: Vec<JobRef>,
    /// Number of tasks whose bodies exist.
    bodies: usize,
    /// Number of reasons to keep the queue open: tasks, and references that are to be met.
    reasons: usize,
}

drowse_sync::thread_local! {
    /// Number of references whose tasks had ended early, met by this thread in the current step.
    static MET: Cell<usize> = const { Cell::new(0) };
}

impl State {
    fn give_up(&mut self, reasons: usize) {
        self.reasons = self.reasons.checked_sub(reasons).expect("who gives up a reason has one");
    }

    fn ended(&mut self, gives_up: bool) {
        self.bodies -= 1;
        self.give_up(usize::from(gives_up));
    }
}

/// Handle of a task in such a queue.
#[derive(Debug)]
pub struct TaskHandle<T>(Handle<T>);

impl TaskQueue {
    /// Returns an empty queue.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        let state = State { jobs: Vec::new(), bodies: 0, reasons: 0 };
        Self { state: Arc::new(Mutex::new(state)), is_scoped: false }
    }

    /// Returns an empty queue for tasks of a scope, which waits for them.
    pub fn of_scope() -> Self {
        Self { is_scoped: true, ..Self::new() }
    }

    /// Spawns a task that calls a closure.
    pub fn spawn<T: Send>(&self, closure: impl FnOnce() -> T + Send + 'static) -> TaskHandle<T> {
        self.spawn_body(Closure(Some(closure)))
    }

    /// Spawns a task that polls a future.
    pub fn spawn_future<F>(&self, future: F) -> TaskHandle<F::Output>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        self.spawn_body(Polled(future))
    }

    fn spawn_body<B: task::Body<Output: Send> + Send + 'static>(
        &self,
        body: B,
    ) -> TaskHandle<B::Output> {
        {
            let mut state = self.state.lock();
            state.bodies += 1;
            state.reasons += usize::from(!self.is_scoped);
        }
        // SAFETY: the body borrows nothing; it and its result are `Send`.
        let (handle, job) = unsafe { task::new(body, self.clone()) };
        self.state.lock().jobs.push(job);
        TaskHandle(handle)
    }

    /// Runs the next step of a task. Returns `false` if there is none.
    pub fn run_one(&self) -> bool {
        let job = self.state.lock().jobs.pop();
        // SAFETY: it was taken from the queue. If it unwinds, the model fails.
        let ran = job.inspect(|job| unsafe { task::execute::<Self>(*job, &()) }).is_some();
        self.state.lock().give_up(MET.with(Cell::take));
        ran
    }

    /// Returns `true` if no task would be lost by closing the queue.
    pub fn may_close(&self) -> bool {
        self.state.lock().reasons == 0
    }

    /// Returns `true` if there are no steps to run.
    pub fn is_empty(&self) -> bool {
        self.state.lock().jobs.is_empty()
    }

    /// Returns the number of tasks whose bodies exist.
    pub fn bodies(&self) -> usize {
        self.state.lock().bodies
    }
}

/// Never called: models call `task::execute` themselves.
unsafe fn execute(_: JobRef, _: &WorkerThread) {
    unreachable!("there are no workers");
}

impl Home for TaskQueue {
    type Worker = ();

    const EXECUTE: Execute = execute;

    unsafe fn offer(this: *const Self, job: JobRef, _: bool) {
        // SAFETY: the caller's promise, until the job is in the queue.
        let queue = unsafe { &*this }.clone();
        queue.state.lock().jobs.push(job);
    }

    fn is_off(&self) -> bool {
        false
    }

    fn run(&self, (): &(), step: &mut dyn FnMut()) {
        step();
    }

    fn ended(self, (): &()) {
        self.state.lock().ended(!self.is_scoped);
    }

    fn ends_early(&self) {
        if self.is_scoped {
            self.state.lock().reasons += 1;
        }
    }

    fn ended_early(self, is_queued: bool) {
        self.state.lock().ended(!is_queued);
    }

    fn met((): &()) {
        MET.with(|met| met.set(met.get() + 1));
    }
}

impl<T> TaskHandle<T> {
    /// Blocks until the task is done.
    pub fn join(mut self) -> thread::Result<T> {
        let latch = CountLatch::new(1, None);
        if self.0.is_awaited_by(Waiter::Thread(&raw const latch)) {
            latch.of_outside().wait();
        }
        assert!(self.0.is_done());
        // SAFETY: the task is done, and the handle is consumed here.
        unsafe { self.0.take_result() }
    }

    /// Returns the result, if it is there; otherwise leaves the waker.
    pub fn poll(&mut self, waker: &Waker) -> Poll<thread::Result<T>> {
        if !self.0.is_done() && self.0.is_awaited_by_task(waker) {
            return Poll::Pending;
        }
        assert!(self.0.is_done());
        // SAFETY: the task is done; models do not poll again.
        Poll::Ready(unsafe { self.0.take_result() })
    }

    /// Cancels the task. Returns `true` if that has an effect.
    pub fn cancel(&self) -> bool {
        self.0.cancel()
    }
}
