//! How a worker gets at the jobs of others.

use super::isolate::Found;
use super::lineage::Origin;
use super::worker::WorkerThread;
use crate::TraceEvent;
use crate::deque::{Steal, Stealer};
use crate::job::JobHeader;
use drowse_sync::{HEAVY_FENCES_ARE_DEAR, faulty, hint, omittable};
use std::cell::Cell;
use std::ptr::NonNull;

/// Whatever is there, since when it may be.
pub(super) const ANY: i64 = i64::MIN;

/// Whether it is worth asking the owner of private jobs for them: force costs tens of microseconds
/// where a heavy fence is a system call. (A model tries both.)
const FORCE_IS_DEAR: bool = HEAVY_FENCES_ARE_DEAR;

/// How many rounds in a row a thief with nothing else to do asks before it uses force. All the
/// asking takes about as long as force does, and an owner that pushes at all has answered by then.
const PATIENCE: u32 = if FORCE_IS_DEAR { 10 } else { 1 };

/// The same for a thief that finds other jobs meanwhile.
const PATIENCE_OF_THE_BUSY: u32 = if FORCE_IS_DEAR { 64 } else { 2 };

/// How often a thief looks for an answer before it asks again.
fn looks() -> u32 {
    if FORCE_IS_DEAR { 20 } else { 0 }
}

/// A thief's requests that have not been answered.
#[derive(Debug, Default)]
pub(super) struct Unanswered {
    /// Rounds in which it asked somebody, since the last one in which there was nobody to ask.
    rounds: Cell<u32>,
    /// Whom it asked last.
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

/// What one round of all other workers brings.
enum Attempt {
    Job(Found),
    /// There are jobs, but not for us yet: this worker was asked to publish some, or somebody else
    /// was quicker there.
    TryAgain(usize),
    Nothing,
}

impl WorkerThread {
    /// A job from wherever there is one, `from_outside` or not. Gives up on those that are hard to
    /// get once `is_over` says so.
    ///
    /// Jobs that are private to a worker which does not answer are taken by force in the end,
    /// however much else there is to do: the worker may be waiting for that very job.
    pub(super) fn find_work(&self, is_over: impl Fn() -> bool, from_outside: bool) -> Option<Found> {
        if let local @ Some(_) = self.take_local_job() {
            return local;
        }
        if self.registry.is_left_behind() {
            self.settle();
            return None; // What others have, they run, in the parent.
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
            // Whoever has jobs and does not answer may be blocked, and wait for one of them.
            if let found @ Some(_) = self.take_outside_or_returned_job(from_outside && asked.is_none()) {
                return found;
            }
            // WAKE: somebody may wait for what we hold, asleep, and from here on this may take us
            // long.
            omittable!("engine/search-unsettled", self.settle());
            let victim = asked?;
            if self.unanswered.rounds.get() >= PATIENCE {
                return self.steal_by_force().or_else(|| self.take_outside_or_returned_job(from_outside));
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

    /// A public job of another worker. If there is none, one of those who have private jobs is
    /// asked to publish some. Begins at a random worker, so that thieves spread.
    fn steal(&self) -> Attempt {
        let (mut private, mut empty, mut lost_to) = (None, None, None);
        for victim in self.others_from(self.rng.below(self.registry.sleep.seats_in_use())) {
            match self.stealer_of(victim).steal_since(ANY) {
                Steal::Success((word, position)) => {
                    private.into_iter().for_each(|victim| self.ask(victim));
                    return Attempt::Job(self.stolen(word, victim, position));
                }
                Steal::Private => private = Some(victim),
                // Somebody else was quicker; look there again, but look elsewhere first.
                Steal::Retry => lost_to = Some(victim),
                Steal::Empty => empty = Some(victim),
            }
        }
        // One is enough, and leaves the others alone. If nobody has anything: for what this one
        // pushes next.
        match (private, empty) {
            (Some(victim), _) => self.ask(victim),
            (None, empty) => {
                self.unanswered.clear();
                empty.into_iter().for_each(|victim| self.stealer_of(victim).ask());
            }
        }
        private.or(lost_to).map_or(Attempt::Nothing, Attempt::TryAgain)
    }

    /// Another public job of the worker that the last one was stolen from.
    pub(super) fn steal_again(&self) -> Option<Found> {
        let victim = self.stole_from.get()?;
        let stealer = self.stealer_of(victim);
        match if stealer.is_public() { stealer.steal_since(ANY) } else { Steal::Empty } {
            Steal::Success((word, position)) => Some(self.stolen(word, victim, position)),
            _ => None,
        }
    }

    /// Asks that worker, which has private jobs, to publish some.
    fn ask(&self, victim: usize) {
        self.stealer_of(victim).ask();
        self.unanswered.add(victim);
    }

    /// A job of another worker, private or not. Begins at the one that was asked last.
    #[cold]
    fn steal_by_force(&self) -> Option<Found> {
        self.unanswered.clear();
        // WAKE: a heavy fence takes long, and somebody may wait for what we hold.
        self.settle();
        for victim in self.others_from(self.unanswered.victim.get()) {
            let stealer = self.stealer_of(victim);
            let outcome = faulty!("engine/never-by-force", stealer.steal_by_force_since(ANY), Steal::Empty);
            if let Steal::Success((word, position)) = outcome {
                return Some(self.stolen(word, victim, position));
            }
        }
        None
    }

    /// All workers that are up but this one, beginning at `start`. Those who sleep have no jobs.
    fn others_from(&self, start: usize) -> impl Iterator<Item = usize> + use<'_> {
        let (this, count) = (self.index(), self.registry.sleep.seats_in_use());
        let others = (start..count).chain(0..start).filter(move |victim| *victim != this);
        others.filter(|victim| !self.registry.sleep.is_asleep(*victim))
    }

    /// Whether there is a job in the deque of another worker.
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

    /// It has stolen a job there, which it runs next.
    pub(super) fn stole(&self, victim: usize) {
        self.count_deque_job();
        self.trail().stole_from(victim);
        // The victim will soon look for jobs itself, and what we push next is the largest part of
        // what we took.
        self.deque.share_next();
        self.meter().steals.add_mine(1);
        self.registry.record(TraceEvent::Stole { from: victim });
    }
}
