//! Pushes to the deque of a worker, and posts of what it has pushed.

use super::worker::WorkerThread;
use crate::deque::{Owner, Pushed};
use crate::job::{JobFifo, JobHeader, JobRef};
use drowse_sleep::PostedTo;
use drowse_sync::omittable;

/// Does what is due after a push that left the fast path. Returns `true` if the next push must
/// leave it too, because a worker sleeps.
pub(super) fn after_slow_push(deque: &Owner<JobHeader>, posts: bool) -> bool {
    WorkerThread::with_current(|worker| {
        let Some(worker) = worker else { return false };
        let registry = worker.registry();
        if registry.has_isolated() {
            registry.call_waiters_of(worker.index());
        }
        if posts {
            // WAKE: a worker that counted itself as sleeping before our push is seen now: its
            // `fence_against_posts` pairs with the fence of the push.
            omittable!("engine/push-no-post", registry.sleep.post(1, deque.pushed()));
        }
        registry.sleep.has_sleepers()
    })
}

impl WorkerThread {
    /// Pushes a job that any worker may take, including this one.
    ///
    /// # Safety
    ///
    /// The reference must not be in any other queue.
    #[inline]
    pub(crate) unsafe fn push(&self, job: JobRef) {
        // WAKE: a worker that falls asleep lowers our limit (`Callbacks::alert`), executes a heavy
        // fence, and looks at the queues. Either this push sees the limit, and `after_slow_push`
        // posts, or that worker sees the job.
        self.deque.push(job.into_word());
    }

    /// Pushes jobs as [`push`](Self::push) does, but with one post for all.
    ///
    /// # Safety
    ///
    /// As for [`push`](Self::push), for each of them.
    pub(crate) unsafe fn push_all(&self, jobs: &[JobRef]) {
        // Each push executes a fence of its own, light or full. So the last one speaks for all.
        jobs.iter().for_each(|job| self.deque.push_one_of_many(job.into_word()));
        let (last, count) = (self.deque.pushed(), jobs.len());
        // WAKE: a worker that falls asleep either sees the jobs, as in `push`, or is seen by this
        // post, which wakes as many workers as are needed beyond those that search.
        omittable!(
            "engine/push-all-no-post",
            self.registry().sleep.post(count, &PushedAll { last, count })
        );
    }

    /// Pushes a job that is run after those that this function has pushed before.
    ///
    /// # Safety
    ///
    /// As for [`push`](Self::push).
    pub(crate) unsafe fn push_fifo(&self, job: JobRef) {
        // SAFETY: the fifo is in the registry, which every worker that may execute the reference
        // holds.
        unsafe { self.push_to(&self.registry().threads[self.index()].fifo, job) };
    }

    /// Pushes a job that is run after the jobs that this worker has pushed with `fifo` before. In
    /// isolation the job is not put into the fifo, whose oldest job may be from outside the region.
    ///
    /// # Safety
    ///
    /// As for [`push`](Self::push); and the fifo must live until the job has run.
    pub(crate) unsafe fn push_to(&self, fifo: &JobFifo, job: JobRef) {
        // Jobs that are left from a region that is over come first, unless the fifo has older ones.
        if self.is_isolated() || (self.isolated.in_order.is_used() && fifo.is_empty()) {
            // SAFETY: the caller's promise.
            return unsafe { self.push_in_order(fifo, job) };
        }
        // SAFETY: the caller's promise.
        let reference = unsafe { fifo.push(job) };
        // SAFETY: the fifo has made this reference for the job just now, so it is in no queue.
        unsafe { self.push(reference) };
    }

    /// Ends the push of a join's second half that left the fast path. Returns the job's position:
    /// the job may have been popped and pushed again, after others.
    #[cold]
    pub(crate) fn pushed_half_slow(&self) -> i64 {
        let has_ended = self.registry().callers.insist() && self.give_a_turn();
        if !has_ended {
            self.deque.pushed_slow(true);
        }
        self.deque.position() - 1
    }

    /// Takes back a job that was pushed, if it is still the newest in the deque.
    #[cold]
    #[must_use]
    pub(crate) fn take_back(&self, job: JobRef) -> bool {
        self.deque.take_back(job.into_word())
    }

    /// Does the rest of taking back the job at this position, which is not private.
    #[cold]
    #[must_use]
    pub(crate) fn take_back_slow(&self, position: i64) -> bool {
        self.deque.pop_slow(position)
    }
}

/// A worker posts a job that it has pushed just now: see [`Pushed`]. For several jobs there is
/// [`PushedAll`].
impl<T> PostedTo for Pushed<T> {
    fn was_empty(&self) -> bool {
        self.owner().len() <= 1
    }

    /// A woken worker would have to ask for private jobs, and the owner may not push again for a
    /// long time.
    fn expect_thieves(&self) {
        self.owner().share();
    }
}

/// Several jobs that a worker has pushed, to be posted at once.
struct PushedAll<'a, T> {
    last: &'a Pushed<T>,
    count: usize,
}

impl<T> PostedTo for PushedAll<'_, T> {
    /// Judges by what is visible: thieves may have taken older jobs meanwhile, and then there is no
    /// backlog.
    fn was_empty(&self) -> bool {
        self.last.owner().len() <= self.count
    }

    fn expect_thieves(&self) {
        self.last.expect_thieves();
    }
}

#[cfg(all(test, not(any(drowse_loom, drowse_shuttle))))]
mod tests {
    use super::*;
    use crate::deque;
    use drowse_sync::LightFences;
    use std::ptr::NonNull;

    #[test]
    fn a_queue_was_empty_if_it_holds_no_more_than_was_posted() {
        let (owner, _stealer) = deque::new::<u8>(0, 4, LightFences::prepare());
        let push = || owner.push(NonNull::dangling());
        assert!(push().was_empty());
        assert!(!push().was_empty(), "one more than was posted");
        let last = push();
        assert!(!PushedAll { last, count: 1 }.was_empty());
        assert!(!PushedAll { last, count: 2 }.was_empty());
        assert!(PushedAll { last, count: 3 }.was_empty());
    }
}
