//! Where a worker looks for jobs.

use super::isolate::Found;
use super::lineage::Origin;
use super::steal::ANY;
use super::worker::WorkerThread;
use crate::TraceEvent;
use crate::deque::Steal;
use crate::job::JobRef;

/// After this many jobs from deques a worker first looks at what does not come through deques: its
/// letters and the injector. So neither starves behind work that never ends.
const DEQUE_STREAK: u32 = 64;

/// After this many jobs from elsewhere in a row a worker searches anew: some of those that it has
/// not looked at may wait for help, and others may have to be woken for the rest.
const STREAK_ELSEWHERE: u32 = 64;

/// What was in the queues of a worker that waits for a job which it has pushed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Above {
    /// The job itself. It is the caller's now.
    Awaited,
    /// Another one, which has run.
    Other,
    Nothing,
}

impl WorkerThread {
    /// A job of our own: from the deque, or left here by a broadcast.
    pub(super) fn take_local_job(&self) -> Option<Found> {
        let job = if self.registry.oldest_first { self.steal_from_itself() } else { self.pop_in_order(ANY) };
        job.map_or_else(|| self.take_letter(), |job| Some(job.into()))
    }

    /// A job of our own; or, after many jobs from deques in a row, one that is in no deque.
    pub(super) fn take_local_job_fairly(&self) -> Option<Found> {
        if self.deque_streak.get() >= DEQUE_STREAK {
            self.deque_streak.set(0);
            if let Some(job) = self.take_job_from_no_deque() {
                return Some(job);
            }
        }
        self.take_local_job().inspect(|_| self.count_deque_job())
    }

    /// Takes a job as above, and runs it, unless it is the one that the caller has pushed and waits
    /// for, at this `position`. In isolation it takes nothing that is older than that one.
    pub(crate) fn run_job_above(&self, awaited: JobRef, position: i64) -> Above {
        let found = match self.is_isolated() {
            false => self.take_local_job_fairly(),
            true => self.pop_in_order(position).map(Found::from),
        };
        match found {
            None => Above::Nothing,
            Some(found) if found.job == awaited => Above::Awaited,
            Some(found) => {
                self.run_local(found);
                Above::Other
            }
        }
    }

    /// A letter, a job from outside, or one that was returned: one kind before the others, and
    /// another one the next time.
    fn take_job_from_no_deque(&self) -> Option<Found> {
        let take = |kind| match kind % 3 {
            0 => self.take_letter(),
            1 => self.take_injected_job().map(Found::from),
            _ => self.take_returned_job(),
        };
        let first = self.next_kind();
        (first..first + 3).find_map(take)
    }

    /// A job from outside, if that is wanted, or one that was returned: in turns, since neither may
    /// come to an end.
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

    /// One that somebody has found and may not run, or that was left for whoever may.
    pub(super) fn take_returned_job(&self) -> Option<Found> {
        if self.registry.is_left_behind() {
            return None; // As for letters.
        }
        self.registry.returned.take_if(|_| true)
    }

    /// A job that a broadcast has left here.
    fn take_letter(&self) -> Option<Found> {
        self.take_letter_if(|_| true)
    }

    /// The same, if it comes from where it may.
    ///
    /// In a forked child nobody leaves any, and whoever was about to would be waited for.
    pub(super) fn take_letter_if(&self, may_run: impl Fn(Option<Origin>) -> bool) -> Option<Found> {
        if self.registry.is_left_behind() {
            return None;
        }
        self.registry.threads[self.place()?].broadcasts.take_if(may_run)
    }

    pub(super) fn has_letter(&self) -> bool {
        self.place().is_some_and(|place| self.registry.has_letter(place))
    }

    pub(super) fn count_deque_job(&self) {
        self.deque_streak.set(self.deque_streak.get().saturating_add(1));
    }

    /// The next job from where others were, if that is easy to have: from outside, for a worker in
    /// its main loop, or from whom it stole last. Where jobs come one after the other, nobody needs
    /// to be told each time that it begins to search, and that it stops.
    ///
    /// What workers have pushed comes before what comes from outside: they may wait for it in a way
    /// that we know nothing of.
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
            return None; // As for letters. And what is there the parent runs.
        }
        let job = self.registry.injector.pop();
        if job.is_some() {
            self.meter().injected.add_mine(1);
            self.trail().found_outside();
            self.registry.record(TraceEvent::TookInjected);
        }
        job
    }

    /// Runs the jobs of our own until there are none.
    pub(super) fn run_local_jobs(&self) {
        while let Some(found) = self.take_local_job() {
            self.run_local(found);
        }
        self.settle();
    }

    /// The oldest item of our own deque, taken as a thief would.
    pub(super) fn steal_from_itself(&self) -> Option<JobRef> {
        while !self.deque.is_empty() {
            // After that, if we do not get an item, somebody else has taken one.
            self.deque.share();
            if let Steal::Success(word) = self.registry.threads[self.index()].stealer.steal() {
                // SAFETY: what is in the deque was put there by `push`, and has left it now.
                return Some(unsafe { JobRef::from_word(word) });
            }
        }
        None
    }
}
