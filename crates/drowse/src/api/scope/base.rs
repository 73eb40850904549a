//! Common part of both kinds of scope: counts the jobs, waits for them, keeps the first panic.

use crate::api::TrySpawnError;
use crate::api::broadcast::index_for_broadcast;
use crate::api::cancel::Cancellation;
use crate::diagnose::WaitFor;
use crate::engine::{
    Bound, Bounded, Inherited, Origins, Registry, SharedCount, WorkerThread, is_isolated,
};
use crate::job::{HeapJob, JobRef};
use crate::latch::CountLatch;
use crate::unwind::{self, Payload};
use drowse_sync::atomic::{AtomicPtr, Ordering};
use drowse_sync::{Arc, faulty};
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr;

pub(super) struct ScopeBase<'scope> {
    /// Pool that runs the jobs.
    pub(super) registry: Arc<Registry>,
    /// Payload of the first panic, boxed once more to make it one word; null if there was none.
    panic: AtomicPtr<Payload>,
    /// `true` if the scope was opened in isolation: then its jobs run in isolation.
    pub(super) isolated: bool,
    /// Counts the jobs that have not ended, and one more for the scope's own closure.
    pub(super) pending: CountLatch,
    /// Tells whether jobs may still begin.
    pub(super) cancellation: Cancellation,
    /// Counts the jobs that were spawned with a limit.
    bounded: Bound,
    /// Stands for closures that the scope may call until `'scope` ends: invariant in `'scope`.
    marker: PhantomData<Box<dyn FnOnce(&'scope ()) + Send + Sync + 'scope>>,
}

impl<'scope> ScopeBase<'scope> {
    /// Makes a scope whose jobs run in `registry`. `owner` waits for its end (`None`: a thread that
    /// is not a worker).
    pub(super) fn new(owner: Option<&WorkerThread>, registry: Arc<Registry>) -> Self {
        if owner.is_none_or(|owner| owner.registry().id() != registry.id()) {
            registry.assert_here();
        }
        Self {
            registry,
            panic: AtomicPtr::new(ptr::null_mut()),
            isolated: is_isolated(),
            pending: CountLatch::new(1, owner),
            cancellation: Cancellation::new(),
            bounded: Bound::new(),
            marker: PhantomData,
        }
    }

    /// Makes a job that calls `body` with `scope`.
    pub(super) fn job<S: AsBase<'scope>>(
        scope: &S,
        body: impl FnOnce(&S) + Send + 'scope,
    ) -> JobRef {
        // Comes first, since the user's `capture` may panic.
        let inherited = scope.base().registry.inherit();
        let job = Self::plain_job(scope, move |scope, _| body(scope));
        if inherited.is_something() { scope.base().with_inherited(inherited, job) } else { job }
    }

    /// Makes a job of the scope that inherits nothing, and passes the worker to `body`.
    fn plain_job<S: AsBase<'scope>>(
        scope: &S,
        body: impl FnOnce(&S, &WorkerThread) + Send + 'scope,
    ) -> JobRef {
        let isolated = scope.base().isolated;
        scope.base().count_job();
        let scope = ScopePtr::new(scope);
        // SAFETY: what the closure borrows lives for `'scope`. The scope itself lives until
        // `pending` has counted the job down, because the function that opened the scope waits for
        // that.
        let job = unsafe {
            HeapJob::new_ref(move |worker: &WorkerThread| {
                let scope = scope.get();
                let base = ptr::from_ref((*scope).base());
                let outcome = match (*base).begin_job(worker) {
                    true => unwind::halt_unwinding(|| body(&*scope, worker)),
                    // The user's drop may panic too.
                    false => unwind::halt_unwinding(|| {
                        faulty!("cancel/forgets", drop(body), std::mem::forget(body))
                    }),
                };
                Self::end_job(base, worker, outcome.err());
            })
        };
        job.in_isolation_if(isolated)
    }

    /// Makes a job that runs `job` with `inherited` in effect.
    #[cold]
    #[inline(never)]
    fn with_inherited(&self, inherited: Inherited, job: JobRef) -> JobRef {
        self.count_job(); // For the outer job, which ends after `job`.
        let (base, at_end) = (ScopePtr::new(self), ScopePtr::new(self));
        // SAFETY: a new reference. The scope lives until `end_job` puts the count taken above.
        let job = unsafe {
            // A job of a cancelled scope does not enter the context.
            let is_off = move || (*base.get()).cancellation.forbids_to_begin();
            // `job` itself keeps its panic in the scope.
            let execute = |worker: &WorkerThread, job: JobRef| {
                job.execute(worker);
                None
            };
            Registry::job_in(inherited, job, execute, is_off, move |worker, panic| {
                Self::end_job(at_end.get(), worker, panic);
            })
        };
        job.in_isolation_if(self.isolated)
    }

    /// Begins a job of the scope on this worker. Returns `false` if its closure must not be called.
    #[inline]
    fn begin_job(&self, worker: &WorkerThread) -> bool {
        worker.begin_job_of(&raw const self.pending);
        !self.cancellation.forbids_to_begin()
    }

    /// Ends a job of the scope on this worker: keeps its panic, and puts its count.
    ///
    /// # Safety
    ///
    /// The caller must own one count. The scope may be gone when the call returns.
    unsafe fn end_job(this: *const Self, worker: &WorkerThread, panic: Option<Payload>) {
        // SAFETY: the caller's count keeps the scope alive until `put_count`, the last use of the
        // scope.
        unsafe {
            panic.into_iter().for_each(|payload| (*this).keep_panic(payload));
            worker.put_count(&raw const (*this).pending);
        }
    }

    /// Counts one more job to wait for.
    pub(super) fn count_job(&self) {
        WorkerThread::with_current(|worker| match worker {
            Some(worker) => worker.take_count(&self.pending),
            None => self.pending.add(1),
        });
    }

    /// Offers a job to the workers, like [`Registry::offer`]. But a worker that waits for
    /// the scope in isolation does not look into the injector: for it, a job from outside goes
    /// where [`Registry::leave_job`] puts it.
    ///
    /// # Safety
    ///
    /// The reference must not be in any queue.
    pub(super) unsafe fn offer(&self, job: JobRef) {
        match self.isolated_waiter() {
            // SAFETY: the caller's promise.
            Some(origins) => unsafe { self.registry.leave_job(job, origins) },
            // SAFETY: the caller's promise.
            None => unsafe { self.registry.offer(job, false) },
        }
    }

    /// Returns `true` if a job that the calling thread offers now must be left for an isolated
    /// waiter.
    pub(super) fn is_for_isolated_waiter(&self) -> bool {
        self.isolated_waiter().is_some()
    }

    /// Returns the origins of a job that the calling thread offers now, if the thread is not a
    /// worker of the scope's pool and a worker of that pool waits for the scope in isolation.
    fn isolated_waiter(&self) -> Option<Origins> {
        let is_outside = || self.registry.with_worker(|worker| worker.is_none());
        if self.isolated && is_outside() { self.origin_for_waiter() } else { None }
    }

    fn origin_for_waiter(&self) -> Option<Origins> {
        self.pending
            .waiter_in(&self.registry)
            .map(|(worker, since)| Origins::sent_at(worker, since))
    }

    /// Returns the origins of a task that is spawned now, by which workers that wait in isolation,
    /// for the task or for the scope, recognise it.
    pub(super) fn origins_of_task(&self) -> Option<Origins> {
        if !self.isolated {
            return None;
        }
        let here = self.registry.with_worker(|worker| worker.map(WorkerThread::sends));
        let waiter = self.origin_for_waiter();
        here.map_or(waiter, |here| Some(here.or_also(waiter)))
    }

    /// Leaves a job of the scope for each worker.
    pub(super) fn inject_broadcast<S: AsBase<'scope>>(
        scope: &S,
        body: impl Fn(&S, crate::BroadcastContext<'_>) + Send + Sync + 'scope,
    ) {
        let registry = &scope.base().registry;
        // Each job holds a share of the body, and drops it before it counts down. So the body, and
        // what it borrows, is gone when the scope ends. (The context is captured once, before the
        // first job exists, since `capture` may panic.)
        let shared = Arc::new((body, registry.inherit()));
        let mut job = |_| {
            let shared = Arc::clone(&shared);
            Self::plain_job(scope, move |scope, worker| {
                // Read first: the user's `enter` may block, and the worker may lose its index
                // meanwhile.
                let ((body, inherited), index) = (&*shared, index_for_broadcast(worker));
                worker.registry().run_in(inherited, &mut || {
                    body(scope, crate::BroadcastContext::new(worker, index));
                });
            })
        };
        // SAFETY: new references, which are in no queue.
        unsafe { registry.inject_broadcast(&mut job) };
    }

    /// Takes one of `limit` places for a job with this body, or gives the body back.
    ///
    /// # Safety
    ///
    /// The result must become a job of the scope, or be dropped at once.
    pub(super) unsafe fn bounded<F>(
        &self,
        limit: usize,
        body: F,
    ) -> Result<Bounded<F>, TrySpawnError<F>> {
        // SAFETY: a job of the scope has run, or was dropped, before it counts down. Until then it
        // keeps the scope alive, and with it `bounded`.
        unsafe { Bounded::new(&self.bounded, limit, body) }.map_err(TrySpawnError::new)
    }

    /// Runs the scope's own closure, waits for every job, and passes on the first panic.
    pub(super) fn complete<R>(&self, owner: Option<&WorkerThread>, op: impl FnOnce() -> R) -> R {
        match unwind::halt_unwinding(op) {
            Ok(result) => {
                if let Some(payload) = self.wait_for_jobs(owner) {
                    // Dropping the lost result may panic too. The panic of a job has priority.
                    unwind::drop_quietly(result);
                    unwind::resume_unwinding(payload);
                }
                result
            }
            Err(payload) => {
                self.keep_panic(payload);
                match self.wait_for_jobs(owner) {
                    Some(payload) => unwind::resume_unwinding(payload),
                    None => unreachable!("a panic was kept"),
                }
            }
        }
    }

    /// Waits for every job, and returns the first panic.
    fn wait_for_jobs(&self, owner: Option<&WorkerThread>) -> Option<Payload> {
        // SAFETY: the counts are ours. We are the waiter, so the latch lives until we have waited,
        // below.
        unwind::or_abort(|| unsafe {
            // One count for the closure, and what its spawns have left in this worker's stock.
            let left = owner.map_or(0, |owner| owner.take_all_counts(&self.pending));
            CountLatch::subtract(&self.pending, 1 + left);
            self.pending.wait(owner, &self.registry, WaitFor::Scope);
        });
        // ORDERING: relaxed; each job keeps its panic before it counts down with release, and
        // `CountLatch::wait` has acquired that.
        let panic = self.panic.swap(ptr::null_mut(), Ordering::Relaxed);
        // SAFETY: leaked by `keep_panic`, and swapped out of the field just now, so owned here
        // alone.
        (!panic.is_null()).then(|| unsafe { *Box::from_raw(panic) })
    }

    /// Keeps the payload if it is the first one.
    fn keep_panic(&self, payload: Payload) {
        let mut payload = ManuallyDrop::new(Box::new(payload));
        // ORDERING: relaxed; the job that panicked then counts down in `end_job`, which releases
        // the box.
        if self
            .panic
            .compare_exchange(ptr::null_mut(), &mut **payload, Ordering::Relaxed, Ordering::Relaxed)
            .is_err()
        {
            // Dropping a user's value may panic too. We may be in the middle of waiting for jobs
            // that borrow from this very frame: nothing may unwind from here.
            unwind::drop_quietly(ManuallyDrop::into_inner(payload));
        }
    }

    pub(super) fn fmt(&self, name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(name)
            .field("pool", &self.registry.id())
            .field("panicked", &!self.is_whole())
            .field("cancelled", &self.cancellation.is_cancelled())
            .finish_non_exhaustive()
    }

    fn is_whole(&self) -> bool {
        // ORDERING: relaxed; for Debug output only.
        self.panic.load(Ordering::Relaxed).is_null()
    }
}

/// Type of scope that has a base.
pub(super) trait AsBase<'scope>: Sync {
    fn base(&self) -> &ScopeBase<'scope>;
}

/// Pointer to a scope, carried by jobs that the scope waits for.
pub(super) struct ScopePtr<S>(*const S);

// SAFETY: a scope is `Sync`, and it waits for the jobs that carry the pointer.
unsafe impl<S: Sync> Send for ScopePtr<S> {}
// SAFETY: a shared `ScopePtr` gives access to no more than a shared scope, which is `Sync`.
unsafe impl<S: Sync> Sync for ScopePtr<S> {}

impl<S> ScopePtr<S> {
    pub(super) fn new(scope: &S) -> Self {
        Self(ptr::from_ref(scope))
    }

    /// Returns the pointer. A method, so that closures capture the whole struct, not its field
    /// alone.
    pub(super) fn get(&self) -> *const S {
        self.0
    }
}
