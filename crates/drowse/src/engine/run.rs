//! Running jobs: what a worker does around a job that it has taken from a queue.

use super::lineage::Found;
use super::worker::WorkerThread;
use crate::job::JobRef;
use drowse_sync::{faulty, look};

impl WorkerThread {
    /// Returns `true` if it runs jobs while it waits, and so may be in the middle of a job.
    pub(crate) fn is_helping(&self) -> bool {
        self.depth.waits.get() > 0
    }

    /// Runs a job of its own, a letter, or a returned job, which was taken just now.
    #[inline(never)]
    pub(super) fn run_local(&self, found: Found) {
        let is_from_elsewhere = found.origin.is_some_and(|origin| origin.worker != self.index());
        if is_from_elsewhere { self.run_found(found) } else { self.run_own(found.job) }
    }

    /// Runs a job of its own that was taken from its queue just now.
    pub(super) fn run_own(&self, job: JobRef) {
        let floor = self.isolated.floor.replace(self.position());
        // SAFETY: the caller has taken it from a queue just now.
        unsafe { job.execute(self) };
        self.isolated.floor.set(floor);
    }

    /// Runs a job that was found elsewhere, in isolation if its origin requires that.
    pub(super) fn run_found(&self, found: Found) {
        let has_ancestors = self.registry.has_ancestors();
        let _branch = if has_ancestors { self.branch_of(found.origin) } else { None };
        match found.origin {
            Some(origin) if look!("isolate/not-inherited", self.registry.is_isolated(origin)) => {
                self.run_isolated(found.job, origin);
            }
            _ => self.run_apart(found.job),
        }
    }

    /// Runs a job that has nothing to do with those below it on the stack.
    fn run_apart(&self, job: JobRef) {
        let floor = self.isolated.floor.replace(self.position());
        // `yield_now` can run an unrelated job on top of an isolated one: hide our descent.
        let before = faulty!("isolate/shows-descent", self.lineage().begin_other(), None);
        self.run_recorded(job);
        if before.is_some() {
            self.go_back_to(before);
        }
        self.isolated.floor.set(floor);
    }

    /// Runs a job, and records when in the trail and in the trace.
    pub(super) fn run_recorded(&self, job: JobRef) {
        let before = self.registry.probe.begin_job(self.index());
        // SAFETY: our callers have taken it from a queue just now.
        unsafe { job.execute(self) };
        self.registry.probe.end_job(self.index(), before);
    }

    /// Begins a loop in which the worker runs jobs on top of what is on its stack.
    pub(super) fn begin_loop(&self) -> JobLoop<'_> {
        self.depth.waits.set(self.depth.waits.get() + 1);
        JobLoop { worker: self }
    }
}

/// Guard of a loop that runs jobs, also of one job: settles when the loop is left, for code that
/// may be part of any job.
pub(super) struct JobLoop<'w> {
    worker: &'w WorkerThread,
}

impl Drop for JobLoop<'_> {
    #[inline]
    fn drop(&mut self) {
        self.worker.depth.waits.set(self.worker.depth.waits.get() - 1);
        self.worker.settle();
    }
}
