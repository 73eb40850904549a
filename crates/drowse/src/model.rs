//! The parts that drowse's models examine. Not there in a normal build.

use crate::engine::{self, SharedCount};
use crate::latch::{CountLatch, Latch};

/// The deque.
pub mod deque {
    pub use crate::deque::{Owner, Steal, Stealer};
    use drowse_sleep::PostedTo;
    use drowse_sync::LightFences;

    /// A new, empty deque whose owner has not pushed yet.
    pub fn cold<T>(capacity: usize) -> (Owner<T>, Stealer<T>) {
        crate::deque::new(0, capacity, LightFences::prepare())
    }

    /// An empty deque whose owner has pushed before, and takes the fast path if the system lets it.
    pub fn new<T>(capacity: usize) -> (Owner<T>, Stealer<T>) {
        let (owner, stealer) = cold(capacity);
        owner.warm_up();
        (owner, stealer)
    }

    /// The models push, and post to the owner. The engine posts what `push` returns.
    impl<T> PostedTo for Owner<T> {
        fn was_empty(&self) -> bool {
            self.len() <= 1
        }

        fn expect_thieves(&self) {
            self.share();
        }
    }
}

pub use crate::engine::models::{Descent, Lineage, Places, Seen, Ticket};

/// The latch of a thread that belongs to no pool.
#[derive(Debug)]
pub struct LockLatch(crate::latch::LockLatch);

impl LockLatch {
    /// A latch that is not set.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(crate::latch::LockLatch::new())
    }

    /// Blocks until the latch is set, then makes it as new.
    pub fn wait_and_reset(&self) {
        self.0.wait_and_reset();
    }

    /// Blocks for a while. Whether the latch is set.
    pub fn wait_for_a_while(&self) -> bool {
        self.0.wait_for(std::time::Duration::from_secs(1))
    }

    /// Sets the latch and wakes whoever waits for it.
    ///
    /// # Safety
    ///
    /// `this` must be alive when the call begins.
    pub unsafe fn set(this: *const Self) {
        // SAFETY: the caller's promise.
        unsafe { Latch::set(&raw const (*this).0) }
    }
}

/// What a scope has that was opened by a thread outside: a count of its jobs.
#[derive(Debug)]
pub struct Count(CountLatch);

impl Count {
    /// So many jobs to wait for.
    pub fn new(jobs: usize) -> Self {
        Self(CountLatch::new(jobs, None))
    }

    /// Blocks until all have ended.
    #[cfg(drowse_loom)]
    pub fn wait(&self) {
        self.0.block();
    }

    /// One job less.
    ///
    /// # Safety
    ///
    /// `this` must be alive when the call begins, and the count be the caller's.
    pub unsafe fn count_down(this: *const Self) {
        // SAFETY: the caller's promise.
        unsafe { CountLatch::subtract(&raw const (*this).0, 1) };
    }
}

/// What a worker has in stock of the counts of scopes.
#[derive(Debug)]
pub struct Stock(engine::Stock<CountLatch>);

impl Stock {
    /// Nothing.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(engine::Stock::new())
    }

    /// Takes a count, for a job.
    ///
    /// # Safety
    ///
    /// `of` must be alive, and not at its end.
    pub unsafe fn take(&self, of: *const Count) {
        // SAFETY: the caller's promise.
        self.0.take(unsafe { &(*of).0 }, || true);
    }

    /// Puts in the count of a job that has ended.
    ///
    /// # Safety
    ///
    /// `of` must be alive when the call begins, and the count be the caller's.
    pub unsafe fn put(&self, of: *const Count) {
        // SAFETY: the caller's promise.
        unsafe { self.0.put(&raw const (*of).0) };
    }

    /// Gives back what there is.
    pub fn settle(&self) {
        self.0.settle();
    }
}

/// Room for the small jobs of one worker.
#[derive(Debug)]
pub struct Slabs(crate::job::Slabs);

/// Room for one job, on its way from the worker that has made it to the one that has run it.
#[derive(Debug)]
pub struct Slot(std::ptr::NonNull<u8>);

// SAFETY: a slot is handed over as a whole.
unsafe impl Send for Slot {}

impl Slabs {
    /// None yet.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(crate::job::Slabs::new())
    }

    /// A slot.
    pub fn alloc(&self) -> Slot {
        Slot(self.0.alloc())
    }

    /// Frees a slot, of this worker or another.
    pub fn free(&self, slot: Slot) {
        // SAFETY: a slot comes from `alloc`, and is gone now.
        unsafe { self.0.free(slot.0) };
    }
}

/// How many jobs are under way, where there may be only so many.
#[derive(Debug)]
pub struct Bound(engine::Bound);

/// A job's place among them, free when it is dropped.
#[derive(Debug)]
pub struct Place(#[allow(dead_code)] engine::Place);

impl Bound {
    /// None is under way.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(engine::Bound::new())
    }

    /// A place, if there are fewer than `limit`.
    ///
    /// # Safety
    ///
    /// The bound must outlive the place.
    pub unsafe fn enter(&self, limit: usize) -> Option<Place> {
        // SAFETY: the caller's promise.
        unsafe { self.0.enter(limit) }.map(Place)
    }
}

/// Whether a scope was called off.
#[derive(Debug)]
pub struct Cancellation(crate::api::Cancellation);

impl Cancellation {
    /// It was not.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(crate::api::Cancellation::new())
    }

    /// Calls it off.
    pub fn cancel(&self) {
        self.0.cancel();
    }

    /// Listens to a token.
    pub fn listen(&self, token: &crate::CancelToken) {
        assert!(self.0.listen(token));
    }

    /// Whether it was called off.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Whether a job must not begin.
    pub fn forbids_to_begin(&self) -> bool {
        self.0.forbids_to_begin()
    }
}

/// Tasks, at home in a queue that a model looks after.
pub mod task {
    use crate::job::JobRef;
    use crate::latch::CountLatch;
    use crate::task::{self, Cancelled, Closure, Handle, Home, Polled, Waiter};
    use drowse_sync::{Arc, Mutex};
    use std::any::Any;
    use std::cell::Cell;
    use std::future::Future;
    use std::task::{Poll, Waker};
    use std::thread;

    /// Whether this is what a task leaves that was cancelled.
    pub fn is_cancelled(payload: &(dyn Any + Send)) -> bool {
        payload.is::<Cancelled>()
    }

    /// Where the tasks wait for a step.
    #[derive(Debug, Clone)]
    pub struct TaskQueue {
        state: Arc<Mutex<State>>,
        /// Whether they are no reason not to close it: somebody else waits for them.
        is_scoped: bool,
    }

    #[derive(Debug)]
    struct State {
        jobs: Vec<JobRef>,
        /// Those whose bodies are there.
        bodies: usize,
        /// Those that are a reason not to close the queue.
        reasons: usize,
    }

    drowse_sync::thread_local! {
        /// How many were met that had ended early.
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

    /// The handle of such a task.
    #[derive(Debug)]
    pub struct TaskHandle<T>(Handle<T>);

    impl TaskQueue {
        /// An empty one.
        #[allow(clippy::new_without_default)]
        pub fn new() -> Self {
            let state = State { jobs: Vec::new(), bodies: 0, reasons: 0 };
            Self { state: Arc::new(Mutex::new(state)), is_scoped: false }
        }

        /// An empty one, for tasks of a scope, which waits for them.
        pub fn of_scope() -> Self {
            Self { is_scoped: true, ..Self::new() }
        }

        /// A task that calls a closure.
        pub fn spawn<T: Send>(&self, closure: impl FnOnce() -> T + Send + 'static) -> TaskHandle<T> {
            self.spawn_body(Closure(Some(closure)))
        }

        /// A task that polls a future.
        pub fn spawn_future<F>(&self, future: F) -> TaskHandle<F::Output>
        where
            F: Future<Output: Send> + Send + 'static,
        {
            self.spawn_body(Polled(future))
        }

        fn spawn_body<B: task::Body<Output: Send> + Send + 'static>(&self, body: B) -> TaskHandle<B::Output> {
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

        /// Runs the next step of a task. False if none is there.
        pub fn run_one(&self) -> bool {
            let job = self.state.lock().jobs.pop();
            // SAFETY: it is in the queue no more.
            let ran = job.inspect(|job| unsafe { job.execute() }).is_some();
            self.state.lock().give_up(MET.with(Cell::take));
            ran
        }

        /// Whether nothing would be lost if the queue were closed.
        pub fn may_close(&self) -> bool {
            self.state.lock().reasons == 0
        }

        /// Whether there are no steps to run.
        pub fn is_empty(&self) -> bool {
            self.state.lock().jobs.is_empty()
        }

        /// How many tasks there are whose bodies are there.
        pub fn bodies(&self) -> usize {
            self.state.lock().bodies
        }
    }

    impl Home for TaskQueue {
        unsafe fn offer(this: *const Self, job: JobRef, _: bool) {
            // SAFETY: the caller's promise, until the job is in the queue.
            let queue = unsafe { &*this }.clone();
            queue.state.lock().jobs.push(job);
        }

        fn is_off(&self) -> bool {
            false
        }

        fn run<R>(&self, step: impl FnOnce() -> R) -> R {
            step()
        }

        fn ended(self) {
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

        fn met() {
            MET.with(|met| met.set(met.get() + 1));
        }
    }

    impl<T> TaskHandle<T> {
        /// Blocks until the task is done.
        pub fn join(mut self) -> thread::Result<T> {
            let latch = CountLatch::new(1, None);
            if self.0.is_awaited_by(Waiter::Thread(&raw const latch)) {
                latch.block();
            }
            assert!(self.0.is_done());
            // SAFETY: it is done, and the handle is gone after this.
            unsafe { self.0.take_result() }
        }

        /// The result, if it is there; otherwise leaves the waker.
        pub fn poll(&mut self, waker: &Waker) -> Poll<thread::Result<T>> {
            if !self.0.is_done() && self.0.is_awaited_by_task(waker) {
                return Poll::Pending;
            }
            assert!(self.0.is_done());
            // SAFETY: it is done; models do not poll again.
            Poll::Ready(unsafe { self.0.take_result() })
        }

        /// Calls it off.
        pub fn cancel(&self) -> bool {
            self.0.cancel()
        }
    }
}
