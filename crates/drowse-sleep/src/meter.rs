//! Counts of each worker's sleep.

use crate::Reason;
use drowse_sync::Counter;
use std::time::Duration;

/// A microsecond and a millisecond, in the unit of a pool's clock: nanoseconds since it began.
pub(crate) const US: u64 = 1_000;
pub(crate) const MS: u64 = 1_000_000;

/// Sleeps shorter than this did not pay: falling asleep and being woken takes the threads involved
/// about as long.
const BRIEF: u64 = 50 * US;

/// Threshold for sleeps in the middle of a job. Longer, because the thread that ends such a sleep
/// often had to be woken itself.
const BRIEF_IN_A_JOB: u64 = 200 * US;

/// Counts of one worker. None is on the hot path: they change when a thread sleeps or is woken.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    /// Times that the worker blocked.
    pub(crate) sleeps: Counter,
    /// Times that it blocked again without having found anything to do since it was woken.
    pub(crate) fruitless: Counter,
    /// Times that a waker stopped it on its way to sleep.
    pub(crate) kept_awake: Counter,
    /// 1 if a sentry has noted that the worker does not come back from its job.
    pub(crate) stuck: Counter,
    /// Times that it was made the sentry. Counted by the thread that made it so.
    pub(crate) sentries: Counter,
    /// Times that a guest took its seat.
    guests: Counter,
    /// Nanoseconds that the worker was blocked, in sleeps that have ended. During a sleep: that sum
    /// minus the start time of the sleep, with the flag `ASLEEP`. One word, so that a reader never
    /// combines an old half with a new one.
    parked: Counter,
    /// Largest value of the blocked time that a reader was given.
    told: Counter,
    /// Nanoseconds of the last sleep with nothing to do, and of the last in the middle of a job; 0
    /// if there was none.
    last_sleep: Counter,
    last_sleep_in_a_job: Counter,
    /// Times that it was woken, by reason. Counted by the waker.
    wakes: [Counter; Reason::ALL.len()],
    /// Wakes by working workers: `steered`, with the mask narrowed, counted by the waker; `late`,
    /// those of them that began late; `unsteered`, left to the system; `behind_waker`, those of
    /// them that began on the waker's processor. The last three are counted by the woken worker.
    pub(crate) steered: Counter,
    pub(crate) late: Counter,
    pub(crate) unsteered: Counter,
    pub(crate) behind_waker: Counter,
}

impl Meter {
    pub(crate) fn count_wake(&self, reason: Reason) {
        self.wakes[reason as usize].add(1);
    }

    /// Records that the worker is about to block.
    pub(crate) fn park(&self, now: u64) {
        self.sleeps.add_mine(1);
        self.parked.set_mine(self.parked.get().wrapping_sub(now) | ASLEEP);
    }

    /// Records that the worker, which blocked at `since`, was woken.
    pub(crate) fn unpark(&self, since: u64, now: u64, in_a_job: bool) {
        self.parked.set_mine(self.parked_until(now));
        let last = if in_a_job { &self.last_sleep_in_a_job } else { &self.last_sleep };
        last.set_mine(now.saturating_sub(since).max(1));
    }

    /// Records that a guest takes the seat of the sleeping worker: the guest's time does not count
    /// as sleep.
    pub(crate) fn sit(&self, now: u64) {
        self.guests.add_mine(1);
        self.parked.set_mine(self.parked_until(now));
    }

    /// Records that the guest has given the seat back and the worker sleeps on.
    pub(crate) fn vacate(&self, now: u64) {
        self.parked.set_mine(self.parked.get().wrapping_sub(now) | ASLEEP);
    }

    /// Returns the nanoseconds that the worker was blocked up to `now`.
    fn parked_until(&self, now: u64) -> u64 {
        match self.parked.get() {
            word if word & ASLEEP != 0 => {
                let parked = word.wrapping_add(now) & !ASLEEP;
                // Negative if the worker fell asleep after `now`.
                if parked > ASLEEP / 2 { 0 } else { parked }
            }
            parked => parked,
        }
    }

    /// Returns `true` if the worker's last sleep of this kind was brief.
    pub(crate) fn slept_briefly(&self, in_a_job: bool) -> bool {
        let (last, brief) = if in_a_job {
            (&self.last_sleep_in_a_job, BRIEF_IN_A_JOB)
        } else {
            (&self.last_sleep, BRIEF)
        };
        (1..brief).contains(&last.get())
    }

    pub(crate) fn read(&self, now: u64) -> SleepMetrics {
        // The worker reads the clock before it records that it is awake, so a reader in between
        // gets a little too much. `raise` keeps later readers from getting less.
        let parked = self.told.raise(self.parked_until(now));
        SleepMetrics {
            sleeps: self.sleeps.get(),
            fruitless: self.fruitless.get(),
            kept_awake: self.kept_awake.get(),
            sentries: self.sentries.get(),
            guests: self.guests.get(),
            parked: Duration::from_nanos(parked),
            steered: self.steered.get(),
            late: self.late.get(),
            unsteered: self.unsteered.get(),
            behind_waker: self.behind_waker.get(),
            wakes: std::array::from_fn(|reason| self.wakes[reason].get()),
        }
    }
}

/// Flag for a worker that sleeps now. Above all times: 2^63 ns are 292 years.
const ASLEEP: u64 = 1 << 63;

/// Sleep of one worker so far.
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
    /// Times that the worker blocked.
    pub sleeps: u64,
    /// Wakes that found nothing: the worker blocked again without having found a job, or its latch
    /// set.
    pub fruitless: u64,
    /// Times that it was about to block and was stopped: a wake-up without a system call.
    pub kept_awake: u64,
    /// Times that it was made the [sentry](crate::Wake::Sentry) while it slept, or kept the door
    /// for guests.
    pub sentries: u64,
    /// Times that a thread outside the pool took its seat as a [guest](crate::Sleep::take_seat).
    pub guests: u64,
    /// Time that it was blocked, up to now.
    pub parked: Duration,
    /// Times that a working worker woke it and [kept it off its own processor](crate::Steering).
    pub steered: u64,
    /// Steered wakes after which it began more than half a millisecond later: the other processors
    /// were taken.
    pub late: u64,
    /// Times that a working worker woke it and left its place to the system. Not counted with
    /// [`Steering::Never`](crate::Steering::Never).
    pub unsteered: u64,
    /// Wakes among these after which it began on the waker's processor, behind the waker.
    pub behind_waker: u64,
    wakes: [u64; Reason::ALL.len()],
}

impl SleepMetrics {
    /// Returns how often the worker was woken for this reason.
    pub fn wakes(&self, reason: Reason) -> u64 {
        self.wakes[reason as usize]
    }

    /// Returns what was added since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        self.combine(earlier, u64::saturating_sub)
    }

    /// Returns the result of `with` for each pair of numbers.
    fn combine(&self, other: &Self, with: fn(u64, u64) -> u64) -> Self {
        let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        Self {
            sleeps: with(self.sleeps, other.sleeps),
            fruitless: with(self.fruitless, other.fruitless),
            kept_awake: with(self.kept_awake, other.kept_awake),
            sentries: with(self.sentries, other.sentries),
            guests: with(self.guests, other.guests),
            parked: Duration::from_nanos(with(nanos(self.parked), nanos(other.parked))),
            steered: with(self.steered, other.steered),
            late: with(self.late, other.late),
            unsteered: with(self.unsteered, other.unsteered),
            behind_waker: with(self.behind_waker, other.behind_waker),
            wakes: std::array::from_fn(|reason| with(self.wakes[reason], other.wakes[reason])),
        }
    }

    /// Returns how often the worker was woken.
    pub fn all_wakes(&self) -> u64 {
        self.wakes.iter().sum()
    }
}

impl std::ops::AddAssign for SleepMetrics {
    fn add_assign(&mut self, other: Self) {
        *self = self.combine(&other, |one, other| one + other);
    }
}

#[cfg(test)]
mod tests {
    use super::{Meter, US};
    use std::time::Duration;

    const fn us(micros: u64) -> u64 {
        micros * US
    }

    #[test]
    fn a_sleep_counts_while_it_lasts_and_once() {
        let meter = Meter::default();
        meter.park(us(100));
        assert_eq!(meter.read(us(130)).parked, Duration::from_micros(30));
        meter.unpark(us(100), us(150), false);
        assert_eq!(meter.read(us(160)).parked, Duration::from_micros(50));
        meter.park(us(200));
        assert_eq!(meter.read(us(201)).parked, Duration::from_micros(51));
    }

    #[test]
    fn nobody_is_told_less_than_before() {
        let meter = Meter::default();
        meter.park(us(100));
        // The worker reads the clock at 140, and a reader asks before it records that.
        assert_eq!(meter.read(us(145)).parked, Duration::from_micros(45));
        meter.unpark(us(100), us(140), true);
        assert_eq!(meter.read(us(150)).parked, Duration::from_micros(45));
        // A reader that read the clock before the next sleep began.
        meter.park(us(160));
        assert_eq!(meter.read(us(155)).parked, Duration::from_micros(45));
        assert_eq!(meter.read(us(190)).parked, Duration::from_micros(70));
    }

    #[test]
    fn a_sleep_that_began_after_the_clock_was_read_is_none() {
        let meter = Meter::default();
        meter.park(us(100));
        assert_eq!(meter.read(us(99)).parked, Duration::from_micros(0));
        assert_eq!(meter.read(us(101)).parked, Duration::from_micros(1));
    }
}
