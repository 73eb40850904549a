//! What all protocols work with: the word, the beds, the meters, the census.

use crate::deadlock::Detector;
use crate::meter::{Meter, SleepMetrics};
use crate::placement::{Placement, Steering};
use crate::sleepers::{Claim, Grip, Sleepers};
use crate::{ATTENTION, Committed, Deadlock, Observer, Reason};
use drowse_sync::atomic::{AtomicU64, Ordering};
use drowse_sync::{Arc, CachePadded, Stopwatch, full_fence, heavy_fence, mutant};

/// The house in which the workers of one pool sleep: one word for the protocol, one bed and one meter a worker.
///
/// A protocol gets it with every call. It cannot put anybody to sleep; it can [`wake`](Self::wake).
#[derive(Debug)]
pub struct House {
    word: CachePadded<AtomicU64>,
    pub(crate) sleepers: Sleepers,
    pub(crate) meters: Box<[CachePadded<Meter>]>,
    pub(crate) detector: Option<Detector>,
    pub(crate) observer: Option<Arc<dyn Observer>>,
    pub(crate) placement: Placement,
    pub(crate) clock: Stopwatch,
}

/// What becomes of whoever wakes a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waker {
    /// A worker that has more to do: its processor is not free.
    GoesOn,
    /// Anybody else: perhaps it sleeps next, and its processor is the best place for the one it wakes.
    MayStop,
}

impl House {
    pub(crate) fn new(workers: usize) -> Self {
        Self {
            word: CachePadded::new(AtomicU64::new(0)),
            sleepers: Sleepers::new(workers),
            meters: (0..workers).map(|_| CachePadded::new(Meter::default())).collect(),
            detector: None,
            observer: None,
            placement: Placement::new(workers, Steering::Never),
            clock: Stopwatch::start(),
        }
    }

    /// The number of workers.
    pub fn workers(&self) -> usize {
        self.sleepers.count()
    }

    /// The one word in which the protocol keeps its state. It starts at zero.
    pub fn word(&self) -> &AtomicU64 {
        &self.word
    }

    /// Whether a post has anything to do. The whole of the hot path: one load, one test, one branch.
    #[inline(always)]
    pub(crate) fn wants_attention(&self) -> bool {
        // ORDERING: relaxed; the poster's fence comes before it. If the answer is yes, the protocol loads again and acquires.
        self.word.load(Ordering::Relaxed) & ATTENTION != 0
    }

    /// The other half of the fences that a post executes between publishing its jobs and reading the word.
    ///
    /// A post from outside has executed a full fence, and a full one of ours will do. A post of another worker has executed
    /// a light one, which takes a heavy one: `others_active` says whether another worker may be in the middle of one.
    pub fn fence_against_posts(&self, others_active: bool) {
        if others_active {
            heavy_fence("");
        } else {
            full_fence("");
        }
    }

    /// Wakes this worker if it sleeps, or stops it if it is about to. True if it did either.
    ///
    /// `uncount` is called if it slept, before it is woken: so the counts are true from this moment on, not from the moment at
    /// which the system gets round to running the sleeper. A worker that was stopped un-counts itself
    /// ([`uncommit`](crate::Protocol::uncommit)).
    pub fn wake(&self, worker: usize, reason: Reason, waker: Waker, uncount: impl FnOnce()) -> bool {
        if !self.sleepers.is_in_bed(worker) {
            return false;
        }
        let place = waker == Waker::GoesOn && self.placement.is_on();
        let grip = if place { Grip::Hold } else { Grip::LetGo };
        let mut claim = Claim::Awake;
        match &self.detector {
            None => claim = self.sleepers.claim(worker, grip),
            // Claimed and counted as active in one step, so that nobody finds the pool dead in between.
            Some(detector) => detector.wake(|awake| {
                claim = self.sleepers.claim(worker, grip);
                awake(worker, claim);
            }),
        }
        self.finish_wake(worker, claim, reason, uncount)
    }

    /// Wakes everyone who sleeps, or is about to, if `wanted` says so. See [`wake`](Self::wake).
    ///
    /// Where there is a census, `wanted` is called with it locked, and all of them become active in the same step: the first one may
    /// run and block before the others are woken.
    pub fn wake_all_if(&self, wanted: impl FnOnce() -> bool, reason: Reason, uncount: impl Fn()) {
        let everyone = 0..self.workers();
        let one_by_one = mutant::active("detector/wake-one-by-one");
        let Some(detector) = self.detector.as_ref().filter(|_| !one_by_one) else {
            if wanted() {
                everyone.for_each(|worker| _ = self.wake(worker, reason, Waker::MayStop, &uncount));
            }
            return;
        };
        let mut claims = Vec::new();
        detector.wake(|awake| {
            if wanted() {
                let claim = |worker| (worker, self.sleepers.claim(worker, Grip::LetGo));
                claims.extend(everyone.map(claim));
                claims.iter().for_each(|(worker, claim)| awake(*worker, *claim));
            }
        });
        for (worker, claim) in claims {
            self.finish_wake(worker, claim, reason, &uncount);
        }
    }

    fn finish_wake(&self, worker: usize, claim: Claim, reason: Reason, uncount: impl FnOnce()) -> bool {
        match claim {
            Claim::Awake => false,
            Claim::Stopped => {
                self.meters[worker].kept_awake.add(1);
                true
            }
            Claim::Asleep | Claim::Held => {
                uncount();
                self.meters[worker].count_wake(reason);
                self.observe(|observer| observer.wake(worker, reason));
                if claim == Claim::Held {
                    self.placement.send_elsewhere(worker, &self.meters[worker]);
                }
                // WAKE: the worker is ours since the claim; nobody else will wake it.
                self.sleepers.wake(worker, claim);
                true
            }
        }
    }

    /// Worker: the last step before blocking. False if a waker was quicker.
    pub(crate) fn go_to_sleep(
        &self,
        worker: usize,
        _committed: Committed<'_>,
        on_deadlock: &dyn Fn(&Deadlock),
    ) -> bool {
        match &self.detector {
            None => self.sleepers.commit(worker),
            Some(detector) => detector.fall_asleep(worker, || self.sleepers.commit(worker), on_deadlock),
        }
    }

    /// Tells the observer, if there is one.
    pub(crate) fn observe(&self, tell: impl FnOnce(&dyn Observer)) {
        if let Some(observer) = &self.observer {
            tell(&**observer);
        }
    }

    pub(crate) fn metrics(&self, worker: usize) -> SleepMetrics {
        self.meters[worker].read(self.clock.elapsed())
    }
}
