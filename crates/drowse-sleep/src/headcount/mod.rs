//! What the protocols have in common that count who is inactive and who sleeps.

mod counts;

use crate::{Committed, House, Posted, Reason, Recheck, Waker};
use counts::Counts;
use drowse_sync::mutant;

pub use counts::MAX_WORKERS;
pub(crate) use counts::{JEC_BITS, JobsEvent, Snapshot};

/// A house whose word counts heads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Headcount<'a> {
    house: &'a House,
    protocol: &'static str,
    pub(crate) counts: Counts<'a>,
}

impl<'a> Headcount<'a> {
    pub(crate) fn of(house: &'a House, protocol: &'static str) -> Self {
        Self { house, protocol, counts: Counts { word: house.word(), protocol } }
    }

    pub(crate) fn start_looking(&self) {
        self.counts.add_inactive();
    }

    /// The last one to stop searching while others sleep passes the baton: a post may have counted on it.
    pub(crate) fn stop_looking(&self, work_visible: &dyn Fn() -> bool) {
        let now = self.counts.sub_inactive();
        if now.sleeping() > 0 && now.awake_idle() == 0 {
            // We are active ourselves by now.
            let ourselves = 1 + usize::from(mutant::active_in(self.protocol, "baton-miscounts"));
            self.pass_the_baton(self.active(now) > ourselves, work_visible);
        }
    }

    #[cold]
    fn pass_the_baton(&self, others_active: bool, work_visible: &dyn Fn() -> bool) {
        if mutant::active_in(self.protocol, "no-baton") {
            return;
        }
        // What can be seen without a fence needs none.
        let visible = work_visible() || {
            // ORDERING: pairs with the fence of a post. Either that post saw us gone from the idle, and woke somebody,
            // or we see its job now.
            if !mutant::active_in(self.protocol, "no-baton-fence") {
                self.fence_against_posts(others_active);
            }
            work_visible()
        };
        // WAKE: the others sleep and nobody searches. If there is work, one of them must wake for it.
        if visible {
            self.wake_any(1, Reason::Baton, Waker::GoesOn);
        }
    }

    /// Counts the worker as sleeping if `allowed`, and looks again. `None` if it must not sleep.
    pub(crate) fn commit<'look>(
        &self,
        allowed: impl Fn(Snapshot) -> bool,
        recheck: Recheck<'look>,
    ) -> Option<Committed<'look>> {
        let now = self.counts.try_add_sleeping(allowed)?;
        // ORDERING: pairs with the fence of a post. Either that post sees us counted, or we see its job. A worker that
        // the counts show inactive must change them before it can post, and will see us there; what it pushed
        // before it became inactive we have acquired with them.
        // While another worker searches we may miss a job of a worker: the last one to stop searching, be it to
        // sleep or to work, changes the counts after us, executes the heavy fence, and finds the job or wakes somebody.
        let alone = now.sleeping() == 1 || !mutant::active_in(self.protocol, "only-the-first-fences");
        let last_searcher = now.awake_idle() == 0 && alone;
        if !mutant::active_in(self.protocol, "no-sleep-fence") {
            let overlooked = usize::from(mutant::active_in(self.protocol, "sleep-miscounts"));
            self.fence_against_posts(self.active(now) > overlooked && last_searcher);
        }
        // WAKE: whoever posts from now on sees us counted and finds our bed made. What was posted before is in sight,
        // unless somebody has taken it.
        let committed = recheck.nothing_to_do();
        if committed.is_none() && !mutant::active_in(self.protocol, "stays-counted") {
            self.counts.sub_sleeping();
        }
        committed
    }

    /// A worker that has committed, and was taken out of bed before it slept.
    pub(crate) fn uncommit(&self) {
        if !mutant::active_in(self.protocol, "no-uncommit") {
            self.counts.sub_sleeping();
        }
    }

    fn fence_against_posts(&self, others_active: bool) {
        self.house
            .fence_against_posts(others_active && !mutant::active_in(self.protocol, "fence-always-full"));
    }

    /// Workers that run jobs.
    fn active(&self, now: Snapshot) -> usize {
        self.house.workers() - now.inactive()
    }

    /// Wakes up to `wanted` sleepers for what was posted.
    pub(crate) fn wake_for(&self, posted: &Posted<'_>, wanted: usize) {
        if wanted > 0 {
            posted.expect_thieves();
            let waker = if posted.by_worker { Waker::GoesOn } else { Waker::MayStop };
            self.wake_any(wanted, Reason::Job, waker);
        }
    }

    /// Wakes up to `wanted` sleepers, whichever.
    fn wake_any(&self, mut wanted: usize, reason: Reason, waker: Waker) {
        for worker in 0..self.house.workers() {
            if wanted == 0 {
                break;
            }
            if self.wake(worker, reason, waker) {
                wanted -= 1;
            }
        }
    }

    /// Wakes everyone who sleeps.
    pub(crate) fn wake_all(&self, reason: Reason) {
        self.house.wake_all_if(|| true, reason, || self.uncount());
    }

    /// Wakes this worker if it sleeps. True if it did, or was about to.
    pub(crate) fn wake(&self, worker: usize, reason: Reason, waker: Waker) -> bool {
        self.house.wake(worker, reason, waker, || self.uncount())
    }

    /// Waker: the worker sleeps no more.
    fn uncount(&self) {
        if !mutant::active_in(self.protocol, "no-waker-decrement") {
            self.counts.sub_sleeping();
        }
    }

    /// A latch wakes its owner, if it sleeps on that latch, and nobody else.
    pub(crate) fn latch_set(&self, owner: usize, slept: bool, reason: Reason, waker: Waker) {
        if slept {
            // WAKE: the owner is asleep, or about to be, on that very latch; or it has noticed.
            self.wake(owner, reason, waker);
        }
    }
}
