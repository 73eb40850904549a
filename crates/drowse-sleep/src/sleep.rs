//! The sleep of one pool: what it consists of, and what can be asked of it.

use crate::absent::Absence;
use crate::deadlock::Detector;
use crate::meter::{Meter, SleepMetrics};
use crate::placement::{Placement, Steering};
use crate::room::Room;
use crate::slots::Slots;
use crate::word::Word;
use crate::{Lookout, MAX_WORKERS, Mark, Observer, Policy, Posters, Protocol, Rules, SleepProtocol};
use drowse_sync::atomic::AtomicUsize;
use drowse_sync::{
    Arc, CachePadded, Counter, Outlined, Process, Stopwatch, Table, ThreadId, faulty, full_fence,
};
use std::time::Duration;

/// The sleep of the workers of one pool.
///
/// The calls of a worker: [`start_looking`](Self::start_looking), then
/// [`no_work_found`](Self::no_work_found) after each empty search, then
/// [`stop_looking`](Self::stop_looking). The calls of whoever has news: [`post`](Self::post),
/// [`post_injected`](Self::post_injected), [`latch_set`](Self::latch_set),
/// [`post_broadcast`](Self::post_broadcast).
///
/// What is decided comes from the [`Protocol`]; what is done is done here. The way of a worker to
/// sleep is in `fall_asleep.rs`, the way of news to a sleeper in `wake.rs`.
#[derive(Debug)]
pub struct Sleep {
    /// The protocol's state.
    pub(crate) word: Word,
    pub(crate) protocol: Box<dyn Protocol>,
    pub(crate) rules: Rules,
    pub(crate) policy: Policy,
    pub(crate) slots: Outlined<Slots>,
    pub(crate) meters: Table<CachePadded<Meter>>,
    pub(crate) placement: Placement,
    pub(crate) detector: Option<Outlined<Detector>>,
    pub(crate) room: Room,
    /// How many sentries in a row had to get up.
    pub(crate) relieved: Counter,
    /// How many workers do not come back from their jobs: those whom the sentries have noted.
    pub(crate) stuck: Counter,
    /// Workers that are not spares.
    pub(crate) workers: usize,
    /// See `spare.rs`.
    pub(crate) seats_in_use: AtomicUsize,
    /// How many sleep alone; and how many count as active, and do not run.
    pub(crate) alone: Counter,
    pub(crate) aside: Counter,
    /// How many guests have come; and how many had, when the door was last left alone.
    pub(crate) guests: Counter,
    pub(crate) guests_when_closed: Counter,
    /// When the work began for which wakes are owed, in nanoseconds by the clock.
    pub(crate) owed_since: Counter,
    observer: Option<Arc<dyn Observer>>,
    posters: Option<Arc<dyn Posters>>,
    pub(crate) absence: Option<Absence>,
    /// Whose threads the workers are.
    process: Process,
    pub(crate) clock: Stopwatch,
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

    /// As [`new`](Self::new), with a protocol of your own. (A pool chooses among those that have a
    /// name: [`SleepProtocol`].)
    ///
    /// # Panics
    ///
    /// If there are more than [`MAX_WORKERS`].
    pub fn with(workers: usize, protocol: Box<dyn Protocol>, policy: Policy) -> Self {
        assert!(workers <= MAX_WORKERS, "a pool has at most {MAX_WORKERS} workers, {workers} were asked for");
        Self {
            word: Word::new(),
            rules: protocol.rules(),
            protocol,
            policy,
            slots: Outlined::new(Slots::new(workers)),
            meters: Meter::table(workers, workers),
            placement: Placement::new(workers, workers, Steering::Never),
            detector: None,
            room: Room::new(workers),
            relieved: Counter::new(),
            stuck: Counter::new(),
            workers,
            seats_in_use: AtomicUsize::new(workers),
            alone: Counter::new(),
            aside: Counter::new(),
            guests: Counter::new(),
            guests_when_closed: Counter::new(),
            owed_since: Counter::new(),
            observer: None,
            posters: None,
            absence: None,
            process: Process::this(),
            clock: Stopwatch::start(),
        }
    }

    /// The same, with a census of who is active, asleep and blocked, so that a
    /// [`Standstill`](crate::Standstill) is noticed that lasts for `patience`.
    ///
    /// `start` starts a thread that keeps the [`Lookout`], when it is first needed, and says
    /// whether it could. It is called where a worker is about to sleep or block, with nothing
    /// locked; it must not unwind, and must not wait for the pool.
    #[must_use]
    pub fn with_deadlock_detection(
        mut self,
        patience: Duration,
        start: impl Fn(Lookout) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.detector = Some(Outlined::new(Detector::new(self.workers, self.seats(), patience, start)));
        self
    }

    /// The same, where no more than `room` workers can run at once. To wake more than that makes
    /// nothing faster, unless some of them are blocked, and some protocols act on it. Without this
    /// it is the number of processors that they may run on between them, if the system tells.
    #[must_use]
    pub fn with_room(mut self, room: usize) -> Self {
        self.room = Room::of(room);
        self
    }

    /// For how many workers there is room, for those who decide about wakes: see
    /// [`stand_guard`](Self::stand_guard). No limit where there is a census: a sentry would be
    /// counted as asleep, and it has work to do.
    pub(crate) fn room(&self) -> usize {
        if self.detector.is_some() { usize::MAX } else { self.room_beside_the_stuck() }
    }

    /// The same, with somebody who is told of each step.
    #[must_use]
    pub fn with_observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// The same, with workers that begin where there is room when they are woken by working ones.
    #[must_use]
    pub fn with_steering(mut self, steering: Steering) -> Self {
        self.placement.set_steering(steering);
        self.slots.can_be_held = self.placement.is_on();
        self
    }

    /// The same, with seats for [guests](Self::take_seat).
    #[must_use]
    pub fn with_guests(mut self) -> Self {
        self.slots.let_guests_in();
        self
    }

    /// The same, with workers that do not [post](Self::post) each time that they publish something,
    /// but only if they have been alerted since they last found that [nobody
    /// sleeps](Self::has_sleepers).
    #[must_use]
    pub fn with_posters(mut self, posters: Arc<dyn Posters>) -> Self {
        self.posters = Some(posters);
        self
    }

    /// Somebody sleeps, or is about to.
    pub(crate) fn alert_posters(&self) {
        if let Some(posters) = &self.posters {
            // ORDERING: pairs with the fence of a worker that raises its limit. Either it sees our
            // change of the word after that, or we see the limit that it has raised.
            full_fence("sleep/alert-unfenced");
            (0..self.seats_in_use()).for_each(|worker| posters.alert(worker));
        }
    }

    /// The name of the protocol.
    pub fn protocol(&self) -> &'static str {
        self.rules.name
    }

    /// How many workers there are, spares aside.
    pub fn workers(&self) -> usize {
        self.workers
    }

    /// Whether this is a forked child, and the workers are in its parent, but for the one that
    /// forked, if it was one: nobody is here to be woken, and locks may be locked for ever.
    pub fn is_left_behind(&self) -> bool {
        !self.process.is_this()
    }

    /// The detector, unless nobody is here whom it could count.
    fn detector(&self) -> Option<&Detector> {
        self.detector.as_deref().filter(|_| !self.is_left_behind())
    }

    /// How many workers are asleep at this moment.
    pub fn sleeping(&self) -> usize {
        self.slots.parked()
    }

    /// Whether this worker is asleep: not between its [`start_looking`](Self::start_looking) and
    /// [`stop_looking`](Self::stop_looking) but parked there, and so it has no jobs of its own.
    ///
    /// Up to date for what the caller has seen the worker do: a look that comes after a fence, or
    /// in [`Host::work_visible`](crate::Host::work_visible), misses no job of a worker that was
    /// asleep before it posted.
    pub fn is_asleep(&self, worker: usize) -> bool {
        faulty!("sleep/all-seem-asleep", self.slots.is_asleep(worker), true)
    }

    /// Whether the protocol's word is as it should be when no worker searches or sleeps. For tests.
    pub fn is_clear(&self) -> bool {
        self.protocol.is_clear(self.word.peek())
    }

    /// How this worker has slept so far.
    pub fn metrics(&self, worker: usize) -> SleepMetrics {
        self.meters[worker].read(self.clock.elapsed())
    }

    /// Tells the observer, if there is one.
    #[inline]
    pub(crate) fn observe(&self, tell: impl FnOnce(&dyn Observer)) {
        if let Some(observer) = &self.observer {
            tell(&**observer);
        }
    }

    /// This worker is about to block in the user's code. No effect without deadlock detection.
    pub fn mark_blocked(&self, worker: usize, mark: Mark) {
        if let Some(detector) = self.detector() {
            detector.mark_blocked(worker, mark);
        }
    }

    /// This worker is about to be unblocked, or was, which was marked as blocked like this. No
    /// effect without deadlock detection.
    ///
    /// # Panics
    ///
    /// If there is no such mark.
    pub fn mark_unblocked(&self, worker: usize, mark: &Mark) {
        if let Some(detector) = self.detector() {
            detector.mark_unblocked(worker, mark);
        }
    }

    /// This worker is about to block, and another thread may work in its place meanwhile: it is
    /// away from now on. No effect without deadlock detection.
    pub fn mark_away(&self, worker: usize) {
        if let Some(detector) = self.detector() {
            detector.mark_away(worker, Some(ThreadId::current()));
        }
    }

    /// This worker is not away any more. No effect without deadlock detection.
    pub fn mark_back(&self, worker: usize) {
        if let Some(detector) = self.detector() {
            detector.mark_away(worker, None);
        }
    }

    /// The pool ends: from now on there is no alarm. No effect without deadlock detection.
    pub fn end_detection(&self) {
        if let Some(detector) = self.detector() {
            detector.end();
        }
    }

    /// This worker ends. No effect without deadlock detection.
    pub fn mark_gone(&self, worker: usize) {
        if let Some(detector) = self.detector() {
            detector.mark_gone(worker);
        }
    }
}
