//! Jobs from outside, and jobs for everyone.

use super::registry::Registry;
use crate::job::JobRef;
use drowse_sync::omittable;

impl Registry {
    /// Offers a job to the workers: on our own deque if we are one of them, else through the
    /// injector.
    ///
    /// # Safety
    ///
    /// The reference must not be in any other queue. (If the pool has ended, the job stays in this
    /// one and never runs.)
    pub(crate) unsafe fn inject_or_push(&self, job: JobRef) {
        self.with_worker(|worker| match worker {
            // SAFETY: the caller's promise.
            Some(worker) => unsafe { worker.push(job) },
            // SAFETY: the caller's promise.
            None => unsafe { self.inject(job) },
        });
    }

    /// Offers a job through the injector.
    ///
    /// # Safety
    ///
    /// As for [`inject_or_push`](Self::inject_or_push).
    pub(crate) unsafe fn inject(&self, job: JobRef) {
        let queue_was_empty = self.injector.is_empty();
        self.injector.push(job);
        // WAKE: the workers may all sleep. By the post's fence and that of a worker that falls
        // asleep, we see the sleeper, or it sees the job.
        omittable!("engine/inject-no-post", self.sleep.post_injected(1, &|| queue_was_empty));
    }

    /// Leaves one job for each worker.
    ///
    /// # Safety
    ///
    /// As for [`inject_or_push`](Self::inject_or_push), for each of them. There must be one job per
    /// worker.
    pub(crate) unsafe fn inject_broadcast(&self, jobs: impl ExactSizeIterator<Item = JobRef>) {
        assert_eq!(jobs.len(), self.num_threads(), "a broadcast is one job a worker");
        for (thread, job) in self.threads.iter().zip(jobs) {
            thread.broadcasts.push(job);
        }
        // WAKE: each has a job that nobody else can run.
        omittable!("engine/broadcast-no-wake", self.sleep.post_broadcast());
    }
}
