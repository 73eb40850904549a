//! Where a worker looks for jobs.

use super::worker::WorkerThread;
use crate::TraceEvent;
use crate::deque::{Owner, Steal, Stealer};
use crate::job::{JobHeader, JobRef};
use std::ptr::NonNull;

/// After so many jobs from its own deque a worker looks into the injector first, so that what comes from
/// outside does not starve behind local work that never ends.
const LOCAL_STREAK: u32 = 64;

/// How often a thief asks for jobs that are private to their owner before it takes them by force. That costs both as much as all the asking,
/// and an owner that pushes at all has answered by then.
const ASKS: u32 = if cfg!(any(drowse_loom, drowse_shuttle)) { 1 } else { 10 };

/// What a thief comes home with.
enum Loot {
    Job(JobRef),
    /// There are jobs, which their owners were asked for.
    Promise,
    Nothing,
}

impl WorkerThread {
    /// A job of our own: from the deque, or left here by a broadcast.
    pub(crate) fn take_local_job(&self) -> Option<JobRef> {
        let own = &self.registry.threads[self.index()];
        let word =
            if self.registry.oldest_first { oldest(&self.deque, &own.stealer) } else { self.deque.pop() };
        match word {
            // SAFETY: what is in the deque was put there by `push`, and has left it now.
            Some(word) => Some(unsafe { JobRef::from_word(word) }),
            None => own.broadcasts.pop(),
        }
    }

    /// A job of our own; or, after many of them in a row, one from outside.
    pub(super) fn take_local_job_fairly(&self) -> Option<JobRef> {
        let mut streak = self.local_streak.get();
        if streak >= LOCAL_STREAK {
            streak = 0;
            self.local_streak.set(0);
            if let Some(job) = self.take_injected_job() {
                return Some(job);
            }
        }
        let job = self.take_local_job();
        self.local_streak.set(if job.is_some() { streak + 1 } else { 0 });
        job
    }

    /// A job from wherever there is one. Gives up on those that are hard to get if `enough` says so.
    pub(crate) fn find_work(&self, enough: impl Fn() -> bool) -> Option<JobRef> {
        if let Some(job) = self.take_local_job() {
            return Some(job);
        }
        for _ in 0..ASKS {
            match self.steal(Stealer::steal) {
                Loot::Job(job) => return Some(job),
                Loot::Nothing => return self.take_injected_job(),
                Loot::Promise => {
                    if let Some(job) = self.take_injected_job() {
                        return Some(job);
                    }
                }
            }
            if enough() {
                return None;
            }
        }
        match self.steal(Stealer::steal_by_force) {
            Loot::Job(job) => Some(job),
            Loot::Promise | Loot::Nothing => self.take_injected_job(),
        }
    }

    fn take_injected_job(&self) -> Option<JobRef> {
        let job = self.registry.injector.pop();
        if job.is_some() {
            self.meter().injected.add_mine(1);
            self.registry.record(TraceEvent::TookInjected);
        }
        job
    }

    /// A job of another worker's, taken with `take`. Begins at a random one, so that thieves spread.
    fn steal(&self, take: impl Fn(&Stealer<JobHeader>) -> Steal<NonNull<JobHeader>>) -> Loot {
        let threads = &self.registry.threads;
        let mut loot = Loot::Nothing;
        loop {
            let mut lost_a_race = false;
            let start = self.rng.below(threads.len());
            for victim in (start..threads.len()).chain(0..start).filter(|victim| *victim != self.index()) {
                match take(&threads[victim].stealer) {
                    Steal::Success(word) => {
                        self.meter().steals.add_mine(1);
                        self.registry.record(TraceEvent::Stole { from: victim });
                        // SAFETY: what is in a deque was put there by `push`, and has left it now.
                        return Loot::Job(unsafe { JobRef::from_word(word) });
                    }
                    // Somebody else got on; look there again, but look elsewhere first.
                    Steal::Retry => lost_a_race = true,
                    Steal::Asked => loot = Loot::Promise,
                    Steal::Empty => {}
                }
            }
            if !lost_a_race {
                return loot;
            }
        }
    }

    /// Runs the jobs of our own until there is none.
    pub(super) fn run_local_jobs(&self) {
        while let Some(job) = self.take_local_job() {
            // SAFETY: taken from a queue just now.
            unsafe { self.execute(job) };
        }
    }
}

/// The oldest item of our own deque, taken as a thief would.
fn oldest(deque: &Owner<JobHeader>, stealer: &Stealer<JobHeader>) -> Option<NonNull<JobHeader>> {
    loop {
        deque.share();
        match stealer.steal() {
            Steal::Success(word) => return Some(word),
            Steal::Retry | Steal::Asked => {}
            Steal::Empty => return None,
        }
    }
}
