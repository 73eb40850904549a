//! Jobs from outside, and broadcasts.

use super::isolate::is_isolated;
use super::registry::Registry;
use super::worker::WorkerThread;
use crate::job::JobRef;
use drowse_sleep::PostedTo;
use drowse_sync::omittable;
use std::mem;

/// Number of jobs that are offered at once even to fewer workers. Enough for the fence and the look
/// at the sleepers to cost little per job; few enough for the first job not to wait long.
const BATCH: usize = 16;

impl Registry {
    /// Offers a job to the workers: on the calling worker's own deque, or else through the
    /// injector. `in_order`: to be begun after those that this worker has offered in order before.
    ///
    /// # Safety
    ///
    /// The reference must not be in any other queue. (If the pool has ended, the job stays in this
    /// one and never runs.)
    pub(crate) unsafe fn offer(&self, job: JobRef, in_order: bool) {
        self.with_worker(|worker| match worker {
            // SAFETY: the caller's promise.
            Some(worker) if in_order => unsafe { worker.push_fifo(job) },
            // SAFETY: the caller's promise.
            Some(worker) => unsafe { worker.push(job) },
            // SAFETY: the caller's promise.
            None => unsafe { self.inject(job) },
        });
    }

    /// Offers a spawned job as [`offer`](Self::offer) does. Spawned in isolation, it runs in
    /// isolation: a worker that holds a lock may wait for it.
    ///
    /// # Safety
    ///
    /// As for [`offer`](Self::offer).
    pub(crate) unsafe fn offer_spawned(&self, job: JobRef, in_order: bool) {
        // SAFETY: the caller's promise.
        unsafe { self.offer(job.in_isolation_if(is_isolated()), in_order) };
    }

    /// Offers all of these jobs, in their order, as [`offer`](Self::offer) would
    /// one by one, but with one post for each batch.
    ///
    /// `jobs` is the user's code: it may panic, take long, or use the pool. So it does not run
    /// between a push and its post: a batch is gathered first, then queued and posted at once. A
    /// batch is no larger than the size hint of `jobs` promises: an iterator that promises nothing
    /// may wait for something with each job, so each job is offered at once.
    ///
    /// # Safety
    ///
    /// As for [`offer`](Self::offer), for each of them.
    pub(crate) unsafe fn offer_all(&self, jobs: &mut dyn Iterator<Item = JobRef>) {
        // No smaller than the pool, so that a post can wake all sleepers: workers that were woken
        // count as searching until they have found a job, so the next post would rely on them.
        let most = self.num_threads().max(BATCH);
        let mut batch = Batch { registry: self, jobs: Vec::new() };
        loop {
            let promised = jobs.size_hint().0.clamp(1, most);
            batch.jobs.reserve(promised);
            // One by one: if `next` panics, the jobs before are in the batch, which offers them.
            for job in jobs.take(promised) {
                batch.jobs.push(job);
            }
            let is_last = batch.jobs.len() < promised;
            batch.offer();
            if is_last {
                return;
            }
        }
    }

    /// Offers a job through the injector.
    ///
    /// # Safety
    ///
    /// As for [`offer`](Self::offer).
    pub(crate) unsafe fn inject(&self, job: JobRef) {
        // SAFETY: the caller's promise.
        unsafe { self.inject_for(None, &[job]) };
    }

    /// Offers jobs through the injector, with one post that prefers to wake the worker `preferred`.
    ///
    /// # Safety
    ///
    /// As for [`offer`](Self::offer), for each of them.
    pub(crate) unsafe fn inject_for(&self, preferred: Option<usize>, jobs: &[JobRef]) {
        self.assert_here();
        if let Some(origins) = self.origins_of_caller() {
            // SAFETY: the caller's promise, for each of them.
            return jobs.iter().for_each(|job| unsafe { self.leave_job(*job, origins) });
        }
        let (count, queue_was_empty) = (jobs.len(), self.injector.is_empty());
        jobs.iter().for_each(|job| self.injector.push(*job));
        // WAKE: all workers may be asleep. The fence of `post_injected` pairs with that of a worker
        // that falls asleep: the post sees the sleeper, or the sleeper sees the jobs.
        omittable!(
            "engine/inject-no-post",
            self.sleep.post_injected(count, &Injected { queue_was_empty, preferred })
        );
    }

    /// Leaves one job for each worker: the one that `job` returns for the worker's index.
    ///
    /// # Safety
    ///
    /// As for [`offer`](Self::offer), for each of them.
    pub(crate) unsafe fn inject_broadcast(&self, job: &mut dyn FnMut(usize) -> JobRef) {
        self.assert_here();
        let isolated = |worker: &&WorkerThread| worker.is_isolated();
        let own = self.with_worker(|worker| worker.filter(isolated).map(WorkerThread::sends));
        let origins = own.or_else(|| self.origins_of_caller());
        for (worker, thread) in self.threads.iter().take(self.num_threads()).enumerate() {
            thread.broadcasts.push(job(worker), origins);
        }
        // WAKE: each worker has a job that no other worker can run.
        omittable!("engine/broadcast-no-wake", self.sleep.post_broadcast());
        // WAKE: posts do not wake workers that sleep alone. A call does:
        // `WorkerThread::sleep_alone` then lends the worker's place to a spare, which runs the job.
        omittable!("engine/broadcast-no-call", self.sleep.call_all());
    }
}

/// State of the injector, for a post.
struct Injected {
    queue_was_empty: bool,
    preferred: Option<usize>,
}

impl PostedTo for Injected {
    fn was_empty(&self) -> bool {
        self.queue_was_empty
    }

    fn preferred(&self) -> Option<usize> {
        self.preferred
    }
}

/// Jobs that will be offered together, also if the iterator that makes them panics.
struct Batch<'r> {
    registry: &'r Registry,
    /// In no queue. Each is offered once, after it has left the batch.
    jobs: Vec<JobRef>,
}

impl Batch<'_> {
    fn offer(&mut self) {
        if self.jobs.is_empty() {
            return;
        }
        // They leave the batch first: what offers them may panic, in a forked child.
        let mut jobs = mem::take(&mut self.jobs);
        self.registry.with_worker(|worker| match worker {
            // SAFETY: the promise made to `offer_all`; the jobs have left the batch.
            Some(worker) => unsafe { worker.push_all(&jobs) },
            // SAFETY: see `push_all` above.
            None => unsafe { self.registry.inject_for(None, &jobs) },
        });
        jobs.clear();
        self.jobs = jobs;
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        self.offer();
    }
}
