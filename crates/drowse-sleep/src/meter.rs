//! What is counted about each worker's sleep.

use crate::Reason;
use drowse_sync::{CachePadded, Counter, Table};
use std::time::Duration;

/// A sleep shorter than this was not worth it: falling asleep and being woken takes about as long,
/// of several threads.
const BRIEF: Duration = Duration::from_micros(50);

/// The same for a sleep in the middle of a job: whoever ended it had been woken itself, like as
/// not.
const BRIEF_IN_A_JOB: Duration = Duration::from_micros(200);

/// The counts of one worker. All are off the hot path: they are touched where a thread sleeps or is
/// woken.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    /// Times it blocked.
    pub(crate) sleeps: Counter,
    /// Times it blocked again without having found anything to do since it was woken.
    pub(crate) fruitless: Counter,
    /// Times a waker stopped it on its way to sleep.
    pub(crate) kept_awake: Counter,
    /// 1 if a sentry has noted that it does not come back from its job.
    pub(crate) stuck: Counter,
    /// Times it was made the sentry. Counted by whoever did.
    pub(crate) sentries: Counter,
    /// Times that a guest took its seat.
    guests: Counter,
    /// Nanoseconds that it was blocked, in sleeps that have ended. While it sleeps: that, less the
    /// time at which the sleep began by the house's clock, and `ASLEEP`. One word, so that nobody
    /// reads one half before and the other after.
    parked: Counter,
    /// The most that anybody was told of it.
    told: Counter,
    /// Nanoseconds of the last sleep with nothing to do, and of the last in the middle of a job; 0
    /// if there was none.
    last_sleep: Counter,
    last_sleep_in_a_job: Counter,
    /// Times it was woken, by reason. Counted by the waker.
    wakes: [Counter; Reason::ALL.len()],
    /// Wakes by working workers: with its mask narrowed, counted by the waker; left to the system,
    /// counted by itself; of these, begun on the waker's processor. Of those that were steered,
    /// begun late: counted by itself.
    pub(crate) steered: Counter,
    pub(crate) late: Counter,
    pub(crate) unsteered: Counter,
    pub(crate) behind_waker: Counter,
}

impl Meter {
    /// Those of these workers, with room for as many seats as there can be.
    pub(crate) fn table(workers: usize, seats: usize) -> Table<CachePadded<Self>> {
        Table::new((0..workers).map(|_| CachePadded::new(Self::default())), seats)
    }

    pub(crate) fn count_wake(&self, reason: Reason) {
        self.wakes[reason as usize].add(1);
    }

    /// The worker is about to block.
    pub(crate) fn park(&self, now: Duration) {
        self.sleeps.add_mine(1);
        self.parked.set_mine(self.parked.get().wrapping_sub(nanos(now)) | ASLEEP);
    }

    /// The worker was woken that blocked then, in the middle of a job or not.
    pub(crate) fn unpark(&self, since: Duration, now: Duration, in_a_job: bool) {
        self.parked.set_mine(self.parked_until(now));
        let last = if in_a_job { &self.last_sleep_in_a_job } else { &self.last_sleep };
        last.set_mine(nanos(now.saturating_sub(since)).max(1));
    }

    /// A guest takes the seat of a worker that sleeps: that does not count as sleep.
    pub(crate) fn sit(&self, now: Duration) {
        self.guests.add_mine(1);
        self.parked.set_mine(self.parked_until(now));
    }

    /// The guest has given the seat back, and the worker sleeps on.
    pub(crate) fn vacate(&self, now: Duration) {
        self.parked.set_mine(self.parked.get().wrapping_sub(nanos(now)) | ASLEEP);
    }

    /// Nanoseconds that it was blocked up to this moment.
    fn parked_until(&self, now: Duration) -> u64 {
        match self.parked.get() {
            word if word & ASLEEP != 0 => {
                let parked = word.wrapping_add(nanos(now)) & !ASLEEP;
                // Below zero, if it fell asleep after this moment.
                if parked > ASLEEP / 2 { 0 } else { parked }
            }
            parked => parked,
        }
    }

    /// Whether the worker's last sleep of this kind was a brief one.
    pub(crate) fn slept_briefly(&self, in_a_job: bool) -> bool {
        let (last, brief) =
            if in_a_job { (&self.last_sleep_in_a_job, BRIEF_IN_A_JOB) } else { (&self.last_sleep, BRIEF) };
        (1..nanos(brief)).contains(&last.get())
    }

    pub(crate) fn read(&self, now: Duration) -> SleepMetrics {
        // The worker has read the clock before it writes down that it is awake. Whoever came in
        // between has been told a little more than it will turn out to be: nobody is told less
        // afterwards.
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

/// The worker sleeps at this moment. Above all times: 2^63 ns are 292 years.
const ASLEEP: u64 = 1 << 63;

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX) & !ASLEEP
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
    /// Times that it was made the [sentry](crate::Wake::Sentry) while it slept, or kept the door
    /// for guests.
    pub sentries: u64,
    /// Times that a thread outside took its seat as a [guest](crate::Sleep::take_seat).
    pub guests: u64,
    /// Time that it was blocked, up to this moment.
    pub parked: Duration,
    /// Times that a working worker woke it and [kept it off its own processor](crate::Steering).
    pub steered: u64,
    /// How many of those began more than half a millisecond after they were woken: the other
    /// processors were taken.
    pub late: u64,
    /// Times that a working worker woke it and left it to the system where it would begin. Not
    /// counted with [`Steering::Never`](crate::Steering::Never).
    pub unsteered: u64,
    /// How many of those began on the processor of the worker that woke it, behind it.
    pub behind_waker: u64,
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
            sentries: self.sentries.saturating_sub(earlier.sentries),
            guests: self.guests.saturating_sub(earlier.guests),
            parked: self.parked.saturating_sub(earlier.parked),
            steered: self.steered.saturating_sub(earlier.steered),
            late: self.late.saturating_sub(earlier.late),
            unsteered: self.unsteered.saturating_sub(earlier.unsteered),
            behind_waker: self.behind_waker.saturating_sub(earlier.behind_waker),
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
        self.sentries += other.sentries;
        self.guests += other.guests;
        self.parked += other.parked;
        self.steered += other.steered;
        self.late += other.late;
        self.unsteered += other.unsteered;
        self.behind_waker += other.behind_waker;
        for (mine, other) in self.wakes.iter_mut().zip(other.wakes) {
            *mine += other;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Meter;
    use std::time::Duration;

    const fn us(micros: u64) -> Duration {
        Duration::from_micros(micros)
    }

    #[test]
    fn a_sleep_counts_while_it_lasts_and_once() {
        let meter = Meter::default();
        meter.park(us(100));
        assert_eq!(meter.read(us(130)).parked, us(30));
        meter.unpark(us(100), us(150), false);
        assert_eq!(meter.read(us(160)).parked, us(50));
        meter.park(us(200));
        assert_eq!(meter.read(us(201)).parked, us(51));
    }

    #[test]
    fn nobody_is_told_less_than_before() {
        let meter = Meter::default();
        meter.park(us(100));
        // The worker reads the clock at 140, and somebody asks before it writes that down.
        assert_eq!(meter.read(us(145)).parked, us(45));
        meter.unpark(us(100), us(140), true);
        assert_eq!(meter.read(us(150)).parked, us(45));
        // Somebody who read the clock before the next sleep began.
        meter.park(us(160));
        assert_eq!(meter.read(us(155)).parked, us(45));
        assert_eq!(meter.read(us(190)).parked, us(70));
    }

    #[test]
    fn a_sleep_that_began_after_the_clock_was_read_is_none() {
        let meter = Meter::default();
        meter.park(us(100));
        assert_eq!(meter.read(us(99)).parked, us(0));
        assert_eq!(meter.read(us(101)).parked, us(1));
    }
}
