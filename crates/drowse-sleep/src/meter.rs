//! What is counted about each worker's sleep.

use crate::Reason;
use drowse_sync::Counter;
use std::time::Duration;

/// A sleep shorter than this was not worth it: falling asleep and being woken takes about as long, of several threads.
const BRIEF: Duration = Duration::from_micros(50);

/// The counts of one worker. All are off the hot path: they are touched where a thread sleeps or is woken.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    /// Times it blocked.
    pub(crate) sleeps: Counter,
    /// Times it blocked again without having found anything to do since it was woken.
    pub(crate) fruitless: Counter,
    /// Times a waker stopped it on its way to sleep.
    pub(crate) kept_awake: Counter,
    /// Nanoseconds that it was blocked, in sleeps that have ended.
    parked: Counter,
    /// When the sleep began that has not ended, by the house's clock, plus one; 0 if it is awake.
    parked_since: Counter,
    /// Nanoseconds of the last sleep; 0 if there was none.
    last_sleep: Counter,
    /// Times it was woken, by reason. Counted by the waker.
    wakes: [Counter; Reason::ALL.len()],
}

impl Meter {
    pub(crate) fn count_wake(&self, reason: Reason) {
        self.wakes[reason as usize].add(1);
    }

    /// The worker is about to block.
    pub(crate) fn park(&self, now: Duration) {
        self.sleeps.add_mine(1);
        self.parked_since.set_mine(nanos(now) + 1);
    }

    /// The worker was woken.
    pub(crate) fn unpark(&self, now: Duration) {
        let since = self.parked_since.get();
        self.parked_since.set_mine(0);
        let slept = (nanos(now) + 1).saturating_sub(since);
        self.parked.add_mine(slept);
        self.last_sleep.set_mine(slept.max(1));
    }

    /// Whether the worker's last sleep was a brief one.
    pub(crate) fn slept_briefly(&self) -> bool {
        (1..nanos(BRIEF)).contains(&self.last_sleep.get())
    }

    pub(crate) fn read(&self, now: Duration) -> SleepMetrics {
        let running = match self.parked_since.get() {
            0 => 0,
            since => (nanos(now) + 1).saturating_sub(since),
        };
        SleepMetrics {
            sleeps: self.sleeps.get(),
            fruitless: self.fruitless.get(),
            kept_awake: self.kept_awake.get(),
            parked: Duration::from_nanos(self.parked.get() + running),
            wakes: std::array::from_fn(|reason| self.wakes[reason].get()),
        }
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX - 1)
}

/// How one worker has slept so far.
///
/// ```
/// use drowse_sleep::{Policy, Reason, Sleep, SleepProtocol};
///
/// let sleep = Sleep::new(1, SleepProtocol::default(), Policy::default());
/// assert_eq!(sleep.metrics(0).sleeps, 0);
/// assert_eq!(sleep.metrics(0).wakes(Reason::Job), 0);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SleepMetrics {
    /// Times it blocked.
    pub sleeps: u64,
    /// Wakes that found nothing: it blocked again without having found a job, or its latch set.
    pub fruitless: u64,
    /// Times that it was about to block and was kept from it: a wake-up without a system call.
    pub kept_awake: u64,
    /// Time that it was blocked, up to this moment.
    pub parked: Duration,
    wakes: [u64; Reason::ALL.len()],
}

impl SleepMetrics {
    /// Times it was woken for this reason.
    pub fn wakes(&self, reason: Reason) -> u64 {
        self.wakes[reason as usize]
    }

    /// What was added since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            sleeps: self.sleeps.saturating_sub(earlier.sleeps),
            fruitless: self.fruitless.saturating_sub(earlier.fruitless),
            kept_awake: self.kept_awake.saturating_sub(earlier.kept_awake),
            parked: self.parked.saturating_sub(earlier.parked),
            wakes: std::array::from_fn(|reason| self.wakes[reason].saturating_sub(earlier.wakes[reason])),
        }
    }

    /// Times it was woken.
    pub fn all_wakes(&self) -> u64 {
        self.wakes.iter().sum()
    }
}

impl std::ops::AddAssign for SleepMetrics {
    fn add_assign(&mut self, other: Self) {
        self.sleeps += other.sleeps;
        self.fruitless += other.fruitless;
        self.kept_awake += other.kept_awake;
        self.parked += other.parked;
        for (mine, other) in self.wakes.iter_mut().zip(other.wakes) {
            *mine += other;
        }
    }
}
