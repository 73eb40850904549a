//! Sleep of one pool: its parts, and its queries.

use crate::absent::Absence;
use crate::deadlock::Detector;
use crate::defer::Deferral;
use crate::meter::SleepMetrics;
use crate::observer::Observed;
use crate::placement::{Placement, Steering};
use crate::room::Room;
use crate::seats::Seats;
use crate::slots::Slots;
use crate::word::Word;
use crate::{MAX_WORKERS, Mark, Observer, Policy, Posters, Protocol, SleepProtocol};
use drowse_sync::{Arc, Outlined, Stopwatch, ThreadId, faulty, full_fence};
#[cfg(feature = "diagnose")]
use std::time::Duration;

/// Sleep of the workers of one pool.
///
/// A worker calls [`start_looking`](Self::start_looking), then
/// [`no_work_found`](Self::no_work_found) after each empty search, then
/// [`stop_looking`](Self::stop_looking). A thread that has news calls [`post`](Self::post),
/// [`post_injected`](Self::post_injected), [`latch_set`](Self::latch_set) or
/// [`post_broadcast`](Self::post_broadcast).
///
/// The [`Protocol`] decides, this type acts. A worker's path to sleep is in `fall_asleep.rs`, the
/// path of news to a sleeper in `wake.rs`.
#[derive(Debug)]
pub struct Sleep {
    /// The protocol and its state.
    pub(crate) word: Word,
    pub(crate) policy: Policy,
    pub(crate) slots: Outlined<Slots>,
    pub(crate) seats: Outlined<Seats>,
    pub(crate) placement: Placement,
    pub(crate) detector: Option<Outlined<Detector>>,
    pub(crate) room: Room,
    pub(crate) deferral: Deferral,
    observed: Observed,
    posters: Option<Arc<dyn Posters>>,
    pub(crate) absence: Option<Absence>,
    pub(crate) clock: Stopwatch,
}

impl Sleep {
    /// Returns the sleep of `workers` workers, all of them active.
    ///
    /// # Panics
    ///
    /// If there are more than [`MAX_WORKERS`].
    pub fn new(workers: usize, protocol: SleepProtocol, policy: Policy) -> Self {
        Self::with(workers, protocol.build(), policy)
    }

    /// Returns the same as [`new`](Self::new), with a protocol of your own. (A pool chooses among
    /// the named protocols: [`SleepProtocol`].)
    ///
    /// # Panics
    ///
    /// If there are more than [`MAX_WORKERS`].
    pub fn with(workers: usize, protocol: Box<dyn Protocol>, policy: Policy) -> Self {
        assert!(
            workers <= MAX_WORKERS,
            "a pool has at most {MAX_WORKERS} workers, {workers} were asked for"
        );
        Self {
            word: Word::new(protocol),
            policy,
            slots: Outlined::new(Slots::new(workers)),
            seats: Outlined::new(Seats::new(workers, workers)),
            placement: Placement::new(),
            detector: None,
            room: Room::new(workers),
            deferral: Deferral::default(),
            observed: Observed::default(),
            posters: None,
            absence: None,
            clock: Stopwatch::start(),
        }
    }

    /// Adds a census of the workers that are active, asleep and blocked, which reports a
    /// [`Standstill`](crate::Standstill) that lasts for `patience`.
    ///
    /// `start` starts a thread that keeps the [`Lookout`](crate::Lookout), when first needed,
    /// and returns `true` if it could. It is called where a worker is about to sleep or block, with
    /// nothing locked. It must not unwind, and must not wait for the pool.
    #[cfg(feature = "diagnose")]
    #[must_use]
    pub fn with_deadlock_detection(
        mut self,
        patience: Duration,
        start: impl Fn(crate::Lookout) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.detector =
            Some(Outlined::new(Detector::new(self.workers(), self.seats(), patience, start)));
        self
    }

    /// Sets how many workers can run at once. Waking more than that makes nothing faster, unless
    /// some of them are blocked, and some protocols act on it. The default is the number of
    /// processors that at least one worker may run on, if the system tells.
    #[must_use]
    #[inline]
    pub fn with_room(mut self, room: usize) -> Self {
        self.room = Room::of(room);
        self
    }

    /// Returns how many workers may be up, for decisions about wakes: see `Room::for_wakes`. No
    /// limit with deadlock detection: the census would count a sentry as asleep, although it has
    /// work to do.
    #[inline(never)]
    pub(crate) fn room(&self) -> usize {
        if self.detector.is_some() { usize::MAX } else { self.room.for_wakes(self.seats_in_use()) }
    }

    /// Adds an observer, which is told of each step.
    #[cfg(feature = "diagnose")]
    #[must_use]
    #[inline]
    pub fn with_observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observed.by = Some(observer);
        self
    }

    /// Adds steering: workers that are woken by working ones begin on a processor that is free.
    #[must_use]
    #[inline]
    pub fn with_steering(mut self, steering: Steering) -> Self {
        self.placement.set_steering(steering);
        self.slots.can_be_held = self.placement.is_on();
        self
    }

    /// Adds seats for [guests](Self::take_seat).
    #[must_use]
    #[inline]
    pub fn with_guests(mut self) -> Self {
        self.slots.let_guests_in();
        self
    }

    /// Adds posters: workers then [post](Self::post) what they publish only if they have been
    /// alerted since they last found that [no worker sleeps](Self::has_sleepers).
    #[must_use]
    #[inline]
    pub fn with_posters(mut self, posters: Arc<dyn Posters>) -> Self {
        self.posters = Some(posters);
        self
    }

    /// Alerts all workers that post: a worker sleeps, or is about to.
    pub(crate) fn alert_posters(&self) {
        if let Some(posters) = &self.posters {
            // ORDERING: pairs with the fence of a deque owner that raises its limit and then calls
            // `has_sleepers`. Either it sees our change of the word, or `alert` sees the limit that
            // it has raised. Without the fence each could miss the other, and later posts would not
            // read the word.
            full_fence("sleep/alert-unfenced");
            (0..self.seats_in_use()).for_each(|worker| posters.alert(worker));
        }
    }

    /// Returns the name of the protocol.
    pub fn protocol(&self) -> &'static str {
        self.word.rules.name
    }

    /// Returns the number of workers, without spares.
    pub fn workers(&self) -> usize {
        self.seats.workers
    }

    /// Returns `true` in a forked child. The workers are in its parent (except the one that forked,
    /// if a worker did), so there is no worker to wake, and locks may stay locked for ever.
    pub fn is_left_behind(&self) -> bool {
        !self.seats.process.is_this()
    }

    /// Returns the detector; `None` in a forked child, whose workers it cannot count.
    fn detector(&self) -> Option<&Detector> {
        self.detector.as_deref().filter(|_| !self.is_left_behind())
    }

    /// Returns how many workers are asleep now.
    pub fn sleeping(&self) -> usize {
        self.slots.parked()
    }

    /// Returns `true` if this worker is asleep, that is, parked between its
    /// [`start_looking`](Self::start_looking) and [`stop_looking`](Self::stop_looking). Then it has
    /// no jobs of its own.
    ///
    /// Up to date for what the caller has seen the worker do: a caller that looks after a fence, or
    /// in [`Host::work_visible`](crate::Host::work_visible), misses no job of a worker that was
    /// asleep before it posted.
    pub fn is_asleep(&self, worker: usize) -> bool {
        faulty!("sleep/all-seem-asleep", self.slots.is_asleep(worker), true)
    }

    /// Returns `true` if the protocol's word is as it should be when no worker searches or sleeps.
    /// For tests.
    pub fn is_clear(&self) -> bool {
        self.word.is_clear()
    }

    /// Returns how this worker has slept so far.
    pub fn metrics(&self, worker: usize) -> SleepMetrics {
        self.seats[worker].meter.read(self.now())
    }

    /// Returns the nanoseconds since the pool began.
    pub(crate) fn now(&self) -> u64 {
        self.clock.nanos()
    }

    /// Calls `tell` with the observer, if there is one.
    #[inline]
    pub(crate) fn observe(&self, tell: impl FnOnce(&dyn Observer)) {
        self.observed.tell(tell);
    }

    /// Marks that this worker is about to block in the user's code. No effect without deadlock
    /// detection.
    pub fn mark_blocked(&self, worker: usize, mark: Mark) {
        if let Some(detector) = self.detector() {
            detector.mark_blocked(worker, mark);
        }
    }

    /// Removes a mark of this worker, which is about to be unblocked or was. No effect without
    /// deadlock detection.
    ///
    /// # Panics
    ///
    /// If there is no such mark.
    pub fn mark_unblocked(&self, worker: usize, mark: &Mark) {
        if let Some(detector) = self.detector() {
            detector.mark_unblocked(worker, mark);
        }
    }

    /// Marks this worker as away: it is about to block, and another thread may work in its place.
    /// No effect without deadlock detection.
    pub fn mark_away(&self, worker: usize) {
        if let Some(detector) = self.detector() {
            detector.mark_away(worker, Some(ThreadId::current()));
        }
    }

    /// Marks this worker as not away any more. No effect without deadlock detection.
    pub fn mark_back(&self, worker: usize) {
        if let Some(detector) = self.detector() {
            detector.mark_away(worker, None);
        }
    }

    /// Ends detection, because the pool ends: no alarm from now on. No effect without deadlock
    /// detection.
    pub fn end_detection(&self) {
        if let Some(detector) = self.detector() {
            detector.end();
        }
    }

    /// Marks this worker as ended. No effect without deadlock detection.
    pub fn mark_gone(&self, worker: usize) {
        if let Some(detector) = self.detector() {
            detector.mark_gone(worker);
        }
    }
}
