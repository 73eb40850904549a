//! How a closure gets to run on a worker.

use super::registry::Registry;
use super::worker::WorkerThread;
use crate::job::StackJob;
use crate::latch::{CrossLatch, LatchRef, LockLatch};
use crate::unwind;
use drowse_sync::Arc;

impl Registry {
    /// Runs `op` on a worker of this pool: here if this thread is one. The flag tells whether it
    /// moved to another thread.
    pub(crate) fn in_worker<OP, R>(self: &Arc<Self>, op: OP) -> R
    where
        OP: FnOnce(&WorkerThread, bool) -> R + Send,
        R: Send,
    {
        WorkerThread::with_current(|worker| match worker {
            None => self.in_worker_from_outside(op),
            Some(worker) if worker.registry().id() == self.id() => op(worker, false),
            Some(worker) => self.in_worker_from_other_pool(worker, op),
        })
    }

    /// This thread has nothing to help with: it blocks.
    #[cold]
    fn in_worker_from_outside<OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&WorkerThread, bool) -> R + Send,
        R: Send,
    {
        Self::assert_may_wait();
        with_lock_latch(|latch| {
            let job = StackJob::new(|migrated| on_this_worker(op, migrated), LatchRef::new(latch));
            // SAFETY: we wait for the job right here, so it outlives its execution; `OP` and `R`
            // are `Send`. Whoever calls us holds the pool, so it has not ended.
            unwind::or_abort(|| unsafe {
                self.inject(job.as_job_ref());
                self.wait_outside(|| latch.wait_and_reset());
            });
            // SAFETY: the latch was set.
            unsafe { job.take_result() }
        })
        .unwrap_or_else(|payload| unwind::resume_unwinding(payload))
    }

    /// This thread goes on helping its own pool.
    #[cold]
    fn in_worker_from_other_pool<OP, R>(&self, worker: &WorkerThread, op: OP) -> R
    where
        OP: FnOnce(&WorkerThread, bool) -> R + Send,
        R: Send,
    {
        let job = StackJob::new(|migrated| on_this_worker(op, migrated), CrossLatch::new(worker));
        // SAFETY: we wait for the job right here, so it outlives its execution; `OP` and `R` are
        // `Send`. Whoever calls us holds the pool, so it has not ended.
        unwind::or_abort(|| unsafe {
            self.inject(job.as_job_ref());
            worker.wait_until(job.latch.word());
        });
        // SAFETY: the latch is set.
        unsafe { job.take_result() }.unwrap_or_else(|payload| unwind::resume_unwinding(payload))
    }
}

/// Calls `op` with the worker that this thread is, now that a worker runs it.
fn on_this_worker<R>(op: impl FnOnce(&WorkerThread, bool) -> R, migrated: bool) -> R {
    WorkerThread::with_current(|worker| op(worker.expect("jobs are run by workers"), migrated))
}

drowse_sync::thread_local! {
    /// The latch that this thread blocks on, kept from one call to the next.
    static LATCH: std::cell::Cell<Option<LockLatch>> = const { std::cell::Cell::new(None) };
}

/// Calls `f` with this thread's latch, not set. `f` must leave it like that.
fn with_lock_latch<R>(f: impl FnOnce(&LockLatch) -> R) -> R {
    // Taken out while in use. A thread that is about to exit may no longer have one.
    let latch = LATCH.try_with(std::cell::Cell::take).ok().flatten().unwrap_or_else(LockLatch::new);
    let result = f(&latch);
    let _ = LATCH.try_with(|kept| kept.set(Some(latch)));
    result
}
