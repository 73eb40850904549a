//! The skeleton of every sleep: search, announce, look again, commit, block.

use crate::deadlock::{self, Detector};
use crate::house::House;
use crate::meter::SleepMetrics;
use crate::placement::{Placement, Steering};
use crate::{Announcement, Deadlock, LatchWord, MAX_WORKERS, Observer, Policy, Posted, Protocol, Reason};
use crate::{PostedTo, Recheck, Retreat, SleepProtocol, Waker};
use drowse_sync::atomic::Ordering;
use drowse_sync::{Arc, full_fence, hint, light_fence, mutant};
use std::panic::Location;

/// The sleep of the workers of one pool.
///
/// The calls of a worker: [`start_looking`](Self::start_looking), then
/// [`no_work_found`](Self::no_work_found) after each empty search, then [`stop_looking`](Self::stop_looking).
/// The calls of whoever has news: [`post`](Self::post), [`post_injected`](Self::post_injected),
/// [`latch_set`](Self::latch_set), [`post_broadcast`](Self::post_broadcast).
#[derive(Debug)]
pub struct Sleep {
    pub(crate) house: House,
    pub(crate) protocol: Box<dyn Protocol>,
    pub(crate) policy: Policy,
    /// What the protocol says to [`Protocol::name`] and [`Protocol::tells_latch`].
    name: &'static str,
    tells_latch: bool,
}

/// How far an inactive worker has got on its way to sleep.
#[derive(Debug)]
pub struct Idle {
    pub(crate) worker: usize,
    /// Empty searches so far.
    rounds: u32,
    /// Empty searches on watch, after those.
    pub(crate) watched: u32,
    /// There while the worker is sleepy.
    pub(crate) announcement: Option<Announcement>,
    /// The worker was woken, and has found nothing since.
    woken: bool,
    /// It waits for something in the middle of a job.
    pub(crate) in_a_job: bool,
}

impl Idle {
    /// The worker has not run out of work: it waits in the middle of a job, and somebody is on it.
    #[must_use]
    pub fn in_a_job(self) -> Self {
        Self { in_a_job: true, ..self }
    }
}

/// What a worker that falls asleep must know of its pool, and what the pool wants to know of it.
///
/// A closure that tells whether there is work will do where nobody wants to know anything.
pub trait Surroundings {
    /// Whether there is a job, in any queue, that this worker could run.
    fn work_visible(&self) -> bool;

    /// The worker is about to block.
    fn before_sleep(&self) {}

    /// The worker has been woken.
    fn after_sleep(&self) {}

    /// The worker was the last one active, and others are blocked. Called with the census of the pool locked; must not unwind.
    fn deadlock(&self, _deadlock: &Deadlock) {}
}

impl<F: Fn() -> bool> Surroundings for F {
    fn work_visible(&self) -> bool {
        self()
    }
}

impl Sleep {
    /// The sleep of `workers` workers, all of them active.
    ///
    /// # Panics
    ///
    /// If there are more than [`MAX_WORKERS`].
    pub fn new(workers: usize, protocol: SleepProtocol, policy: Policy) -> Self {
        Self::with(workers, protocol.build(), policy)
    }

    /// As [`new`](Self::new), with a protocol of your own. (A pool chooses among those that have a name:
    /// [`SleepProtocol`].)
    ///
    /// # Panics
    ///
    /// If there are more than [`MAX_WORKERS`].
    pub fn with(workers: usize, protocol: Box<dyn Protocol>, policy: Policy) -> Self {
        assert!(workers <= MAX_WORKERS, "a pool has at most {MAX_WORKERS} workers, {workers} were asked for");
        let (name, tells_latch) = (protocol.name(), protocol.tells_latch());
        Self { house: House::new(workers), protocol, policy, name, tells_latch }
    }

    /// The same, with a census of who is active, asleep and blocked, so that a [`Deadlock`] is noticed.
    #[must_use]
    pub fn with_deadlock_detection(mut self) -> Self {
        self.house.detector = Some(Detector::new(self.house.workers()));
        self
    }

    /// The same, with somebody who is told of each step.
    #[must_use]
    pub fn with_observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.house.observer = Some(observer);
        self
    }

    /// The same, with workers that begin where there is room when they are woken by working ones.
    #[must_use]
    pub fn with_steering(mut self, steering: Steering) -> Self {
        self.house.placement = Placement::new(self.house.workers(), steering);
        self.house.sleepers.can_be_held = self.house.placement.is_on();
        self
    }

    /// The name of the protocol.
    pub fn protocol(&self) -> &'static str {
        self.name
    }

    /// How many workers are asleep at this moment.
    pub fn sleeping(&self) -> usize {
        self.house.sleepers.asleep()
    }

    /// Whether the protocol's word is as it should be when no worker searches or sleeps. For tests.
    pub fn is_clear(&self) -> bool {
        // ORDERING: relaxed; asked when all is over.
        self.protocol.is_clear(self.house.word().load(Ordering::Relaxed))
    }

    /// How this worker has slept so far.
    pub fn metrics(&self, worker: usize) -> SleepMetrics {
        self.house.metrics(worker)
    }

    /// The worker found nothing in its own queue and begins to search elsewhere.
    pub fn start_looking(&self, worker: usize) -> Idle {
        self.protocol.start_looking(&self.house, worker);
        self.house.observe(|observer| observer.idle(worker));
        Idle {
            worker,
            rounds: self.head_start(worker),
            watched: 0,
            announcement: None,
            woken: false,
            in_a_job: false,
        }
    }

    /// The worker stops searching: it found a job, or its latch is set.
    ///
    /// `work_visible` tells whether there is a job, in any queue, for somebody else: a post may have counted on this worker.
    pub fn stop_looking(&self, idle: Idle, work_visible: impl Fn() -> bool) {
        if let Some(announcement) = idle.announcement {
            self.protocol.cancel(&self.house, announcement);
        }
        self.protocol.stop_looking(&self.house, idle.worker, &work_visible);
        self.house.observe(|observer| observer.active(idle.worker));
    }

    /// The worker searched everywhere and found nothing. Pauses, gets sleepy, or sleeps until woken.
    ///
    /// `latch` is what the worker waits for.
    pub fn no_work_found(&self, idle: &mut Idle, latch: &LatchWord, around: &dyn Surroundings) {
        let sleepy_at = self.policy.rounds_until_sleepy;
        if idle.rounds < sleepy_at {
            idle.rounds += 1;
            return self.policy.pause.pause();
        }
        if idle.announcement.is_none() && self.keeps_watch(idle) {
            idle.watched += 1;
            return self.policy.pause.pause();
        }
        if idle.announcement.is_none() {
            idle.announcement = self.protocol.announce(&self.house, idle.worker);
            if idle.announcement.is_some() {
                self.house.observe(|observer| observer.sleepy(idle.worker));
            }
        }
        if idle.announcement.is_none() {
            // Another worker stands in the way, for a moment. Whatever the policy, let it get on.
            hint::spin_loop();
            return self.policy.pause.pause();
        }
        if idle.rounds < sleepy_at.saturating_add(self.policy.rounds_while_sleepy) {
            if idle.rounds > sleepy_at {
                self.policy.pause.pause();
            }
            idle.rounds += 1;
        } else if let Some(announcement) = idle.announcement.take() {
            self.go_to_bed(idle, announcement, latch, around);
        }
    }

    #[cold]
    fn go_to_bed(
        &self,
        idle: &mut Idle,
        announcement: Announcement,
        latch: &LatchWord,
        around: &dyn Surroundings,
    ) {
        let (house, worker) = (&self.house, idle.worker);
        if self.tells_latch && !latch.get_sleepy() {
            return self.protocol.cancel(house, announcement);
        }
        house.placement.settle(worker);
        let late_bed = mutant::active_in(self.name, "late-bed");
        if !late_bed {
            house.sleepers.make_bed(worker);
        }
        // WAKE: from here on a setter of the latch wakes us, and the worker's loop probes the latch if we
        // come too late for that. (Where the latch is not told, the re-check and the protocol's word see to it.)
        if self.tells_latch && !latch.fall_asleep() {
            house.sleepers.leave_bed(worker);
            return self.protocol.cancel(house, announcement);
        }
        let recheck = Recheck { protocol: self.name, latch, work_visible: &|| around.work_visible() };
        match self.protocol.commit(house, announcement, recheck) {
            Ok(committed) => {
                if late_bed {
                    house.sleepers.make_bed(worker);
                }
                if house.go_to_sleep(worker, committed, &|deadlock| around.deadlock(deadlock)) {
                    self.block(idle, around);
                } else {
                    self.protocol.uncommit(house, worker);
                    idle.rounds = self.policy.rounds_until_sleepy;
                }
            }
            Err(retreat) => {
                house.sleepers.leave_bed(worker);
                idle.rounds = match retreat {
                    Retreat::BeforeSleepy => self.policy.rounds_until_sleepy,
                    Retreat::StartOver => 0,
                };
            }
        }
        if self.tells_latch {
            latch.wake_up();
        }
    }

    /// Blocks a worker that is in bed and has committed.
    fn block(&self, idle: &mut Idle, around: &dyn Surroundings) {
        let meter = &self.house.meters[idle.worker];
        if idle.woken {
            meter.fruitless.add_mine(1);
        }
        self.house.observe(|observer| observer.asleep(idle.worker));
        around.before_sleep();
        let since = self.house.clock.elapsed();
        meter.park(since);
        self.house.sleepers.sleep(idle.worker);
        self.house.placement.arrive(idle.worker, meter);
        meter.unpark(since, self.house.clock.elapsed(), idle.in_a_job);
        around.after_sleep();
        self.house.observe(|observer| observer.awake(idle.worker));
        idle.woken = true;
        (idle.rounds, idle.watched) = (0, 0);
    }

    /// New work for anyone: `jobs` jobs were published by a worker that is active: not between
    /// [`start_looking`](Self::start_looking) and [`stop_looking`](Self::stop_looking). Wakes whom the protocol wants to wake.
    ///
    /// `queue` is where they are; it is asked only when somebody sleeps.
    ///
    /// When nobody sleeps or is sleepy, this is a [light fence](drowse_sync::light_fence), one load and one branch, whatever the
    /// protocol. A caller that does not hold [`LightFences`](drowse_sync::LightFences) must have executed a full fence since it
    /// published the jobs.
    #[inline(always)]
    pub fn post(&self, jobs: usize, queue: &impl PostedTo) {
        // ORDERING: pairs with `House::fence_against_posts`.
        if !mutant::active_in(self.name, "no-local-post-fence") {
            light_fence("");
        }
        if self.house.wants_attention() {
            self.post_cold(jobs, true, queue);
        }
    }

    /// As [`post`](Self::post), for jobs that a thread which is no worker put into the injector.
    pub fn post_injected(&self, jobs: usize, queue: &impl PostedTo) {
        // ORDERING: pairs with `House::fence_against_posts`.
        if !mutant::active_in(self.name, "no-post-fence") {
            full_fence("");
        }
        if self.house.wants_attention() {
            self.post_cold(jobs, false, queue);
        }
    }

    #[cold]
    #[inline(never)]
    fn post_cold(&self, jobs: usize, by_worker: bool, queue: &dyn PostedTo) {
        self.protocol.post(&self.house, &Posted { jobs, by_worker, queue });
    }

    /// The latch of worker `owner` was set: `slept` is what [`LatchWord::set`] said.
    ///
    /// `waker` tells what becomes of the calling thread; it is asked only if somebody may have to be woken.
    #[inline]
    pub fn latch_set(&self, owner: usize, slept: bool, reason: Reason, waker: impl FnOnce() -> Waker) {
        if slept || !self.tells_latch {
            self.latch_set_cold(owner, slept, reason, waker());
        }
    }

    #[cold]
    fn latch_set_cold(&self, owner: usize, slept: bool, reason: Reason, waker: Waker) {
        self.protocol.latch_set(&self.house, owner, slept, reason, waker);
    }

    /// Each worker was left a job that nobody else may run.
    pub fn post_broadcast(&self) {
        // ORDERING: pairs with the fence of a worker on its way to sleep: we see that it is, or it sees its job.
        if !mutant::active_in(self.name, "no-broadcast-fence") {
            full_fence("");
        }
        self.protocol.broadcast(&self.house);
    }

    /// This worker is about to block in the user's code, at this place. No effect without deadlock detection.
    ///
    /// `on_deadlock` is called, with the census locked, if that leaves nobody active. It must not unwind. It may post work; it must not
    /// wait for a pool, nor mark workers: [`in_deadlock_handler`](Self::in_deadlock_handler),
    /// [`assert_may_post`](Self::assert_may_post).
    pub fn mark_blocked(
        &self,
        worker: usize,
        at: &'static Location<'static>,
        on_deadlock: &dyn Fn(&Deadlock),
    ) {
        if let Some(detector) = &self.house.detector {
            detector.mark_blocked(worker, at, on_deadlock);
        }
    }

    /// This worker is about to be unblocked, which was marked as blocked at this place. No effect without deadlock detection.
    ///
    /// # Panics
    ///
    /// In this pool's deadlock handler, when the mark is gone; and if there is no such mark.
    pub fn mark_unblocked(&self, worker: usize, at: &'static Location<'static>) {
        if let Some(detector) = &self.house.detector {
            detector.mark_unblocked(worker, at);
        }
    }

    /// Whether this thread is running the deadlock handler of some pool.
    pub fn in_deadlock_handler() -> bool {
        deadlock::in_handler()
    }

    /// To be asked before a thread outside posts work.
    ///
    /// # Panics
    ///
    /// In the deadlock handler of another pool, if this one has one too: both would be locked, in an order that nobody knows.
    pub fn assert_may_post(&self) {
        if let Some(detector) = &self.house.detector {
            detector.assert_not_in_another_handler();
        }
    }

    /// This worker ends. No effect without deadlock detection.
    pub fn mark_gone(&self, worker: usize, on_deadlock: &dyn Fn(&Deadlock)) {
        if let Some(detector) = &self.house.detector {
            detector.mark_gone(worker, on_deadlock);
        }
    }
}
