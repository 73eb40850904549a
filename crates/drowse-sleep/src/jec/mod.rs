#![doc = include_str!("README.md")]

mod counters;

use crate::{LatchWord, Policy, Sleepers, sleepers::Claim};
use counters::{Counters, JobsEvent, Snapshot};
use drowse_sync::{CachePadded, full_fence, heavy_fence, hint, light_fence, mutant};

pub use counters::MAX_WORKERS;

/// The jobs-event-counter protocol for one pool. See the [module](self) for how it works and why.
///
/// `JEC_BITS` is the width of the counter; only models have a reason to change it.
///
/// The calls of a worker: [`start_looking`](Self::start_looking), then
/// [`no_work_found`](Self::no_work_found) after each empty search, then [`stop_looking`](Self::stop_looking).
/// The calls of whoever has news: [`post`](Self::post), [`post_injected`](Self::post_injected),
/// [`wake_worker`](Self::wake_worker).
#[derive(Debug)]
pub struct Jec<const JEC_BITS: u32 = 32> {
    counters: CachePadded<Counters<JEC_BITS>>,
    sleepers: Sleepers,
    policy: Policy,
}

/// How far an inactive worker has got on its way to sleep.
#[derive(Debug)]
pub struct IdleState {
    worker: usize,
    /// Empty searches so far.
    rounds: u32,
    /// The JEC at the time the worker got sleepy.
    remembered: JobsEvent,
}

impl<const JEC_BITS: u32> Jec<JEC_BITS> {
    /// The protocol for `workers` workers, all of them active.
    ///
    /// # Panics
    ///
    /// If there are more than [`MAX_WORKERS`].
    pub fn new(workers: usize, policy: Policy) -> Self {
        assert!(workers <= MAX_WORKERS, "a pool has at most {MAX_WORKERS} workers, {workers} were asked for");
        Self { counters: CachePadded::new(Counters::new()), sleepers: Sleepers::new(workers), policy }
    }

    /// How many workers are asleep, or committed to it, at this moment.
    pub fn sleeping(&self) -> usize {
        self.counters.load().sleeping()
    }

    /// How many workers are idle, sleepy or asleep at this moment.
    pub fn inactive(&self) -> usize {
        self.counters.load().inactive()
    }

    /// The worker found nothing in its own queue and begins to search elsewhere.
    pub fn start_looking(&self, worker: usize) -> IdleState {
        self.counters.add_inactive();
        IdleState { worker, rounds: 0, remembered: JobsEvent::NONE }
    }

    /// The worker stops searching: it found a job, or its latch is set.
    ///
    /// `work_visible` tells whether there is a job, in any queue, for somebody else. It is asked only if this was
    /// the last worker searching while others sleep: then a post may have counted on it, and it must
    /// pass the baton.
    pub fn stop_looking(&self, _idle: IdleState, work_visible: impl Fn() -> bool) {
        let now = self.counters.sub_inactive();
        if now.sleeping() > 0 && now.awake_idle() == 0 {
            // We are active ourselves by now.
            self.pass_the_baton(self.active(now) > 1, work_visible);
        }
    }

    #[cold]
    fn pass_the_baton(&self, others_active: bool, work_visible: impl Fn() -> bool) {
        if mutant::active("jec/no-baton") {
            return;
        }
        // What can be seen without a fence needs none.
        let visible = work_visible() || {
            // ORDERING: pairs with the fence of a post. Either that post saw us gone from the idle, and woke somebody,
            // or we see its job now.
            if !mutant::active("jec/no-baton-fence") {
                self.fence_against_posts(others_active);
            }
            work_visible()
        };
        // WAKE: the others sleep and nobody searches. If there is work, one of them must wake for it.
        if visible {
            self.wake_any(1);
        }
    }

    /// The worker searched everywhere and found nothing. Pauses, gets sleepy, or sleeps until woken.
    ///
    /// `latch` is what the worker waits for. `work_visible` tells whether there is a job, in any queue, that this worker
    /// could run; it is asked once the worker is counted as sleeping.
    pub fn no_work_found(
        &self,
        idle: &mut IdleState,
        latch: &LatchWord,
        work_visible: impl FnOnce() -> bool,
    ) {
        if idle.rounds < self.policy.rounds_until_sleepy {
            for _ in 0..self.policy.spins_per_round {
                hint::spin_loop();
            }
            idle.rounds += 1;
        } else if idle.rounds == self.policy.rounds_until_sleepy {
            idle.remembered = self.counters.announce_sleepy();
            idle.rounds += 1;
        } else {
            self.sleep(idle, latch, work_visible);
        }
    }

    /// How many workers run jobs.
    fn active(&self, now: Snapshot<JEC_BITS>) -> usize {
        self.sleepers.count() - now.inactive()
    }

    /// The other half of the fences in `post` and `post_injected`.
    ///
    /// A post from outside has executed a full fence, and a full one of ours will do. A post of another worker's has executed a
    /// light one, which takes a heavy one; but a worker that our last look at the counters showed inactive must
    /// change them before it can post, and will see there what we have to say; and what it pushed before it became
    /// inactive we have acquired with the counters.
    fn fence_against_posts(&self, others_active: bool) {
        if others_active {
            heavy_fence();
        } else {
            full_fence();
        }
    }

    #[cold]
    fn sleep(&self, idle: &mut IdleState, latch: &LatchWord, work_visible: impl FnOnce() -> bool) {
        if !latch.get_sleepy() {
            return;
        }
        self.sleepers.make_bed(idle.worker);
        // WAKE: from here on a setter of the latch wakes us, and the worker's loop probes the latch if we
        // come too late for that.
        if !latch.fall_asleep() {
            self.sleepers.leave_bed(idle.worker);
            return;
        }
        if self.commit(idle, work_visible) {
            self.sleepers.sleep(idle.worker);
            idle.rounds = 0;
        } else {
            // Work came: search once, then get sleepy anew.
            idle.rounds = self.policy.rounds_until_sleepy;
        }
        latch.wake_up();
    }

    /// The step from sleepy to asleep. True if the worker must now sleep, and somebody will wake it.
    fn commit(&self, idle: &IdleState, work_visible: impl FnOnce() -> bool) -> bool {
        let Some(now) = self.counters.try_add_sleeping(idle.remembered) else {
            self.sleepers.leave_bed(idle.worker);
            return false;
        };
        // ORDERING: pairs with the fence of a post. Either that post sees us counted, or we see its job.
        if !mutant::active("jec/no-sleep-fence") {
            self.fence_against_posts(self.active(now) > 0);
        }
        // WAKE: whoever posts from now on sees us counted and finds our bed made. What was posted before is in sight,
        // unless somebody has taken it.
        let visible = work_visible() && !mutant::active("jec/no-final-check");
        if !visible && self.sleepers.commit(idle.worker) {
            return true;
        }
        self.sleepers.leave_bed(idle.worker);
        self.counters.sub_sleeping();
        false
    }

    /// New work for anyone: `jobs` jobs were published by a worker. Wakes as many workers as it takes.
    ///
    /// `queue_was_empty` tells whether these jobs found their queue empty; it is asked only when somebody sleeps.
    ///
    /// When nobody sleeps or is sleepy, this is a [light fence](drowse_sync::light_fence), one load and one branch. Where
    /// [`prepare_fences`](drowse_sync::prepare_fences) said that there are none, the caller must have executed a full fence
    /// since it published the jobs.
    #[inline(always)]
    pub fn post(&self, jobs: usize, queue_was_empty: impl FnOnce() -> bool) {
        // ORDERING: pairs with `fence_against_posts`.
        if !mutant::active("jec/no-local-post-fence") {
            light_fence();
        }
        self.look_and_wake(jobs, queue_was_empty);
    }

    #[inline(always)]
    fn look_and_wake(&self, jobs: usize, queue_was_empty: impl FnOnce() -> bool) {
        if !self.counters.load().is_quiet() {
            self.post_cold(jobs, queue_was_empty);
        }
    }

    /// As [`post`](Self::post), for jobs that a thread which is no worker put into the injector.
    pub fn post_injected(&self, jobs: usize, queue_was_empty: impl FnOnce() -> bool) {
        // ORDERING: pairs with `fence_against_posts`.
        if !mutant::active("jec/no-post-fence") {
            full_fence();
        }
        self.look_and_wake(jobs, queue_was_empty);
    }

    #[cold]
    #[inline(never)]
    fn post_cold(&self, jobs: usize, queue_was_empty: impl FnOnce() -> bool) {
        let now = self.counters.post();
        if now.sleeping() == 0 {
            return;
        }
        let wanted = if queue_was_empty() {
            // Those who search will find the jobs; wake for what is left.
            jobs.saturating_sub(now.awake_idle())
        } else {
            // A backlog: those who search have enough to do.
            jobs
        };
        self.wake_any(wanted.min(now.sleeping()));
    }

    /// Wakes up to `wanted` sleepers, whichever.
    fn wake_any(&self, mut wanted: usize) {
        for worker in 0..self.sleepers.count() {
            if wanted == 0 {
                break;
            }
            if self.wake_worker(worker) {
                wanted -= 1;
            }
        }
    }

    /// Wakes this worker if it sleeps, or stops it if it is about to. True if it did either.
    ///
    /// For news that concern one worker only: its latch was set while it slept on it, or a broadcast has left a
    /// job for it. In the latter case the caller must have executed a full fence since it left the job.
    pub fn wake_worker(&self, worker: usize) -> bool {
        match self.sleepers.claim(worker) {
            Claim::Awake => false,
            Claim::Stopped => true,
            Claim::Asleep => {
                // Un-count before waking: posters see the true count from this moment on, not from the
                // moment at which the system gets round to running the sleeper.
                if !mutant::active("jec/no-waker-decrement") {
                    self.counters.sub_sleeping();
                }
                self.sleepers.wake(worker);
                true
            }
        }
    }
}
