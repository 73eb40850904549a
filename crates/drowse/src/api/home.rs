//! Tasks that are at home in a pool.

use super::JoinHandle;
use crate::engine::{Inherited, Point, Registry, WorkerThread, is_isolated, isolate};
use crate::job::JobRef;
use crate::task::{self, Body, Home};
use drowse_sync::Arc;

/// In which order a worker begins what it has spawned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    NewestFirst,
    OldestFirst,
}

/// A pool, which a task keeps alive until its body is gone.
struct PoolHome {
    registry: Arc<Registry>,
    /// Whether it runs in isolation, as it was spawned.
    isolated: bool,
    inherited: Inherited,
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
    let spawned_at = whereabouts(registry);
    registry.retain();
    let home =
        PoolHome { registry: Arc::clone(registry), isolated: is_isolated(), inherited: registry.inherit() };
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
    unsafe fn offer(&self, job: JobRef, again: bool) {
        // Where it is pushed by whoever wakes it, in isolation, it would seem to be made there. So
        // it goes to those who have nothing else to do.
        match again || self.isolated {
            // SAFETY: the caller's promise.
            true => unsafe { self.registry.inject(job) },
            // SAFETY: the same.
            false => unsafe { self.registry.inject_or_push(job) },
        }
    }

    fn is_off(&self) -> bool {
        false
    }

    fn run(&self, step: impl FnOnce()) {
        WorkerThread::with_current(|worker| worker.into_iter().for_each(WorkerThread::begin_other_job));
        let step = || self.registry.run_in(&self.inherited, step);
        if self.isolated { isolate(step) } else { step() }
    }

    unsafe fn ended(&self, in_run: bool) {
        self.registry.with_worker(|worker| match worker {
            Some(worker) if in_run => worker.put_reason(),
            _ => self.registry.release(),
        });
    }
}
