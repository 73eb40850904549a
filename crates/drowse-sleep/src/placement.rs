//! Where a woken worker begins to run.
//!
//! On virtual machines the kernel often puts a woken thread on the processor of whoever woke it,
//! though another one is idle, and leaves it there until a timer ticks. If the waker goes to sleep
//! itself, that is the best place. If it goes on working, the woken worker waits for milliseconds.
//! So a wake that a worker sends for a job of its own is *steered*: the waker takes its own
//! processor out of the sleeper's mask, and the sleeper puts it back as soon as it runs, before
//! anything else does on that thread.
//!
//! # Who touches what
//!
//! A worker that is woken like this is *held* first: claimed, so that nobody else wakes it, but not
//! let go. Whoever holds it writes down what the sleeper must do when it arrives, and changes its
//! mask; the sleeper takes that over when it was let go. So a mask is only ever changed by others
//! while its thread runs nothing but the last instructions of falling asleep: no handler and no job
//! of the user's.
//!
//! A thread whose mask the system does not let it change is never steered. If the system refuses
//! later, in the moment between the two changes, one worker is left with one processor less; then
//! nobody is steered any more.

use crate::late::LateStarts;
use crate::meter::Meter;
use drowse_sync::cell::UnsafeCell;
use drowse_sync::{CachePadded, Counter, CpuMask, Process, Table, ThreadId, current_cpu};
use std::time::Duration;

/// Whether workers that are woken by working workers are kept off the waker's processor.
///
/// ```
/// use drowse_sleep::{Policy, Sleep, SleepProtocol, Steering};
///
/// let sleep = Sleep::new(2, SleepProtocol::default(), Policy::default());
/// let sleep = sleep.with_steering(Steering::Auto);
/// assert_eq!(sleep.metrics(0).steered, 0);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Steering {
    /// As long as the system would often put them there by itself, which is found out now and then,
    /// and those that are kept off begin in time: not while other programs have the processors.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never: the system places them as it likes.
    Never,
}

#[derive(Debug)]
pub(crate) struct Placement {
    steering: Steering,
    habit: Habit,
    late: LateStarts,
    /// The process that the workers belong to. A child that was forked has their numbers too, but
    /// not them.
    process: Process,
    seats: Table<CachePadded<Seat>>,
    /// More than zero if a mask could not be put back.
    failures: Counter,
}

#[derive(Debug)]
struct Seat {
    /// The thread that sleeps here; 0 until it has slept, and for one that the system does not let
    /// us steer.
    thread: Counter,
    /// Whether that was asked.
    settled: Counter,
    /// How many times not to try: its mask leaves no choice.
    hopeless: Counter,
    arrival: UnsafeCell<Arrival>,
}

impl Seat {
    fn new() -> CachePadded<Self> {
        let arrival = UnsafeCell::new(Arrival::default());
        CachePadded::new(Self {
            thread: Counter::new(),
            settled: Counter::new(),
            hopeless: Counter::new(),
            arrival,
        })
    }
}

// SAFETY: `arrival` is written by whoever holds the sleeper, and taken by the sleeper that was let
// go: see the module.
unsafe impl Sync for Seat {}

/// What a worker must do that was woken.
#[derive(Debug, Default)]
struct Arrival {
    /// Its mask was narrowed.
    steered: Option<Steered>,
    /// It was left to the system: here its waker was. To be compared.
    waker_cpu: Option<usize>,
}

/// How a worker was steered.
#[derive(Debug)]
struct Steered {
    /// What its mask was.
    mask: CpuMask,
    /// What its mask is, unless another thread has changed it since.
    narrowed: CpuMask,
    /// When, by the clock of the pool's sleep.
    sent: Duration,
}

/// After so many wakes of a worker whose mask leaves no choice, it is looked at again.
const HOPELESS: u64 = 64;

/// Times that a worker was steered.
const FEW: u64 = 16;

impl Placement {
    /// For these workers, and for as many seats as there can be.
    pub(crate) fn new(workers: usize, seats: usize, steering: Steering) -> Self {
        Self {
            steering,
            habit: Habit::default(),
            late: LateStarts::new(),
            process: Process::this(),
            seats: Table::new((0..workers).map(|_| Seat::new()), seats),
            failures: Counter::new(),
        }
    }

    /// Makes room for a seat that no thread has used yet.
    pub(crate) fn open_seat(&self, seat: usize) {
        self.seats.get_or_grow(seat, |_| Seat::new());
    }

    /// Whether wakes by working workers need a sleeper that is held.
    pub(crate) fn set_steering(&mut self, steering: Steering) {
        self.steering = steering;
    }

    pub(crate) fn steering(&self) -> Steering {
        self.steering
    }

    pub(crate) fn is_on(&self) -> bool {
        self.steering != Steering::Never
    }

    /// Worker: it is going to sleep.
    pub(crate) fn settle(&self, worker: usize) {
        let seat = &self.seats[worker];
        if self.is_on() && seat.settled.get() == 0 {
            seat.settled.set_mine(1);
            if CpuMask::can_be_changed() {
                seat.thread.set_mine(ThreadId::current().to_bits().into());
            }
        }
    }

    /// Worker: its thread is another one than the one that slept here.
    pub(crate) fn unsettle(&self, worker: usize) {
        let seat = &self.seats[worker];
        seat.settled.set_mine(0);
        seat.thread.set_mine(0);
    }

    /// Waker, which goes on working: sees to it that the sleeper, which it holds, begins elsewhere,
    /// if there is room: so many are `up`, the sleeper included.
    pub(crate) fn send_elsewhere(&self, worker: usize, up: usize, now: Duration, meter: &Meter) {
        let seat = &self.seats[worker];
        let here = current_cpu();
        let narrowed = here.filter(|_| self.wants_to_steer(now)).and_then(|cpu| self.narrow(seat, cpu, up));
        let steered = narrowed.map(|(mask, narrowed)| Steered { mask, narrowed, sent: now });
        if steered.is_some() {
            meter.steered.add(1);
        }
        let waker_cpu = if steered.is_none() { here } else { None };
        // SAFETY: the caller holds the sleeper, so nobody else is here.
        seat.arrival.with_mut(|arrival| unsafe { *arrival = Arrival { steered, waker_cpu } });
    }

    /// Worker: it was woken, and runs `now`. The first thing that it does.
    pub(crate) fn arrive(&self, worker: usize, now: Duration, meter: &Meter) {
        if !self.is_on() {
            return;
        }
        let seat = &self.seats[worker];
        // SAFETY: we were let go, so whoever held us is done here, and nobody holds us before we
        // sleep again.
        let arrival = seat.arrival.with_mut(|arrival| unsafe { std::mem::take(&mut *arrival) });
        if let Some(waker_cpu) = arrival.waker_cpu {
            let behind_waker = current_cpu() == Some(waker_cpu);
            self.habit.learn(behind_waker);
            meter.unsteered.add_mine(1);
            meter.behind_waker.add_mine(u64::from(behind_waker));
        }
        if let Some(Steered { mask, narrowed, sent }) = arrival.steered {
            meter.late.add_mine(u64::from(self.late.record(sent, now)));
            let this = ThreadId::current();
            // To find out what to keep takes longer than a process may live that steers a few
            // times.
            let mask = if meter.steered.get() > FEW { mask.to_keep() } else { mask };
            // What somebody else has made of it meanwhile is left alone.
            let is_ours = CpuMask::of(this).is_none_or(|now| now == narrowed);
            if is_ours && !mask.apply_to(this) {
                self.failures.add(1);
            }
        }
    }

    fn wants_to_steer(&self, now: Duration) -> bool {
        if self.failures.get() > 0 {
            return false;
        }
        match self.steering {
            Steering::Auto => !self.late.is_pausing(now) && self.habit.is_bad(),
            Steering::Always => true,
            Steering::Never => false,
        }
    }

    /// Takes the processor out of the mask of the thread that sleeps here. Returns what the mask
    /// was, and what it is; `None` if that cannot be done, or would leave it no processor, or would
    /// change nothing.
    fn narrow(&self, seat: &Seat, cpu: usize, up: usize) -> Option<(CpuMask, CpuMask)> {
        if seat.hopeless.get() > 0 {
            seat.hopeless.set_mine(seat.hopeless.get() - 1);
            return None;
        }
        let thread = u32::try_from(seat.thread.get()).ok().and_then(ThreadId::from_bits)?;
        if !self.process.is_this() {
            return None;
        }
        // What its mask is now, not what it was: the user may have changed it.
        let mask = CpuMask::of(thread);
        if mask.as_ref().is_some_and(|mask| up > mask.count()) {
            return None; // Wherever it begins, somebody is there.
        }
        let narrowed = mask.and_then(|mask| {
            let narrowed = mask.without(cpu);
            let makes_sense = mask.contains(cpu) && mask.count() > 1;
            (makes_sense && narrowed.apply_to(thread)).then_some((mask, narrowed))
        });
        if narrowed.is_none() {
            seat.hopeless.set_mine(HOPELESS);
        }
        narrowed
    }
}

/// How often the system, left alone, has put a woken worker on its waker's processor lately.
#[derive(Debug)]
struct Habit {
    /// In parts of `ALL`. Nobody minds if a change gets lost.
    share: Counter,
    /// How many wakes were asked about.
    asked: Counter,
}

impl Habit {
    /// All of them.
    const ALL: u64 = 1 << 16;
    /// So many that it is worth doing something about it.
    const MANY: u64 = Self::ALL / 4;
    /// How much of what was known is forgotten with each new one.
    const FORGET: u64 = 8;
    /// One in so many is left to the system, to see what it does.
    const SAMPLE: u64 = 32;

    fn learn(&self, behind_waker: bool) {
        let news = if behind_waker { Self::ALL } else { 0 };
        let share = self.share.get();
        self.share.set_mine(share - share / Self::FORGET + news / Self::FORGET);
    }

    /// Whether to do something about the next wake.
    fn is_bad(&self) -> bool {
        self.asked.add(1);
        self.share.get() >= Self::MANY && self.asked.get() % Self::SAMPLE != 0
    }
}

impl Default for Habit {
    /// Taken to be bad until it turns out otherwise: a program may have few wakes, and they count.
    fn default() -> Self {
        let habit = Self { share: Counter::new(), asked: Counter::new() };
        habit.share.set_mine(Self::ALL);
        habit
    }
}

#[cfg(all(test, not(any(drowse_loom, drowse_shuttle))))]
mod tests {
    use super::{CpuMask, Habit, Placement, Steering, ThreadId};
    use crate::meter::Meter;
    use crate::{LatchWord, Policy, Reason, Sleep, SleepProtocol, Waker};
    use std::thread;
    use std::time::Duration;

    /// How often a sleeper was steered whose latch was set by such a waker, in a pool of so many
    /// workers of whom the others are up.
    fn steered_by(waker: Waker, workers: usize) -> u64 {
        let policy = Policy { rounds_until_sleepy: 0, rounds_while_sleepy: 0, ..Policy::default() };
        let sleep = Sleep::new(workers, SleepProtocol::default(), policy).with_steering(Steering::Always);
        let latch = LatchWord::new();
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut idle = sleep.start_looking(0);
                while !latch.probe() {
                    sleep.no_work_found(&mut idle, &latch, &|| false);
                }
                sleep.stop_looking(idle, || false);
            });
            while sleep.sleeping() == 0 {
                thread::park_timeout(std::time::Duration::from_millis(1));
            }
            // SAFETY: alive until the threads are joined.
            let slept = unsafe { LatchWord::set(&latch) };
            sleep.latch_set(0, slept, Reason::Latch, || waker);
        });
        sleep.metrics(0).steered
    }

    #[test]
    fn who_sets_a_latch_and_goes_on_steers_its_owner_if_there_is_room() {
        let processors = CpuMask::of(ThreadId::current()).map_or(1, |mask| mask.count());
        let possible = u64::from(processors > 1 && CpuMask::can_be_changed());
        assert_eq!(steered_by(Waker::GoesOn, 1), possible);
        assert_eq!(steered_by(Waker::GoesOn, processors), possible);
        assert_eq!(steered_by(Waker::GoesOn, processors + 1), 0);
        assert_eq!(steered_by(Waker::MayStop, 1), 0);
    }

    /// How many of 100 wakes, 1 ms apart, are steered, of a worker that begins after `delay` if it
    /// is, and how many of those began late. This thread is the waker, and the sleeper.
    fn steered_with_delay(steering: Steering, delay: Duration) -> (u64, u64) {
        let (placement, meter) = (Placement::new(1, 1, steering), Meter::default());
        placement.settle(0);
        let mut now = Duration::from_secs(1);
        for _ in 0..100 {
            placement.send_elsewhere(0, 1, now, &meter);
            now += delay;
            placement.arrive(0, now, &meter);
            now += Duration::from_millis(1);
        }
        (meter.steered.get(), meter.late.get())
    }

    #[test]
    fn who_is_steered_and_begins_late_is_not_steered_again_for_a_while() {
        thread::spawn(|| {
            let mask = CpuMask::of(ThreadId::current());
            if mask.is_none_or(|mask| mask.count() < 2) || !CpuMask::can_be_changed() {
                return;
            }
            let (us, ms) = (Duration::from_micros(100), Duration::from_millis(3));
            let (steered, late) = steered_with_delay(Steering::Auto, us);
            assert!(steered > 40 && late == 0, "{steered} {late}");
            let (steered, late) = steered_with_delay(Steering::Auto, ms);
            assert!((1..=4).contains(&steered) && late == steered, "{steered} {late}");
            assert_eq!(steered_with_delay(Steering::Always, ms), (100, 100));
            assert_eq!(steered_with_delay(Steering::Never, ms), (0, 0));
        })
        .join()
        .unwrap();
    }

    /// Of so many wakes, how many are steered, if the system is like this.
    fn steered(habit: &Habit, wakes: u64, behind_waker: impl Fn(u64) -> bool) -> u64 {
        let mut steered = 0;
        for wake in 0..wakes {
            if habit.is_bad() {
                steered += 1;
            } else {
                habit.learn(behind_waker(wake));
            }
        }
        steered
    }

    #[test]
    fn a_system_that_places_badly_is_helped_but_for_a_sample() {
        let habit = Habit::default();
        assert_eq!(steered(&habit, 3_200, |_| true), 3_100);
    }

    #[test]
    fn a_system_that_places_well_is_soon_left_alone_until_it_changes() {
        let habit = Habit::default();
        assert!(steered(&habit, 1_000, |_| false) < 600);
        assert_eq!(steered(&habit, 1_000, |_| false), 0);
        assert!(steered(&habit, 1_000, |_| true) > 900, "it has changed");
    }

    #[test]
    fn now_and_then_is_not_often() {
        let habit = Habit::default();
        steered(&habit, 10_000, |_| false);
        assert_eq!(steered(&habit, 10_000, |wake| wake % 50 == 0), 0);
    }
}
