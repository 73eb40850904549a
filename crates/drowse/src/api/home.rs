//! Tasks that are at home in a pool.

use super::JoinHandle;
use crate::engine::{Inherited, Origins, Point, Registry, WorkerThread, is_isolated, isolate_if};
use crate::job::JobRef;
use crate::task::{self, Body, Home};
use crate::unwind;
use drowse_sync::Arc;
use drowse_sync::atomic::{AtomicUsize, Ordering};

/// In which order a worker begins what it has spawned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    NewestFirst,
    OldestFirst,
}

/// A pool, which goes on until the task's body is gone.
struct PoolHome {
    registry: Arc<Registry>,
    inherited: Inherited,
    way_back: WayBack,
}

/// The worker of this pool that calls this, and how far it has got.
pub(super) fn whereabouts(registry: &Registry) -> Option<(usize, Point)> {
    registry.with_worker(|worker| worker.map(|worker| (worker.index(), worker.point())))
}

/// Runs a body in a pool.
pub(super) fn spawn_task<B>(body: B, registry: &Arc<Registry>, order: Order) -> JoinHandle<B::Output>
where
    B: Body<Output: Send> + Send + 'static,
{
    // First of all: this may panic.
    let inherited = registry.inherit();
    let spawned_at = whereabouts(registry);
    registry.retain();
    let isolated = is_isolated();
    let here = || registry.with_worker(|worker| worker.map(WorkerThread::sends));
    let way_back = WayBack::new(isolated, if isolated { here() } else { None });
    let home = PoolHome { registry: Arc::clone(registry), inherited, way_back };
    // SAFETY: the body borrows nothing; it and its result are `Send`.
    let (handle, job) = unsafe { task::new(body, home) };
    registry.with_worker(|worker| match worker {
        // SAFETY: a new reference.
        Some(worker) if order == Order::OldestFirst => unsafe { worker.push_fifo(job) },
        // SAFETY: the same.
        _ => unsafe { registry.inject_or_push(job) },
    });
    JoinHandle::new(handle, Arc::clone(registry), spawned_at)
}

impl Home for PoolHome {
    unsafe fn offer(this: *const Self, job: JobRef, again: bool) {
        // SAFETY: the caller's promise, until the job is in a queue.
        unsafe { WayBack::offer(&raw const (*this).way_back, &raw const (*this).registry, job, again) };
    }

    fn is_off(&self) -> bool {
        false
    }

    fn run<R>(&self, step: impl FnOnce() -> R) -> R {
        let step = || self.registry.run_in(&self.inherited, step);
        WorkerThread::with_current(|worker| {
            let worker = worker.expect("jobs are run by workers");
            worker.begin_other_job();
            self.way_back.is_polled_by(worker);
            worker.awaited_since(|| isolate_if(self.way_back.isolated, step)).0
        })
    }

    fn ended(self) {
        if !self.gone().is_left_behind() {
            give_up_reason();
        }
    }

    /// Its own reason to live will be that of the reference.
    fn ends_early(&self) {}

    fn ended_early(self, is_queued: bool) {
        let registry = self.gone();
        // If it was left behind, it has ended in the parent, or will.
        if !is_queued && !registry.is_left_behind() {
            registry.release();
        }
    }

    fn met() {
        give_up_reason();
    }
}

impl PoolHome {
    /// What was inherited goes with the body, also if there is still a handle.
    fn gone(self) -> Arc<Registry> {
        unwind::drop_quietly(self.inherited);
        self.registry
    }
}

/// A reference has left the queue that was the pool's reason to live.
pub(super) fn give_up_reason() {
    WorkerThread::with_current(|worker| worker.expect("jobs are run by workers").put_reason());
}

/// Where a task goes that was woken.
#[derive(Debug)]
pub(super) struct WayBack {
    /// Whether it runs in isolation, as it was spawned.
    isolated: bool,
    /// Where it comes from, to those who wait for it in isolation. Boxed, because most have none:
    /// allocators are quicker with small tasks.
    origins: Option<Box<Origins>>,
    /// The worker that has polled it last: what it has in memory may be near that one.
    polled_by: AtomicUsize,
}

const NOBODY: usize = usize::MAX;

impl WayBack {
    pub(super) fn new(isolated: bool, origins: Option<Origins>) -> Self {
        Self { isolated, origins: origins.map(Box::new), polled_by: AtomicUsize::new(NOBODY) }
    }

    pub(super) fn is_polled_by(&self, worker: &WorkerThread) {
        // ORDERING: relaxed; a hint.
        self.polled_by.store(worker.index(), Ordering::Relaxed);
    }

    /// Offers a task: in isolation, where those find it who wait for it; else to the worker that
    /// wakes it, or, if none does, to whoever has polled it last, if that one sleeps. `again`: to
    /// those who have nothing else to do.
    ///
    /// # Safety
    ///
    /// The reference must not be in any queue. It keeps what the pointers point to, until it is in
    /// one.
    pub(super) unsafe fn offer(this: *const Self, registry: *const Arc<Registry>, job: JobRef, again: bool) {
        // SAFETY: the caller's promise. Neither is used once the job is in a queue, nor is a
        // reference to it an argument of what puts it there, which must be there until the call
        // returns: hence pointers.
        let (way, id) = unsafe { (&*this, (*registry).id()) };
        // SAFETY: the same.
        if unsafe { (*registry).is_left_behind() } {
            return; // There is nobody here to run it.
        }
        let (origins, behind) = (way.origins.as_deref().copied(), again || way.isolated);
        // ORDERING: relaxed; a hint.
        let polled_by = Some(way.polled_by.load(Ordering::Relaxed)).filter(|worker| *worker != NOBODY);
        // SAFETY: the caller's promise, for each of them.
        let offer = |registry: &Registry, is_worker: bool| unsafe {
            match origins {
                Some(origins) => registry.leave_job(job, origins),
                None if !is_worker => registry.inject_for(polled_by, job),
                // On the worker's own queue it would come first, and, in isolation, seem to have
                // been made there.
                None if behind => registry.inject(job),
                None => registry.inject_or_push(job),
            }
        };
        // What the job keeps may be gone as soon as it is in the queue, and we have somebody to
        // wake. A worker keeps the registry; others do so here.
        WorkerThread::with_current(|worker| match worker.map(WorkerThread::registry) {
            Some(own) if own.id() == id => offer(own, true),
            _ => {
                // SAFETY: the caller's promise: it is in no queue yet.
                let kept = unsafe { Arc::clone(&*registry) };
                offer(&kept, false);
            }
        });
    }
}

#[cfg(all(test, target_pointer_width = "64", not(any(drowse_loom, drowse_shuttle))))]
mod tests {
    use super::*;

    /// Up to here glibc frees what another thread has allocated without a lock.
    #[test]
    fn a_task_that_captures_nothing_is_small() {
        assert!(task::size::<task::Closure<fn()>, PoolHome>() <= 120);
    }
}
