//! What all protocols work with: the word, the beds, the meters, the census.

use crate::deadlock::Detector;
use crate::meter::{Meter, SleepMetrics};
use crate::sleepers::{Claim, Sleepers};
use crate::{ATTENTION, Committed, Deadlock, Reason};
use drowse_sync::atomic::{AtomicU64, Ordering};
use drowse_sync::{CachePadded, full_fence, heavy_fence};
use std::ops::Range;

/// The house in which the workers of one pool sleep: one word for the protocol, one bed and one meter a worker.
///
/// A protocol gets it with every call. It cannot put anybody to sleep; it can [`wake`](Self::wake).
#[derive(Debug)]
pub struct House {
    word: CachePadded<AtomicU64>,
    pub(crate) sleepers: Sleepers,
    pub(crate) meters: Box<[CachePadded<Meter>]>,
    pub(crate) detector: Option<Detector>,
}

impl House {
    pub(crate) fn new(workers: usize, detect_deadlocks: bool) -> Self {
        Self {
            word: CachePadded::new(AtomicU64::new(0)),
            sleepers: Sleepers::new(workers),
            meters: (0..workers).map(|_| CachePadded::new(Meter::default())).collect(),
            detector: detect_deadlocks.then(|| Detector::new(workers)),
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
            heavy_fence();
        } else {
            full_fence();
        }
    }

    /// Wakes this worker if it sleeps, or stops it if it is about to. True if it did either.
    ///
    /// `uncount` is called if it slept, before it is woken: so the counts are true from this moment on, not from the moment at
    /// which the system gets round to running the sleeper. A worker that was stopped un-counts itself
    /// ([`uncommit`](crate::Protocol::uncommit)).
    pub fn wake(&self, worker: usize, reason: Reason, uncount: impl FnOnce()) -> bool {
        let mut claim = Claim::Awake;
        self.claim(worker..worker + 1, |_, claimed| claim = claimed);
        self.finish_wake(worker, claim, reason, uncount)
    }

    /// Wakes everyone who sleeps, or is about to. See [`wake`](Self::wake).
    pub fn wake_all(&self, reason: Reason, uncount: impl Fn()) {
        if self.detector.is_none() {
            return (0..self.workers()).for_each(|worker| _ = self.wake(worker, reason, &uncount));
        }
        let mut claims = Vec::with_capacity(self.workers());
        self.claim(0..self.workers(), |worker, claim| claims.push((worker, claim)));
        for (worker, claim) in claims {
            self.finish_wake(worker, claim, reason, &uncount);
        }
    }

    /// Claims these workers. Where there is a census they are counted as active in the same step, so that nobody finds the pool
    /// dead in between.
    fn claim(&self, workers: Range<usize>, mut claimed: impl FnMut(usize, Claim)) {
        let claim = |worker| {
            let claim = self.sleepers.claim(worker);
            claimed(worker, claim);
            claim
        };
        match &self.detector {
            None => workers.map(claim).for_each(drop),
            Some(detector) => detector.wake(workers, claim),
        }
    }

    fn finish_wake(&self, worker: usize, claim: Claim, reason: Reason, uncount: impl FnOnce()) -> bool {
        match claim {
            Claim::Awake => false,
            Claim::Stopped => {
                self.meters[worker].kept_awake.add(1);
                true
            }
            Claim::Asleep => {
                uncount();
                self.meters[worker].count_wake(reason);
                // WAKE: the worker is ours since the claim; nobody else will wake it.
                self.sleepers.wake(worker);
                true
            }
        }
    }

    /// Worker: the last step before blocking. False if a waker was quicker.
    pub(crate) fn go_to_sleep(
        &self,
        worker: usize,
        _committed: Committed,
        on_deadlock: &dyn Fn(&Deadlock),
    ) -> bool {
        match &self.detector {
            None => self.sleepers.commit(worker),
            Some(detector) => detector.fall_asleep(worker, || self.sleepers.commit(worker), on_deadlock),
        }
    }

    pub(crate) fn metrics(&self, worker: usize) -> SleepMetrics {
        self.meters[worker].read()
    }
}
