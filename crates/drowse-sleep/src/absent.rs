//! Workers without a thread.
//!
//! A worker is a seat, not a thread. A seat whose thread has not been started yet, or has left
//! because there was nothing to do for long, counts as asleep: posts find it and claim it like any
//! other. The difference is at both ends. Where a worker would park, it *departs* instead: it
//! leaves its seat to the [`Starter`], takes all the steps of falling asleep, including the last
//! look, and its thread ends. Where a waker would unpark it, the waker calls the starter, and the
//! new thread goes on like a woken one: it searches.
//!
//! So no protocol has to know of this, and no news is lost, for the same reasons as with sleepers.
//!
//! Sleepers come first: a post has a thread started only if there is no sleeper that it could wake.

use crate::fall_asleep::{LastStep, SleepAttempt};
use crate::slots::{Boredom, Claim};
use crate::{Host, Idle, LatchWord, Reason, Sleep};
use drowse_sync::{Arc, faulty, omittable};
use std::fmt;
use std::time::Duration;

/// Starts threads for workers that have none.
pub trait Starter: fmt::Debug + Send + Sync {
    /// Starts a thread for this worker, which counts as searching. The thread must
    /// [arrive](Sleep::arrive) there; if it cannot be started, the worker must be made
    /// [absent](Sleep::stay_away) again.
    fn start(&self, worker: usize, reason: Reason);

    /// Returns `true` if a thread could be started. If not, a worker without a thread is claimed
    /// only for what no other worker can do.
    fn may_start(&self) -> bool {
        true
    }
}

/// Rules for workers without a thread.
#[derive(Debug)]
pub(crate) struct Absence {
    starter: Arc<dyn Starter>,
    /// Workers below this index always have a thread.
    stay: usize,
    /// Time that a worker sleeps before its thread leaves.
    idle_timeout: Option<Duration>,
}

impl Sleep {
    /// Lets the workers from `stay` on be without a thread. Threads of these workers leave when
    /// they have slept for `idle_timeout` with nothing to do: they are [bored](Idle::is_bored).
    #[must_use]
    #[inline]
    pub fn with_absence(
        mut self,
        starter: Arc<dyn Starter>,
        stay: usize,
        idle_timeout: Option<Duration>,
    ) -> Self {
        self.absence = Some(Absence { starter, stay, idle_timeout });
        self
    }

    /// Leaves the seat of an active worker: its thread ends, or never existed. Returns `false` if
    /// there is news: then the worker must [arrive](Self::arrive) again.
    ///
    /// What the [`Starter`] needs to start another thread must be in its place before this call.
    /// `home` is what the worker waits for when it has nothing to do.
    #[must_use]
    pub fn leave(&self, worker: usize, home: &LatchWord, host: &dyn Host) -> bool {
        self.not_stuck(worker);
        self.word.start_looking();
        self.observe(|observer| observer.idle(worker));
        self.stay_away(worker, home, host)
    }

    /// Leaves the seat like [`leave`](Self::leave), for a worker that counts as searching.
    #[must_use]
    pub fn stay_away(&self, worker: usize, home: &LatchWord, host: &dyn Host) -> bool {
        let Some(announcement) = self.announce(worker) else { return false };
        // WAKE: as for a worker that parks: either the poster sees us counted and has a thread
        // started for our seat, or our last look sees the news.
        let left = self.lie_down(worker, announcement, home, host, LastStep::Depart)
            == SleepAttempt::Committed;
        let left = faulty!("absent/leaves-whatever", left, true);
        if left {
            self.observe(|observer| observer.asleep(worker));
        }
        left
    }

    /// Makes the calling thread this worker, which was claimed while it was absent, or could not
    /// leave. The worker searches.
    pub fn arrive(&self, worker: usize, home: &LatchWord) -> Idle {
        if self.word.rules.counts_heads {
            home.tell_awake();
        }
        self.placement.unsettle(&self.seats[worker]);
        self.observe(|observer| observer.awake(worker));
        Idle::new(worker, 0, true)
    }

    /// Reports, for a worker that never had a thread, that it may run where the calling thread may
    /// run.
    pub fn report_for_absent(&self) {
        self.room.report(true);
    }

    /// Wakes another worker, because the thread for a claimed one could not be started.
    pub fn wake_in_place_of_absent(&self) {
        self.wake_for_baton();
    }

    /// Returns `true` if a waker that can choose should skip this seat: seats without a thread are
    /// skipped in the first pass, and in both while no thread can be started.
    pub(crate) fn passes_by(&self, worker: usize, first_time: bool) -> bool {
        self.absence.as_ref().is_some_and(|absence| {
            self.slots.is_absent(worker) && (first_time || !absence.starter.may_start())
        })
    }

    /// Returns how many passes over all workers a waker makes that can choose.
    pub(crate) fn passes(&self) -> usize {
        if self.absence.is_some() { 2 } else { 1 }
    }

    /// Has a thread started for a claimed worker that has none.
    pub(crate) fn start_absent(&self, worker: usize, reason: Reason) {
        if let Some(absence) = &self.absence {
            // WAKE: since the claim only this thread can have the worker started.
            omittable!("absent/never-started", absence.starter.start(worker, reason));
        }
    }

    /// Returns the time after which this sleeping worker is bored, if ever.
    pub(crate) fn bored_after(&self, idle: &Idle) -> Option<Duration> {
        let absence = self.absence.as_ref()?;
        // Spares stay for as long as other workers block.
        let may_leave = || !idle.in_a_job && (absence.stay..self.workers()).contains(&idle.worker);
        absence.idle_timeout.filter(|_| may_leave())
    }

    /// Gets a parked worker up that is bored, unless it was claimed.
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
            omittable!("absent/bored-stays-counted", self.word.uncount());
        }
        is_up
    }

    /// Returns the worker's idle timeout together with `get_up`, for `Slots::park`.
    pub(crate) fn boredom<'a>(
        &self,
        idle: &Idle,
        get_up: &'a dyn Fn() -> bool,
    ) -> Option<Boredom<'a>> {
        self.bored_after(idle).map(|after| Boredom { after, get_up })
    }
}
