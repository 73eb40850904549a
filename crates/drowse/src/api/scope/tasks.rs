//! Closures and futures of a scope with a handle, which a thread can join and a future await.

use super::Scope;
use super::base::{AsBase, ScopeBase, ScopePtr};
use crate::api::home::{WayBack, whereabouts};
use crate::api::{JoinHandle, Task};
use crate::engine::{Inherited, SharedCount, WorkerThread};
use crate::job::{Execute, JobRef};
use crate::latch::CountLatch;
use crate::task::{self, Body, Closure, Home, Polled};
use drowse_sync::Arc;
use std::future::Future;

impl<'scope> Scope<'scope> {
    /// Runs a closure before the scope ends, and returns a handle for its result.
    ///
    /// The closure is queued like that of [`spawn`](Self::spawn); the handle is like that of
    /// [`spawn_handle`](crate::spawn_handle). A panic of the closure is kept in the handle; the
    /// scope does not panic.
    ///
    /// # Example
    ///
    /// ```
    /// let words = ["fork".to_string(), "join".to_string()];
    /// let total = drowse::scope(|s| {
    ///     let lengths = [0, 1].map(|i| {
    ///         let words = &words;
    ///         s.spawn_handle(move |_| words[i].len())
    ///     });
    ///     lengths.map(|length| length.join().unwrap()).iter().sum::<usize>()
    /// });
    /// assert_eq!(total, 8);
    /// ```
    ///
    /// What the closure borrows must outlive the scope:
    ///
    /// ```compile_fail,E0373
    /// drowse::scope(|s| {
    ///     let local = 3;
    ///     _ = s.spawn_handle(|_| local + 1); // may run after `op` has returned
    /// });
    /// ```
    pub fn spawn_handle<BODY, T>(&self, body: BODY) -> JoinHandle<T>
    where
        BODY: FnOnce(&Scope<'scope>) -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let scope = ScopePtr::new(self);
        // SAFETY: the scope lives until `ScopeHome::ended`, which is called when the closure is
        // gone.
        let closure = move || body(unsafe { &*scope.get() });
        self.spawn_task(Closure(Some(closure)))
    }

    /// Runs a future before the scope ends, as [`spawn_future`](crate::spawn_future()) does.
    ///
    /// It may borrow what outlives the scope, which waits until the future has ended. If the scope
    /// is [cancelled](Self::cancel), the future is dropped before its next poll. But cancelling
    /// does not wake a future that waits for something: until it is woken, the scope waits for it.
    ///
    /// # Example
    ///
    /// ```
    /// let text = String::from("one two three");
    /// drowse::scope(|s| {
    ///     let words = s.spawn_handle(|_| text.split(' ').count());
    ///     let bytes = s.spawn_future(async { text.len() + words.await.unwrap() });
    ///     assert_eq!(bytes.join().unwrap(), 13 + 3);
    /// });
    /// ```
    ///
    /// ```compile_fail,E0373
    /// drowse::scope(|s| {
    ///     let local = 3;
    ///     _ = s.spawn_future(async { local + 1 }); // may run after `op` has returned
    /// });
    /// ```
    pub fn spawn_future<F>(&self, future: F) -> Task<F::Output>
    where
        F: Future<Output: Send + 'scope> + Send + 'scope,
    {
        self.spawn_task(Polled(future))
    }

    fn spawn_task<B>(&self, body: B) -> JoinHandle<B::Output>
    where
        B: Body<Output: Send> + Send + 'scope,
    {
        let base = self.base();
        let spawned_at = whereabouts(&base.registry);
        let inherited = base.registry.inherit();
        base.count_job();
        let way_back = WayBack::new(base.isolated, base.origins_of_task());
        let home = ScopeHome { scope: ScopePtr::new(self), inherited, way_back };
        // SAFETY: what the body borrows lives for `'scope`. The scope lives until it has counted
        // the task down, which `ScopeHome` does when the body is gone. The body and its result are
        // `Send`.
        let (handle, job) = unsafe { task::new(body, home) };
        // SAFETY: a new reference, which is in no queue.
        unsafe { base.offer(job) };
        JoinHandle::new(handle, Arc::clone(&base.registry), spawned_at)
    }
}

/// Home of a task in a scope, which does not end before the task's body is gone.
struct ScopeHome<'scope> {
    scope: ScopePtr<Scope<'scope>>,
    inherited: Inherited,
    way_back: WayBack,
}

impl<'scope> ScopeHome<'scope> {
    /// Drops what was inherited together with the body. Returns the latch that counts the task.
    fn gone(self) -> *const CountLatch {
        drop(self.inherited);
        // SAFETY: the scope lives, since the task is still counted.
        &raw const unsafe { &*self.scope.get() }.base().pending
    }

    fn base(&self) -> &ScopeBase<'scope> {
        // SAFETY: the scope lives until `ended` or `ended_early` has counted the task down.
        unsafe { &*self.scope.get() }.base()
    }
}

impl Home for ScopeHome<'_> {
    type Worker = WorkerThread;

    const EXECUTE: Execute = task::execute::<Self>;

    unsafe fn offer(this: *const Self, job: JobRef, again: bool) {
        // SAFETY: the caller's promise. Until the job is in a queue, the scope waits for it.
        let (way_back, base) = unsafe { (&raw const (*this).way_back, (*this).base()) };
        // SAFETY: the caller's promise. The scope keeps the way back and the registry alive.
        unsafe { WayBack::offer(way_back, &raw const base.registry, job, again) };
    }

    fn is_off(&self) -> bool {
        self.base().cancellation.forbids_to_begin()
    }

    fn run(&self, worker: &WorkerThread, step: &mut dyn FnMut()) {
        let base = self.base();
        self.way_back.is_polled_by(worker);
        worker.begin_job_of(&raw const base.pending);
        worker.awaited_since(|| {
            let _region = base.isolated.then(|| worker.enter_region());
            worker.registry().run_in(&self.inherited, step);
        });
    }

    fn ended(self, worker: &WorkerThread) {
        let pending = self.gone();
        // SAFETY: the task's own count, put once.
        unsafe { worker.put_count(pending) };
    }

    /// Takes a reason for the pool to live on: the scope may end before the reference in the queue
    /// is met.
    fn ends_early(&self) {
        let registry = &self.base().registry;
        if !registry.is_left_behind() {
            registry.retain();
        }
    }

    fn ended_early(self, is_queued: bool) {
        let registry = &self.base().registry;
        if !is_queued && !registry.is_left_behind() {
            registry.release();
        }
        // SAFETY: the task's own count, subtracted once.
        unsafe { CountLatch::subtract(self.gone(), 1) };
    }

    /// Gives up the reason to live that [`ends_early`](Home::ends_early) took.
    fn met(worker: &WorkerThread) {
        worker.put_reason();
    }
}
