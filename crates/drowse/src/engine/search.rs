//! Queues in which a worker looks for jobs: its own, the pool's, and the last victim's.

use super::parcels::Which;
use super::run::Found;
use super::steal::ANY;
use super::worker::WorkerThread;
use crate::deque::Steal;
use crate::job::JobRef;

/// Jobs from deques after which a worker first looks at queues that are no deques: its letters, the
/// injector, returned jobs. So these do not starve behind work that never ends.
const DEQUE_STREAK: u32 = 64;

/// Jobs from elsewhere in a row after which a worker searches anew: workers that it has not looked
/// at may need help, and sleepers may have to be woken for the rest.
const STREAK_ELSEWHERE: u32 = 64;

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
        if self.deque_streak.get() >= DEQUE_STREAK {
            self.deque_streak.set(0);
            if let Some(job) = self.take_job_from_no_deque() {
                return Some(job);
            }
        }
        self.take_local_job().inspect(|_| self.count_deque_job())
    }

    /// Counts a job from the worker's deque. Returns `false` instead if it is the turn of queues
    /// that are no deques.
    pub(super) fn try_count_deque_job(&self) -> bool {
        let may_take = self.deque_streak.get() < DEQUE_STREAK;
        if may_take {
            self.count_deque_job();
        }
        may_take
    }

    /// Takes a letter, a job from outside, or a returned job. Each call begins with another kind.
    fn take_job_from_no_deque(&self) -> Option<Found> {
        let take = |kind| match kind % 3 {
            0 => self.take_letter(),
            1 => self.take_injected_job().map(Found::from),
            _ => self.take_returned_job(),
        };
        let first = self.next_kind();
        (first..first + 3).find_map(take)
    }

    /// Takes a job from outside, if `from_outside`, or a returned job; alternates, since neither
    /// queue may ever become empty.
    pub(super) fn take_outside_or_returned_job(&self, from_outside: bool) -> Option<Found> {
        let injected = || from_outside.then(|| self.take_injected_job()).flatten().map(Found::from);
        match self.registry.returned.are_there() && self.next_kind() % 2 == 0 {
            true => self.take_returned_job().or_else(injected),
            false => injected().or_else(|| self.take_returned_job()),
        }
    }

    fn next_kind(&self) -> u32 {
        self.next_kind.replace(self.next_kind.get().wrapping_add(1) % 6)
    }

    /// Takes a returned job: one stolen by mistake in isolation, or left for an isolated worker.
    pub(super) fn take_returned_job(&self) -> Option<Found> {
        if self.registry.is_left_behind() {
            return None; // See `take_letter_of`.
        }
        self.registry.returned.take(Which::Any)
    }

    /// Takes a job that a broadcast has left for this worker.
    fn take_letter(&self) -> Option<Found> {
        self.take_letter_of(Which::Any)
    }

    /// Takes the first of these letters.
    ///
    /// Returns `None` in a forked child: no thread leaves letters there, and a thread of the parent
    /// may have held the lock when the process forked.
    pub(super) fn take_letter_of(&self, which: Which<'_>) -> Option<Found> {
        if self.registry.is_left_behind() {
            return None;
        }
        self.registry.threads[self.place()?].broadcasts.take(which)
    }

    pub(super) fn has_letter(&self) -> bool {
        self.place().is_some_and(|place| self.registry.has_letter(place))
    }

    pub(super) fn count_deque_job(&self) {
        self.deque_streak.set(self.deque_streak.get().saturating_add(1));
    }

    /// Takes a job where the worker found one before, if that is cheap: from outside, in the main
    /// loop; or from the last victim. So not every job takes a search, which changes shared counts.
    ///
    /// Jobs of workers come before jobs from outside: a worker may wait for its own in a way that
    /// drowse does not know.
    pub(super) fn take_next_job(&self, is_main_loop: bool) -> Option<Found> {
        let streak = self.streak_elsewhere.get();
        if streak >= STREAK_ELSEWHERE || self.registry.is_left_behind() {
            return None;
        }
        self.streak_elsewhere.set(streak + 1);
        let is_next = is_main_loop
            && (!self.registry.injector.is_empty() || self.registry.returned.are_there())
            && !self.others_have_jobs();
        let next = if is_next { self.take_outside_or_returned_job(true) } else { None };
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
