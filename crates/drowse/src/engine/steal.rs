//! How a worker comes by the jobs of others.

use super::worker::WorkerThread;
use crate::TraceEvent;
use crate::deque::{Steal, Stealer};
use crate::job::{JobHeader, JobRef};
use drowse_sync::{faulty, hint};
use std::cell::Cell;

/// Whether it is worth asking the owner of private jobs for them: force costs tens of microseconds where a heavy fence is a system call.
/// (A model is to try both.)
const FORCE_IS_DEAR: bool = cfg!(all(target_os = "linux", not(drowse_loom), not(drowse_shuttle)));

/// How often a thief with nothing else to do is put off before it uses force. All the asking takes about as long as force does, and an owner that
/// pushes at all has answered by then.
const PATIENCE: u32 = if FORCE_IS_DEAR { 10 } else { 1 };

/// How often a thief is put off that finds other jobs meanwhile.
const PATIENCE_OF_THE_BUSY: u32 = if FORCE_IS_DEAR { 64 } else { 2 };

/// How often a thief looks for an answer before it asks again.
fn looks() -> u32 {
    if FORCE_IS_DEAR { 20 } else { 0 }
}

/// How often a thief was put off.
#[derive(Debug, Default)]
pub(super) struct Promises {
    /// Rounds in which somebody did so, since the last one in which nobody did.
    broken: Cell<u32>,
    /// Who it was, the last time.
    by: Cell<usize>,
}

impl Promises {
    fn add(&self, victim: usize) {
        self.broken.set(self.broken.get() + 1);
        self.by.set(victim);
    }
}

/// What a thief comes home with.
enum Loot {
    Job(JobRef),
    /// There are jobs, but not yet for us. This one has some.
    Promise(usize),
    Nothing,
}

impl WorkerThread {
    /// A job from wherever there is one. Gives up on those that are hard to get if `enough` says so.
    ///
    /// Jobs that are private to a worker which does not answer are taken by force in the end, however much else there is to do: the
    /// worker may be waiting for that very job.
    pub(crate) fn find_work(&self, enough: impl Fn() -> bool) -> Option<JobRef> {
        if let Some(job) = self.take_local_job() {
            return Some(job);
        }
        if self.promises.broken.get() >= PATIENCE_OF_THE_BUSY {
            if let Some(job) = self.steal_by_force() {
                return Some(job);
            }
        }
        loop {
            let victim = match self.steal() {
                Loot::Job(job) => return Some(job),
                Loot::Nothing => return self.take_injected_job(),
                Loot::Promise(victim) => victim,
            };
            if let Some(job) = self.take_injected_job() {
                return Some(job);
            }
            if self.promises.broken.get() >= PATIENCE {
                return self.steal_by_force();
            }
            self.wait_for_an_answer(victim, &enough);
            if enough() {
                return None;
            }
        }
    }

    fn wait_for_an_answer(&self, victim: usize, enough: impl Fn() -> bool) {
        let stealer = self.stealer_of(victim);
        for _ in 0..looks() {
            hint::spin_loop();
            if stealer.is_public() || enough() {
                break;
            }
        }
    }

    /// A public job of another worker's; those who have only private ones are asked to publish. Begins at a random one, so that thieves spread.
    fn steal(&self) -> Loot {
        let (mut promised, mut lost_to) = (None, None);
        for victim in self.others_from(self.rng.below(self.registry.num_threads())) {
            match self.stealer_of(victim).steal() {
                Steal::Success(word) => {
                    promised.into_iter().for_each(|victim| self.promises.add(victim));
                    // SAFETY: what is in a deque was put there by `push`, and has left it now.
                    return Loot::Job(self.stolen(unsafe { JobRef::from_word(word) }, victim));
                }
                Steal::Asked => promised = Some(victim),
                // Somebody else got on; look there again, but look elsewhere first.
                Steal::Retry => lost_to = Some(victim),
                Steal::Empty => {}
            }
        }
        match promised {
            Some(victim) => self.promises.add(victim),
            None => self.promises.broken.set(0),
        }
        promised.or(lost_to).map_or(Loot::Nothing, Loot::Promise)
    }

    /// A job of another worker's, private or not. Begins at the one that was the last to put us off.
    #[cold]
    fn steal_by_force(&self) -> Option<JobRef> {
        self.promises.broken.set(0);
        for victim in self.others_from(self.promises.by.get()) {
            let stealer = self.stealer_of(victim);
            let outcome = faulty!("engine/never-by-force", stealer.steal_by_force(), Steal::Empty);
            if let Steal::Success(word) = outcome {
                // SAFETY: what is in a deque was put there by `push`, and has left it now.
                return Some(self.stolen(unsafe { JobRef::from_word(word) }, victim));
            }
        }
        None
    }

    /// All workers but this one, beginning at `start`.
    fn others_from(&self, start: usize) -> impl Iterator<Item = usize> + use<> {
        let (this, count) = (self.index(), self.registry.num_threads());
        (start..count).chain(0..start).filter(move |victim| *victim != this)
    }

    fn stealer_of(&self, victim: usize) -> &Stealer<JobHeader> {
        &self.registry.threads[victim].stealer
    }

    fn stolen(&self, job: JobRef, victim: usize) -> JobRef {
        self.count_deque_job();
        // The victim will be hungry in its turn, and what we push next is the largest part of what we took.
        self.deque.share_next();
        self.meter().steals.add_mine(1);
        self.registry.record(TraceEvent::Stole { from: victim });
        job
    }
}
