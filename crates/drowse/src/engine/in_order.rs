//! Fifos in isolation: an isolated worker runs the jobs of a fifo oldest first.
//!
//! Outside of isolation a [fifo](JobFifo) is enough: the deque holds references to it, and each
//! reference stands for the oldest job that is left. In isolation each reference must stand for one
//! job: a waiting worker may run only jobs from a position of its deque on, and other workers must
//! know which job was stolen from there.
//!
//! So the deque holds a [`Placeholder`] for each job. A thief takes the oldest one, as always. The
//! worker itself pops the newest one. It then looks for the oldest job of the same fifo from the
//! position on, takes that out of its placeholder, and pushes the newest one back. The emptied
//! placeholder stays where it is until it is popped or stolen. So all other jobs keep their
//! positions, and can be stolen.

use super::placeholders::Queued;
use super::worker::WorkerThread;
use crate::job::{JobFifo, JobRef, Placeholder};
use drowse_sync::{Arc, omittable};

impl WorkerThread {
    /// Offers a job to all workers, as [`push`](Self::push) does. The worker itself runs it after
    /// those that were offered before with this `fifo`, if it may run those.
    ///
    /// # Safety
    ///
    /// As for [`push`](Self::push).
    pub(super) unsafe fn push_in_order(&self, fifo: *const JobFifo, job: JobRef) {
        // SAFETY: the caller's promise.
        let placeholder = unsafe { Placeholder::new(job) };
        let (position, reference) = (self.position(), Placeholder::reference(&placeholder));
        let queued = Queued { position, fifo, placeholder, reference };
        self.isolated.in_order.lists(position).queued.push_back(queued);
        self.isolated.in_order.is_used.set(true);
        // SAFETY: the reference is new, and in no queue.
        unsafe { self.push(reference) };
    }

    /// Takes the newest job of the worker's own deque, unless it was pushed before `since`. If it
    /// belongs to a fifo, takes the oldest job of that fifo from `since` on.
    #[inline]
    pub(super) fn pop_in_order(&self, since: i64) -> Option<JobRef> {
        let position = self.position() - 1;
        let word = self.deque.pop_since(since)?;
        // SAFETY: what is in the deque was put there by `push`, and has left it now.
        let newest = unsafe { JobRef::from_word(word) };
        if self.isolated.in_order.is_used() {
            Some(self.oldest_of_fifo(newest, position, since))
        } else {
            Some(newest)
        }
    }

    /// Returns the job to run when `newest` was popped at `position`.
    #[cold]
    fn oldest_of_fifo(&self, newest: JobRef, position: i64, since: i64) -> JobRef {
        // If `newest` was the last item, thieves have all others, and a push would move it.
        let is_last = self.position() != position;
        let older = if is_last {
            None
        } else {
            self.isolated.in_order.lists(position + 1).take_older(newest, position, since)
        };
        if let Some(job) = older {
            // WAKE: a worker that falls asleep may have looked while `newest` was popped. `push`
            // treats it as a new job: it sees that worker, or the worker sees the job.
            // The job goes to the same position: `pop_since` has left the end of the deque there.
            // SAFETY: it was popped just now.
            let push = || unsafe { self.push(newest) };
            omittable!("fifo/not-pushed-back", push());
            return job;
        }
        self.take_back_emptied();
        newest
    }

    /// Removes empty placeholders at the end of the deque, and forgets those that thieves executed.
    fn take_back_emptied(&self) {
        let mut lists = self.isolated.in_order.lists(self.position());
        while let Some(Queued { placeholder, reference, .. }) = lists.emptied.last() {
            if Arc::strong_count(placeholder) > 1 {
                if !self.take_back(*reference) {
                    break;
                }
                // SAFETY: it was in the deque until now. Its empty placeholder runs nothing.
                unsafe { reference.execute(self) };
            }
            lists.emptied.pop();
        }
        self.isolated.in_order.is_used.set(!lists.queued.is_empty() || !lists.emptied.is_empty());
    }
}
