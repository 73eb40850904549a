//! Tasks that are at home in a pool.

use super::JoinHandle;
use crate::engine::{Inherited, Point, Registry, WorkerThread, is_isolated, isolate};
use crate::job::JobRef;
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
    /// Whether it runs in isolation, as it was spawned.
    isolated: bool,
    inherited: Inherited,
    polled_by: PolledBy,
}

/// The worker that has polled a task last: what the task has in memory may be near that one.
#[derive(Debug)]
pub(super) struct PolledBy(AtomicUsize);

const NOBODY: usize = usize::MAX;

impl PolledBy {
    pub(super) fn nobody() -> Self {
        Self(AtomicUsize::new(NOBODY))
    }

    pub(super) fn set(&self, worker: &WorkerThread) {
        // ORDERING: relaxed; a hint.
        self.0.store(worker.index(), Ordering::Relaxed);
    }

    pub(super) fn get(&self) -> Option<usize> {
        // ORDERING: relaxed; a hint.
        Some(self.0.load(Ordering::Relaxed)).filter(|worker| *worker != NOBODY)
    }
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
    let home = PoolHome {
        registry: Arc::clone(registry),
        isolated: is_isolated(),
        inherited,
        polled_by: PolledBy::nobody(),
    };
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
        let (isolated, polled_by) = unsafe { ((*this).isolated, (*this).polled_by.get()) };
        // SAFETY: the same.
        unsafe { offer_woken(&raw const (*this).registry, job, again || isolated, polled_by) };
    }

    fn is_off(&self) -> bool {
        false
    }

    fn run<R>(&self, step: impl FnOnce() -> R) -> R {
        let step = || self.registry.run_in(&self.inherited, step);
        WorkerThread::with_current(|worker| {
            let worker = worker.expect("jobs are run by workers");
            worker.begin_other_job();
            self.polled_by.set(worker);
            worker.awaited_since(|| if self.isolated { isolate(step) } else { step() }).0
        })
    }

    unsafe fn ended(&self, in_run: bool) {
        if self.registry.is_left_behind() {
            return; // It has ended in the parent, or will.
        }
        self.registry.with_worker(|worker| match worker {
            Some(worker) if in_run => worker.put_reason(),
            _ => self.registry.release(),
        });
    }
}

/// Offers a task that was woken, to whoever has polled it last, if that one sleeps.
///
/// `behind`: not on the worker's own queue, where it would come first, and, in isolation, seem to
/// have been made there; but to those who have nothing else to do.
///
/// # Safety
///
/// The reference must not be in any queue. It keeps what `registry` points to, until it is in one.
pub(super) unsafe fn offer_woken(
    registry: *const Arc<Registry>,
    job: JobRef,
    behind: bool,
    polled_by: Option<usize>,
) {
    // SAFETY: the caller's promise. It is not used once the job is in a queue: hence a pointer.
    let registry = unsafe { &*registry };
    if registry.is_left_behind() {
        return; // There is nobody here to run it.
    }
    let is_worker = registry.with_worker(|worker| worker.is_some());
    if !is_worker {
        // What the job keeps may be gone as soon as it is in the queue, and we have somebody to
        // wake.
        let registry = Arc::clone(registry);
        // SAFETY: the caller's promise.
        return unsafe { registry.inject_for(polled_by, job) };
    }
    WorkerThread::with_current(|worker| {
        // The same registry, which the worker keeps.
        let registry = worker.expect("as we have seen").registry();
        match behind {
            // SAFETY: the caller's promise.
            true => unsafe { registry.inject(job) },
            // SAFETY: the same.
            false => unsafe { registry.inject_or_push(job) },
        }
    });
}
