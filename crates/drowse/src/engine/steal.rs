//! Stealing: how a worker gets jobs from the deques of other workers.
//!
//! A thief takes jobs from the public part of a deque. If all jobs are private, it *asks* their
//! owner, whose next push publishes some. If the owner does not answer, the thief uses *force*: it
//! publishes some itself, which takes a heavy fence.

use super::isolate::Found;
use super::lineage::Origin;
use super::worker::WorkerThread;
use crate::TraceEvent;
use crate::deque::{Steal, Stealer};
use crate::job::JobHeader;
use drowse_sync::{HEAVY_FENCES_ARE_DEAR, faulty, hint, omittable};
use std::cell::Cell;
use std::ptr::NonNull;

/// Position for [`Stealer::steal_since`] that accepts every job.
pub(super) const ANY: i64 = i64::MIN;

/// `true` if a thief asks more than once or twice before it uses force: force costs tens of
/// microseconds where a heavy fence is a system call. (In a model, thieves do both.)
const FORCE_IS_DEAR: bool = HEAVY_FENCES_ARE_DEAR;

/// Rounds without an answer after which a thief that has nothing else to do uses force. That many
/// requests take about as long as force does, and an owner that pushes has answered by then.
const PATIENCE: u32 = if FORCE_IS_DEAR { 10 } else { 1 };

/// Rounds without an answer after which a thief uses force though it finds other jobs in between.
const PATIENCE_OF_THE_BUSY: u32 = if FORCE_IS_DEAR { 64 } else { 2 };

/// Returns how often a thief looks for an answer before it asks again.
fn looks() -> u32 {
    if FORCE_IS_DEAR { 20 } else { 0 }
}

/// Requests of a thief that owners have not answered.
#[derive(Debug, Default)]
pub(super) struct Unanswered {
    /// Rounds with a request, since the last round in which no other deque had private jobs.
    rounds: Cell<u32>,
    /// Worker that was asked last.
    victim: Cell<usize>,
}

impl Unanswered {
    fn add(&self, victim: usize) {
        self.rounds.set(self.rounds.get() + 1);
        self.victim.set(victim);
    }

    fn clear(&self) {
        self.rounds.set(0);
    }
}

/// Result of one round over the deques of all other workers.
enum Attempt {
    Job(Found),
    /// This worker has jobs, but we got none: it was asked to publish some, or another thief was
    /// quicker.
    TryAgain(usize),
    Nothing,
}

impl WorkerThread {
    /// Returns a job from any queue; one from outside only if `from_outside`. If there are only
    /// private jobs, asks an owner to publish some and tries again, until `is_over`.
    ///
    /// In the end it takes private jobs by force, even if there is always other work: an owner that
    /// does not answer may be blocked, waiting for one of its own jobs.
    pub(super) fn find_work(
        &self,
        is_over: impl Fn() -> bool,
        from_outside: bool,
    ) -> Option<Found> {
        if let local @ Some(_) = self.take_local_job() {
            return local;
        }
        if self.registry.is_left_behind() {
            self.settle();
            return None; // In a forked child: the jobs of other workers are run in the parent.
        }
        if self.unanswered.rounds.get() >= PATIENCE_OF_THE_BUSY {
            if let Some(job) = self.steal_by_force() {
                return Some(job);
            }
        }
        loop {
            let asked = match self.steal() {
                Attempt::Job(job) => return Some(job),
                Attempt::Nothing => None,
                Attempt::TryAgain(victim) => Some(victim),
            };
            // A job from outside is taken only if there was no owner to ask: an owner that does not
            // answer may be blocked, waiting for one of its private jobs.
            if let found @ Some(_) =
                self.take_outside_or_returned_job(from_outside && asked.is_none())
            {
                return found;
            }
            // WAKE: a thread may sleep in `CountLatch::wait` until we give back the counts that we
            // hold; the search may take long from here on.
            omittable!("engine/search-unsettled", self.settle());
            let victim = asked?;
            if self.unanswered.rounds.get() >= PATIENCE {
                return self
                    .steal_by_force()
                    .or_else(|| self.take_outside_or_returned_job(from_outside));
            }
            self.wait_for_an_answer(victim, &is_over);
            if is_over() {
                return None;
            }
        }
    }

    fn wait_for_an_answer(&self, victim: usize, is_over: impl Fn() -> bool) {
        let stealer = self.stealer_of(victim);
        for _ in 0..looks() {
            hint::spin_loop();
            if stealer.is_public() || is_over() {
                break;
            }
        }
    }

    /// Steals a public job of another worker. If there is none, asks one owner of private jobs to
    /// publish some. Begins at a random worker, so that thieves spread.
    fn steal(&self) -> Attempt {
        let (mut private, mut empty, mut lost_to) = (None, None, None);
        for victim in self.others_from(self.rng.below(self.registry.sleep.seats_in_use())) {
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
                self.unanswered.clear();
                empty.into_iter().for_each(|victim| self.stealer_of(victim).ask());
            }
        }
        private.or(lost_to).map_or(Attempt::Nothing, Attempt::TryAgain)
    }

    /// Steals another public job of the worker that the last one was stolen from.
    pub(super) fn steal_again(&self) -> Option<Found> {
        let victim = self.stole_from.get()?;
        let stealer = self.stealer_of(victim);
        match if stealer.is_public() { stealer.steal_since(ANY) } else { Steal::Empty } {
            Steal::Success((word, position)) => Some(self.stolen(word, victim, position)),
            _ => None,
        }
    }

    /// Asks this worker, which has private jobs, to publish some.
    fn ask(&self, victim: usize) {
        self.stealer_of(victim).ask();
        self.unanswered.add(victim);
    }

    /// Steals a job of another worker, private or not. Begins at the worker that was asked last.
    #[cold]
    fn steal_by_force(&self) -> Option<Found> {
        self.unanswered.clear();
        // WAKE: a thread may sleep in `CountLatch::wait` until we give back the counts that we
        // hold; a heavy fence takes long.
        self.settle();
        for victim in self.others_from(self.unanswered.victim.get()) {
            let stealer = self.stealer_of(victim);
            let outcome =
                faulty!("engine/never-by-force", stealer.steal_by_force_since(ANY), Steal::Empty);
            if let Steal::Success((word, position)) = outcome {
                return Some(self.stolen(word, victim, position));
            }
        }
        None
    }

    /// Returns the other workers that are awake, from `start` on. Those that sleep have no jobs.
    fn others_from(&self, start: usize) -> impl Iterator<Item = usize> + use<'_> {
        let (this, count) = (self.index(), self.registry.sleep.seats_in_use());
        let others = (start..count).chain(0..start).filter(move |victim| *victim != this);
        others.filter(|victim| !self.registry.sleep.is_asleep(*victim))
    }

    /// Returns `true` if the deque of another worker holds a job.
    pub(super) fn others_have_jobs(&self) -> bool {
        self.others_from(0).any(|other| !self.stealer_of(other).is_empty())
    }

    fn stealer_of(&self, victim: usize) -> &Stealer<JobHeader> {
        &self.registry.threads[victim].stealer
    }

    fn stolen(&self, word: NonNull<JobHeader>, victim: usize, position: i64) -> Found {
        self.stole_from.set(Some(victim));
        self.stole(victim);
        self.found_at(word, Origin::stolen(victim, position))
    }

    /// Records that the worker has stolen a job from `victim`, which it runs next.
    pub(super) fn stole(&self, victim: usize) {
        self.count_deque_job();
        self.trail().stole_from(victim);
        // Publish our next push at once: it is the largest part of what we took, and the victim
        // will soon look for jobs itself.
        self.deque.share_next();
        self.meter().steals.add_mine(1);
        self.registry.record(TraceEvent::Stole { from: victim });
    }
}
