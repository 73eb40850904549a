//! Tasks that are at home in a pool.

use super::JoinHandle;
use crate::engine::{Inherited, Origins, Point, Registry, WorkerThread, is_isolated};
use crate::job::{Execute, JobRef};
use crate::task::{self, Body, Home};
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
    registry.with_worker(|worker| worker.map(WorkerThread::whereabouts))
}

/// Runs a body in a pool.
pub(super) fn spawn_task<B>(body: B, registry: &Arc<Registry>, order: Order) -> JoinHandle<B::Output>
where
    B: Body<Output: Send> + Send + 'static,
{
    // First of all: this may panic.
    let inherited = registry.inherit();
    let (spawned_at, way_back) = prepare_task(registry);
    let home = PoolHome { registry: Arc::clone(registry), inherited, way_back };
    // SAFETY: the body borrows nothing; it and its result are `Send`.
    let (handle, job) = unsafe { task::new(body, home) };
    // SAFETY: a new reference.
    unsafe {
        match order {
            Order::OldestFirst => registry.inject_or_push_fifo(job),
            Order::NewestFirst => registry.inject_or_push(job),
        }
    }
    JoinHandle::new(handle, Arc::clone(registry), spawned_at)
}

/// Takes one more reason for the pool to live on. Returns the worker of the pool that spawns the
/// task, with its point, and the way back of the task when it is woken.
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
        // SAFETY: the caller's promise, until the job is in a queue.
        unsafe { WayBack::offer(&raw const (*this).way_back, &raw const (*this).registry, job, again) };
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

    /// Its own reason to live will be that of the reference.
    fn ends_early(&self) {}

    fn ended_early(self, is_queued: bool) {
        let registry = self.gone();
        // If it was left behind, it has ended in the parent, or will.
        if !is_queued && !registry.is_left_behind() {
            registry.release();
        }
    }

    /// The reference was the pool's reason to live.
    fn met(worker: &WorkerThread) {
        worker.put_reason();
    }
}

impl PoolHome {
    /// What was inherited goes with the body, also if there is still a handle.
    fn gone(self) -> Arc<Registry> {
        drop(self.inherited);
        self.registry
    }
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
        // SAFETY: the reference is in no queue yet, so it keeps the registry.
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
