//! The pool as the home of a task.

use super::JoinHandle;
use crate::engine::{Inherited, Origins, Point, Registry, WorkerThread, is_isolated};
use crate::job::{Execute, JobRef};
use crate::task::{self, Body, Home};
use drowse_sync::Arc;
use drowse_sync::atomic::{AtomicUsize, Ordering};

/// Order in which a worker begins the jobs that it has spawned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    NewestFirst,
    OldestFirst,
}

/// Home of a task in a pool, which does not end before the task's body is gone.
struct PoolHome {
    registry: Arc<Registry>,
    inherited: Inherited,
    way_back: WayBack,
}

/// Returns the index and the point of the calling worker, if it is a worker of this pool.
pub(super) fn whereabouts(registry: &Registry) -> Option<(usize, Point)> {
    registry.with_worker(|worker| worker.map(WorkerThread::whereabouts))
}

/// Spawns a task with this body into a pool.
pub(super) fn spawn_task<B>(
    body: B,
    registry: &Arc<Registry>,
    order: Order,
) -> JoinHandle<B::Output>
where
    B: Body<Output: Send> + Send + 'static,
{
    // Comes first, since the user's `capture` may panic.
    let inherited = registry.inherit();
    let (spawned_at, way_back) = prepare_task(registry);
    let home = PoolHome { registry: Arc::clone(registry), inherited, way_back };
    // SAFETY: the body borrows nothing; it and its result are `Send`.
    let (handle, job) = unsafe { task::new(body, home) };
    // SAFETY: a new reference, which is in no queue.
    unsafe {
        match order {
            Order::OldestFirst => registry.offer(job, true),
            Order::NewestFirst => registry.offer(job, false),
        }
    }
    JoinHandle::new(handle, Arc::clone(registry), spawned_at)
}

/// Takes one more reason for the pool to live on. Returns the index and the point of the worker of
/// the pool that spawns the task, and the task's way back to the pool when it is woken.
fn prepare_task(registry: &Registry) -> (Option<(usize, Point)>, WayBack) {
    registry.with_worker(|worker| match worker {
        Some(worker) => {
            let spawned_at = worker.whereabouts();
            worker.take_reason();
            let isolated = worker.is_isolated();
            (Some(spawned_at), WayBack::new(isolated, isolated.then(|| worker.sends())))
        }
        None => {
            registry.retain();
            (None, WayBack::new(is_isolated(), None))
        }
    })
}

impl Home for PoolHome {
    type Worker = WorkerThread;

    const EXECUTE: Execute = task::execute::<Self>;

    unsafe fn offer(this: *const Self, job: JobRef, again: bool) {
        // SAFETY: the caller's promise: the task lives until the job is in a queue.
        unsafe {
            WayBack::offer(&raw const (*this).way_back, &raw const (*this).registry, job, again)
        };
    }

    fn is_off(&self) -> bool {
        false
    }

    fn run(&self, worker: &WorkerThread, step: &mut dyn FnMut()) {
        worker.begin_other_job();
        self.way_back.is_polled_by(worker);
        worker.awaited_since(|| {
            let _region = self.way_back.isolated.then(|| worker.enter_region());
            self.registry.run_in(&self.inherited, step);
        });
    }

    fn ended(self, worker: &WorkerThread) {
        if !self.gone().is_left_behind() {
            worker.put_reason();
        }
    }

    /// Does nothing: the task's reason to live becomes that of the reference in the queue.
    fn ends_early(&self) {}

    fn ended_early(self, is_queued: bool) {
        let registry = self.gone();
        // If the pool was left behind by a fork, the task has ended in the parent, or will.
        if !is_queued && !registry.is_left_behind() {
            registry.release();
        }
    }

    /// Gives up the reason to live that the reference in the queue was.
    fn met(worker: &WorkerThread) {
        worker.put_reason();
    }
}

impl PoolHome {
    /// Drops what was inherited together with the body, even if there is still a handle. Returns
    /// the pool.
    fn gone(self) -> Arc<Registry> {
        drop(self.inherited);
        self.registry
    }
}

/// Way of a woken task back to a queue of its pool.
#[derive(Debug)]
pub(super) struct WayBack {
    /// `true` if the task runs in isolation, as it was spawned.
    isolated: bool,
    /// Origins of the task, by which workers that wait for it in isolation recognise it. Boxed,
    /// because most tasks have none, and allocators are faster with small tasks.
    origins: Option<Box<Origins>>,
    /// Worker that polled the task last: the task's data may be in the caches of its processor.
    polled_by: AtomicUsize,
}

const NOBODY: usize = usize::MAX;

impl WayBack {
    pub(super) fn new(isolated: bool, origins: Option<Origins>) -> Self {
        Self { isolated, origins: origins.map(Box::new), polled_by: AtomicUsize::new(NOBODY) }
    }

    pub(super) fn is_polled_by(&self, worker: &WorkerThread) {
        // ORDERING: relaxed; a hint for `offer`.
        self.polled_by.store(worker.index(), Ordering::Relaxed);
    }

    /// Offers a task to the pool. A task with origins goes where isolated waiters look for it.
    /// Otherwise it goes to the queue of the calling worker; or, if the caller is not a worker of
    /// the pool, to the injector, and the post prefers the worker that polled the task last, if it
    /// sleeps. `again`: the task has just been polled, so it goes behind other work.
    ///
    /// # Safety
    ///
    /// The reference must not be in any queue. It keeps alive what the pointers point to, until it
    /// is in a queue.
    pub(super) unsafe fn offer(
        this: *const Self,
        registry: *const Arc<Registry>,
        job: JobRef,
        again: bool,
    ) {
        // SAFETY: the caller's promise. Neither pointer is used once the job is in a queue. A
        // reference as argument of the function that queues the job would have to be valid until
        // that call returns: therefore `this` and `registry` are pointers.
        let (way, id) = unsafe { (&*this, (*registry).id()) };
        // SAFETY: the reference is in no queue yet, so it keeps the registry alive.
        if unsafe { (*registry).is_left_behind() } {
            return; // A forked child has no thread to run it.
        }
        let (origins, behind) = (way.origins.as_deref().copied(), again || way.isolated);
        // ORDERING: relaxed; a hint, stored by `is_polled_by`.
        let polled_by =
            Some(way.polled_by.load(Ordering::Relaxed)).filter(|worker| *worker != NOBODY);
        // SAFETY: the caller's promise, for each call.
        let offer = |registry: &Registry, is_worker: bool| unsafe {
            match origins {
                Some(origins) => registry.leave_job(job, origins),
                None if !is_worker => registry.inject_for(polled_by, &[job]),
                // The worker's own queue would run it first, and in isolation take it for a job
                // that the worker has spawned.
                None if behind => registry.inject(job),
                None => registry.offer(job, false),
            }
        };
        // Once the job is in the queue, the task may end and drop its reference to the registry,
        // while we still have to wake a worker. A worker of the pool keeps the registry alive;
        // another thread clones the reference.
        WorkerThread::with_current(|worker| match worker.map(WorkerThread::registry) {
            Some(own) if own.id() == id => offer(own, true),
            _ => {
                // SAFETY: the caller's promise: the job is in no queue yet.
                let kept = unsafe { Arc::clone(&*registry) };
                offer(&kept, false);
            }
        });
    }
}

#[cfg(all(test, target_pointer_width = "64", not(any(drowse_loom, drowse_shuttle))))]
mod tests {
    use super::*;

    /// Up to this size, glibc takes no lock to free memory that another thread allocated.
    #[test]
    fn a_task_that_captures_nothing_is_small() {
        assert!(task::size::<task::Closure<fn()>, PoolHome>() <= 120);
    }
}
