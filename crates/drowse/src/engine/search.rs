//! Queues in which a worker looks for jobs: its own, the pool's, and the last victim's.

use super::lineage::Found;
use super::parcels::Waiter;
use super::worker::WorkerThread;
use crate::deque::{ANY, Steal};
use crate::job::JobRef;

impl WorkerThread {
    /// Takes a job of the worker's own: from its deque, or a letter.
    pub(super) fn take_local_job(&self) -> Option<Found> {
        let job = if self.registry.oldest_first {
            self.steal_from_itself()
        } else {
            self.pop_in_order(ANY)
        };
        job.map_or_else(|| self.take_letter(), |job| Some(job.into()))
    }

    /// Takes a job of the worker's own; after many jobs from deques, first one from no deque.
    pub(super) fn take_local_job_fairly(&self) -> Option<Found> {
        if self.fairness.take_turn_of_others() {
            if let Some(job) = self.take_job_from_no_deque(true) {
                return Some(job);
            }
        }
        self.take_local_job().inspect(|_| self.fairness.count_deque_job())
    }

    /// Takes a letter, a job from outside if `from_outside`, or a returned job. Each call begins
    /// with another kind, since none of the queues may ever become empty.
    pub(super) fn take_job_from_no_deque(&self, from_outside: bool) -> Option<Found> {
        let first = self.fairness.advance_kind();
        (first..first + 3).find_map(|kind| self.take_job_of_kind(kind % 3, from_outside))
    }

    #[inline(never)]
    fn take_job_of_kind(&self, kind: u32, from_outside: bool) -> Option<Found> {
        match kind {
            0 => self.take_letter(),
            1 if from_outside => self.take_injected_job().map(Found::from),
            1 => None,
            _ => self.take_returned_job(),
        }
    }

    /// Takes a returned job: one stolen by mistake in isolation, or left for an isolated worker.
    pub(super) fn take_returned_job(&self) -> Option<Found> {
        if self.registry.is_left_behind() {
            return None; // See `take_letter_of`.
        }
        self.registry.isolation.returned.take(None)
    }

    /// Takes a job that a broadcast has left for this worker.
    fn take_letter(&self) -> Option<Found> {
        self.take_letter_of(None)
    }

    /// Takes the first of these letters.
    ///
    /// Returns `None` in a forked child: no thread leaves letters there, and a thread of the parent
    /// may have held the lock when the process forked.
    pub(super) fn take_letter_of(&self, by: Option<&dyn Waiter>) -> Option<Found> {
        if self.registry.is_left_behind() {
            return None;
        }
        self.registry.threads[self.place()?].broadcasts.take(by)
    }

    pub(super) fn has_letter(&self) -> bool {
        self.place().is_some_and(|place| self.registry.has_letter(place))
    }

    /// Takes a job where the worker found one before, if that is cheap: from outside, in the main
    /// loop; or from the last victim. So not every job takes a search, which changes shared counts.
    ///
    /// Jobs of workers come before jobs from outside: a worker may wait for its own in a way that
    /// drowse does not know.
    pub(super) fn take_next_job(&self, is_main_loop: bool) -> Option<Found> {
        if self.registry.is_left_behind() || !self.fairness.try_count_job_elsewhere() {
            return None;
        }
        let is_next = is_main_loop
            && (!self.registry.injector.is_empty() || self.registry.isolation.returned.are_there())
            && !self.others_have_jobs();
        let next = if is_next { self.take_job_from_no_deque(true) } else { None };
        next.or_else(|| self.steal_again())
    }

    pub(super) fn take_injected_job(&self) -> Option<JobRef> {
        if self.registry.is_left_behind() {
            return None; // See `take_letter_of`. The parent runs these jobs.
        }
        let job = self.registry.injector.pop();
        if job.is_some() {
            self.meter().injected.add_mine(1);
            self.registry.probe.took_injected(self.index());
        }
        job
    }

    /// Runs the worker's own jobs until there are none.
    pub(super) fn run_local_jobs(&self) {
        let _loop = self.begin_loop();
        while let Some(found) = self.take_local_job() {
            self.run_local(found);
        }
    }

    /// Takes the oldest item of the worker's own deque, in the way of a thief.
    #[inline(never)]
    pub(super) fn steal_from_itself(&self) -> Option<JobRef> {
        while !self.deque.is_empty() {
            // If the theft fails after this, a thief has taken an item.
            self.deque.share();
            if let Steal::Success(word) = self.registry.threads[self.index()].stealer.steal() {
                // SAFETY: `push` has put this word into the deque, and it has left it now.
                return Some(unsafe { JobRef::from_word(word) });
            }
        }
        None
    }
}
