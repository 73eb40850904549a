//! Workers without a thread.
//!
//! A worker is a seat, not a thread. A seat whose thread has not been started yet, or has left
//! because there was nothing to do for long, counts as asleep, like any other: posts find it, and
//! claim it, in the same way. The difference is at both ends. Where a worker would park, it
//! *departs* instead: it leaves its seat to the [`Starter`], then goes through all the steps of
//! falling asleep, the last look included, and its thread ends. And where a waker would unpark it,
//! it lets the starter start a thread, which goes on as one that was woken: as one who searches.
//!
//! So no protocol has to know, and what makes sure that no news is lost is what does so for
//! sleepers.
//!
//! Sleepers come first: a post has a thread started only if nobody sleeps whom it could wake.

use crate::fall_asleep::Bed;
use crate::slots::{Boredom, Claim};
use crate::word::Event;
use crate::{Host, Idle, LatchWord, Reason, Sleep};
use drowse_sync::{Arc, faulty, omittable};
use std::fmt;
use std::time::Duration;

/// Starts threads for workers that have none.
pub trait Starter: fmt::Debug + Send + Sync {
    /// This worker is needed. It counts as one who searches: a thread of its own
    /// [arrives](Sleep::arrive) there, or else it is to be [absent](Sleep::stay_away) again.
    fn start(&self, worker: usize, reason: Reason);

    /// Whether there is any hope. If not, only those are claimed that nobody else can stand in for.
    fn may_start(&self) -> bool {
        true
    }
}

/// Who may be without a thread, and when.
#[derive(Debug)]
pub(crate) struct Absence {
    starter: Arc<dyn Starter>,
    /// Workers below this always have one.
    stay: usize,
    /// How long a worker sleeps before its thread leaves.
    idle_timeout: Option<Duration>,
}

impl Sleep {
    /// The same, with workers from `stay` on that may have no thread. Those that have one leave
    /// when they have slept for `idle_timeout` with nothing to do: they are
    /// [bored](Idle::is_bored).
    #[must_use]
    pub fn with_absence(
        mut self,
        starter: Arc<dyn Starter>,
        stay: usize,
        idle_timeout: Option<Duration>,
    ) -> Self {
        self.absence = Some(Absence { starter, stay, idle_timeout });
        self
    }

    /// The worker, which is active, leaves: its thread ends, or was never there. False if there is
    /// news: then it must [arrive](Self::arrive) again.
    ///
    /// What the [`Starter`] needs to start another one must be in its place before. `home` is what
    /// the worker waits for when it has nothing to do.
    #[must_use]
    pub fn leave(&self, worker: usize, home: &LatchWord, host: &dyn Host) -> bool {
        self.not_stuck(worker);
        self.word.change(Event::StartLooking, |word| (self.protocol.start_looking(word), ()));
        self.observe(|observer| observer.idle(worker));
        self.stay_away(worker, home, host)
    }

    /// As [`leave`](Self::leave), for one that counts as searching.
    #[must_use]
    pub fn stay_away(&self, worker: usize, home: &LatchWord, host: &dyn Host) -> bool {
        let Some(announcement) = self.announce(worker) else { return false };
        let depart = || self.slots.depart(worker);
        // WAKE: as for one that parks: whoever has news sees us counted, and starts somebody in our
        // place, or we see the news.
        let left = self.lie_down(worker, announcement, home, host, &depart) == Bed::Is;
        let left = faulty!("absent/leaves-whatever", left, true);
        if left {
            self.observe(|observer| observer.asleep(worker));
        }
        left
    }

    /// The calling thread becomes this worker, which was claimed while it was absent, or could not
    /// leave: it searches.
    pub fn arrive(&self, worker: usize, home: &LatchWord) -> Idle {
        if self.rules.tells_latch {
            home.tell_awake();
        }
        self.placement.unsettle(worker);
        self.observe(|observer| observer.awake(worker));
        Idle::of(worker)
    }

    /// A worker that was never there runs where the calling thread may run, as far as anybody
    /// knows.
    pub fn report_for_absent(&self) {
        self.room.report();
    }

    /// Somebody who was claimed could not be started. Wakes another in its place.
    pub fn wake_in_place_of_absent(&self) {
        self.wake_for_baton();
    }

    /// Whether a waker that can choose had better look at others first, the first time, or not look
    /// at this one at all.
    pub(crate) fn passes_by(&self, worker: usize, first_time: bool) -> bool {
        self.absence.as_ref().is_some_and(|absence| {
            self.slots.is_absent(worker) && (first_time || !absence.starter.may_start())
        })
    }

    /// How often a waker that can choose looks at all workers.
    pub(crate) fn passes(&self) -> usize {
        if self.absence.is_some() { 2 } else { 1 }
    }

    /// Lets a worker have a thread that was claimed.
    pub(crate) fn start_absent(&self, worker: usize, reason: Reason) {
        if let Some(absence) = &self.absence {
            // WAKE: the worker is ours since the claim; nobody else will start it.
            omittable!("absent/never-started", absence.starter.start(worker, reason));
        }
    }

    /// When this worker is bored, if ever, which sleeps in its main loop or in the middle of a job.
    pub(crate) fn bored_after(&self, idle: &Idle) -> Option<Duration> {
        let absence = self.absence.as_ref()?;
        // Spares are where they are for as long as others block.
        let may_leave = || !idle.in_a_job && (absence.stay..self.workers()).contains(&idle.worker);
        absence.idle_timeout.filter(|_| may_leave())
    }

    /// Worker, which is parked, and bored: gets up, unless it was claimed.
    pub(crate) fn get_up_bored(&self, worker: usize) -> bool {
        let mut is_up = false;
        match &self.detector {
            None => is_up = self.slots.get_bored(worker),
            Some(detector) => detector.wake(&mut |awake| {
                is_up = self.slots.get_bored(worker);
                if is_up {
                    awake(worker, Claim::Asleep);
                }
            }),
        }
        if is_up {
            omittable!("absent/bored-stays-counted", self.uncount());
        }
        is_up
    }

    /// The same, as a sleeper takes it along.
    pub(crate) fn boredom<'a>(&self, idle: &Idle, get_up: &'a dyn Fn() -> bool) -> Option<Boredom<'a>> {
        self.bored_after(idle).map(|after| Boredom { after, get_up })
    }
}
