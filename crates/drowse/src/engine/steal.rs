//! Stealing: how a worker gets jobs from the deques of other workers.
//!
//! A thief takes jobs from the public part of a deque. If all jobs are private, the next step
//! depends on the owner:
//!
//! - The owner has no light fences. The thief publishes half of the jobs itself, with a full fence
//!   (`Stealer::steal_since`).
//! - The owner has light fences. The thief *asks* it to publish some (`Stealer::ask`), which the
//!   owner's next push does (`Owner::share`). After some rounds with a request the thief uses
//!   *force*: it publishes half of them itself, with a heavy fence
//!   (`Stealer::steal_by_force_since`).

use super::lineage::{Found, Origin};
use super::worker::WorkerThread;
use crate::deque::{ANY, Steal, Stealer};
use crate::job::JobHeader;
use drowse_sleep::LatchWord;
use drowse_sync::{HEAVY_FENCES_ARE_DEAR, faulty, hint};
use std::ptr::NonNull;

/// `true` if a thief asks many times before it uses force: force costs tens of microseconds where a
/// heavy fence is a system call. Elsewhere, and in models, it asks once, or twice while it finds
/// other jobs.
const FORCE_IS_DEAR: bool = HEAVY_FENCES_ARE_DEAR;

/// Rounds with a request (`Thief::rounds`) after which a thief that has found no job uses force.
/// That many requests take about as long as force does, and an owner that pushes has answered by
/// then.
const PATIENCE: u32 = if FORCE_IS_DEAR { 10 } else { 1 };

/// Rounds with a request after which a thief uses force though it finds other jobs in between.
const PATIENCE_OF_THE_BUSY: u32 = if FORCE_IS_DEAR { 64 } else { 2 };

/// Returns the number of times that a thief looks for an answer before its next round.
fn most_looks() -> u32 {
    if FORCE_IS_DEAR { 20 } else { 0 }
}

/// Result of one round over the deques of all other workers.
enum Attempt {
    Job(Found),
    /// This worker has jobs, and the thief got none of them: they are private, and the worker was
    /// asked to publish some; or another thief was quicker, or is publishing some.
    TryAgain(usize),
    Nothing,
}

impl WorkerThread {
    /// Returns a job from any queue; one from outside only if `from_outside`. If it gets none, and
    /// other deques have jobs, it tries again. `None`: no queue has a job, the latch is set, or
    /// force has brought none.
    ///
    /// Uses force after `PATIENCE` rounds with a request; and after `PATIENCE_OF_THE_BUSY` even if
    /// there is always other work: an owner that does not answer may be blocked, waiting for one of
    /// its own jobs.
    pub(super) fn find_work(&self, latch: Option<&LatchWord>, from_outside: bool) -> Option<Found> {
        if let local @ Some(_) = self.take_local_job() {
            return local;
        }
        if self.registry.is_left_behind() {
            return None; // In a forked child: the jobs of other workers are run in the parent.
        }
        if self.thief.rounds.get() >= PATIENCE_OF_THE_BUSY {
            if let Some(job) = self.steal_by_force() {
                return Some(job);
            }
        }
        loop {
            // The worker whose deque has jobs that this thief did not get.
            let contended = match self.steal() {
                Attempt::Job(job) => return Some(job),
                Attempt::Nothing => None,
                Attempt::TryAgain(victim) => Some(victim),
            };
            // If another deque had jobs that this thief did not get, it takes none from outside
            // before it has used force: an owner that does not answer may be blocked, waiting for
            // one of its private jobs.
            if let found @ Some(_) =
                self.take_job_from_no_deque(from_outside && contended.is_none())
            {
                return found;
            }
            let victim = contended?;
            if self.thief.rounds.get() >= PATIENCE {
                return self.steal_by_force().or_else(|| self.take_job_from_no_deque(from_outside));
            }
            self.wait_for_an_answer(victim, latch);
            if latch.is_some_and(LatchWord::probe) {
                return None;
            }
        }
    }

    fn wait_for_an_answer(&self, victim: usize, latch: Option<&LatchWord>) {
        let stealer = self.stealer_of(victim);
        for _ in 0..most_looks() {
            hint::spin_loop();
            if stealer.is_public() || latch.is_some_and(LatchWord::probe) {
                break;
            }
        }
    }

    /// Makes one round over the deques of the others, and steals the first public job. If it meets
    /// private jobs before that, it asks one of their owners to publish some, even if it then gets
    /// a job elsewhere. Begins at a random worker, so that thieves spread.
    fn steal(&self) -> Attempt {
        let (mut private, mut empty, mut lost_to) = (None, None, None);
        for victim in self.others_from(self.thief.rng.below(self.registry.sleep.seats_in_use())) {
            match self.stealer_of(victim).steal_since(ANY) {
                Steal::Success((word, position)) => {
                    private.into_iter().for_each(|victim| self.ask(victim));
                    return Attempt::Job(self.stolen(word, victim, position));
                }
                Steal::Private => private = Some(victim),
                // Another thief was quicker. Look here again, but try the others first.
                Steal::Retry => lost_to = Some(victim),
                Steal::Empty => empty = Some(victim),
            }
        }
        // Asking one owner is enough, and does not slow the others. If no deque has private jobs,
        // ask one whose deque is empty: it publishes what it pushes next.
        match (private, empty) {
            (Some(victim), _) => self.ask(victim),
            (None, empty) => {
                self.thief.rounds.set(0);
                empty.into_iter().for_each(|victim| self.stealer_of(victim).ask());
            }
        }
        private.or(lost_to).map_or(Attempt::Nothing, Attempt::TryAgain)
    }

    /// Steals another public job of the worker that the last one was stolen from.
    pub(super) fn steal_again(&self) -> Option<Found> {
        let victim = self.thief.stole_from.get()?;
        let stealer = self.stealer_of(victim);
        match if stealer.is_public() { stealer.steal_since(ANY) } else { Steal::Empty } {
            Steal::Success((word, position)) => Some(self.stolen(word, victim, position)),
            _ => None,
        }
    }

    /// Asks this worker, which has private jobs, to publish some.
    fn ask(&self, victim: usize) {
        self.stealer_of(victim).ask();
        self.thief.rounds.set(self.thief.rounds.get() + 1);
        self.thief.asked.set(victim);
    }

    /// Steals a job of another worker, private or not. Begins at the worker that was asked last.
    #[cold]
    fn steal_by_force(&self) -> Option<Found> {
        self.thief.rounds.set(0);
        for victim in self.others_from(self.thief.asked.get()) {
            let stealer = self.stealer_of(victim);
            let outcome =
                faulty!("engine/never-by-force", stealer.steal_by_force_since(ANY), Steal::Empty);
            if let Steal::Success((word, position)) = outcome {
                return Some(self.stolen(word, victim, position));
            }
        }
        None
    }

    /// Returns the other workers from `start` on, without those that are asleep, whose deques are
    /// empty. Workers that sleep [alone](drowse_sleep::Sleep::sleep_alone) are among them: they may
    /// have jobs.
    fn others_from(&self, start: usize) -> impl Iterator<Item = usize> + use<'_> {
        let count = self.registry.sleep.seats_in_use();
        (start..start + count).filter_map(move |other| self.other(other, count))
    }

    /// Returns the worker with this number, less `count` if that many are too many, unless it is
    /// this one, or is asleep.
    #[inline(never)]
    fn other(&self, number: usize, count: usize) -> Option<usize> {
        let other = if number < count { number } else { number - count };
        (other != self.index() && !self.registry.sleep.is_asleep(other)).then_some(other)
    }

    /// Returns `true` if the deque of another worker holds a job.
    pub(super) fn others_have_jobs(&self) -> bool {
        self.others_from(0).any(|other| !self.stealer_of(other).is_empty())
    }

    fn stealer_of(&self, victim: usize) -> &Stealer<JobHeader> {
        &self.registry.threads[victim].stealer
    }

    fn stolen(&self, word: NonNull<JobHeader>, victim: usize, position: i64) -> Found {
        self.thief.stole_from.set(Some(victim));
        self.stole(victim);
        self.found_at(word, Origin::stolen(victim, position))
    }

    /// Records that the worker has stolen a job from `victim`, which it runs next.
    pub(super) fn stole(&self, victim: usize) {
        self.fairness.count_deque_job();
        self.registry.probe.stole(self.index(), victim);
        // Makes this worker's next push public at once: if the stolen job joins, that is half of
        // it, and the victim will soon look for jobs itself.
        self.deque.share_next();
        self.meter().steals.add_mine(1);
    }
}
