//! Choice of the processor on which a woken worker begins to run.
//!
//! On virtual machines the kernel often puts a woken thread on the waker's processor, though
//! another one is idle, and leaves it there until a timer ticks. If the waker then sleeps, that is
//! the best place. If the waker goes on working, the woken worker waits for milliseconds. So a wake
//! that a worker sends for a job of its own is *steered*: the waker takes its own processor out of
//! the sleeper's CPU mask, and the sleeper puts it back as soon as it runs, before that thread does
//! anything else.
//!
//! # Access to the mask
//!
//! The waker first *holds* such a worker: it claims the worker, so that no other waker wakes it,
//! but does not let it go yet. While it holds the worker, it changes the mask and records in
//! `Sleeper::arrival` what the sleeper must do in `arrive`. So another thread changes a mask only
//! while the mask's thread executes nothing but the last instructions of falling asleep, and no
//! handler or job of the user's.
//!
//! A thread whose mask the system does not allow us to change is never steered. If the system
//! refuses to restore a mask, one worker is left with one processor less, and no worker is steered
//! from then on.

use crate::late::LateStarts;
use crate::seats::Seat;
use drowse_sync::cell::UnsafeCell;
use drowse_sync::{Counter, CpuMask, ThreadId, current_cpu};

/// Rule for keeping workers that are woken by working workers off the waker's processor.
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
    /// Steers while the system by itself would often put them on the waker's processor (tested by a
    /// sample) and steered workers begin in time, that is, not while other programs use the
    /// processors.
    #[default]
    Auto,
    /// Always steers.
    Always,
    /// Never steers: the system places the workers.
    Never,
}

#[derive(Debug)]
pub(crate) struct Placement {
    steering: Steering,
    habit: Habit,
    late: LateStarts,
    /// Number of masks that could not be restored.
    failures: Counter,
}

/// Thread that sleeps in a seat.
#[derive(Debug)]
pub(crate) struct Sleeper {
    /// Its id. 0 before its first sleep, and if the system does not let us change its mask.
    thread: Counter,
    /// 1 if `settle` has set `thread`.
    settled: Counter,
    /// Number of wakes for which not to try to steer: the mask leaves no choice.
    hopeless: Counter,
    arrival: UnsafeCell<Arrival>,
}

impl Default for Sleeper {
    fn default() -> Self {
        Self {
            thread: Counter::new(),
            settled: Counter::new(),
            hopeless: Counter::new(),
            arrival: UnsafeCell::new(Arrival::default()),
        }
    }
}

// SAFETY: `arrival` is written by the waker that holds the sleeper (`send_elsewhere`), and taken by
// the sleeper after it was let go (`arrive`): see the module.
unsafe impl Sync for Sleeper {}

/// Instructions for a woken worker, from its waker.
#[derive(Debug, Default)]
struct Arrival {
    /// Waker's processor. `None`: nothing to do.
    waker_cpu: Option<usize>,
    /// Time of the wake if the worker was steered: the waker's processor was taken out of its mask.
    sent: Option<u64>,
    /// Mask before the last time.
    mask: Option<CpuMask>,
}

/// Number of wakes after which a mask that left no choice is read again.
const HOPELESS: u64 = 64;

/// Number of steered wakes of a worker above which `arrive` calls `CpuMask::to_keep`.
const FEW: u64 = 16;

impl Placement {
    /// Returns the placement of a pool that does not steer.
    pub(crate) fn new() -> Self {
        Self {
            steering: Steering::Never,
            habit: Habit::default(),
            late: LateStarts::new(),
            failures: Counter::new(),
        }
    }

    /// Sets the rule for wakes by working workers.
    pub(crate) fn set_steering(&mut self, steering: Steering) {
        self.steering = steering;
    }

    pub(crate) fn is_on(&self) -> bool {
        self.steering != Steering::Never
    }

    /// Records the calling thread as the one that sleeps here. Called by a worker before it sleeps.
    pub(crate) fn settle(&self, seat: &Seat) {
        let sleeper = &seat.sleeper;
        if self.is_on() && sleeper.settled.get() == 0 {
            sleeper.settled.set_mine(1);
            if CpuMask::can_be_changed() {
                sleeper.thread.set_mine(ThreadId::current().to_bits().into());
            }
        }
    }

    /// Forgets the thread. Called by a worker whose thread is not the one that slept here.
    pub(crate) fn unsettle(&self, seat: &Seat) {
        seat.sleeper.settled.set_mine(0);
        seat.sleeper.thread.set_mine(0);
    }

    /// Makes a held sleeper begin on another processor than this one, if there is room: `up`
    /// workers are awake, including the sleeper. Called by a waker that goes on working, in the
    /// process of the workers: a forked child has their thread ids, but not the threads.
    pub(crate) fn send_elsewhere(&self, seat: &Seat, up: usize, now: u64) {
        seat.sleeper.arrival.with_mut(|arrival| {
            // SAFETY: the caller holds the sleeper, so no other thread accesses `arrival`.
            let arrival = unsafe { &mut *arrival };
            arrival.waker_cpu = current_cpu();
            let Some(cpu) = arrival.waker_cpu.filter(|_| self.wants_to_steer(now)) else { return };
            if self.narrow(&seat.sleeper, cpu, up, &mut arrival.mask) {
                arrival.sent = Some(now);
                seat.meter.steered.add(1);
            }
        });
    }

    /// Restores the mask and records how the wake went. A woken worker calls this before anything
    /// else.
    pub(crate) fn arrive(&self, seat: &Seat, now: u64) {
        if !self.is_on() {
            return;
        }
        let meter = &seat.meter;
        seat.sleeper.arrival.with_mut(|arrival| {
            // SAFETY: we were let go, so the waker that held us has written `arrival` and is done
            // with it. No other waker can hold us before we sleep again.
            let arrival = unsafe { &mut *arrival };
            let Some(waker_cpu) = arrival.waker_cpu.take() else { return };
            match (arrival.sent.take(), &arrival.mask) {
                (Some(sent), Some(mask)) => {
                    meter.late.add_mine(u64::from(self.late.record(sent, now)));
                    self.restore(mask, waker_cpu, meter.steered.get() > FEW);
                }
                _ => {
                    let behind_waker = current_cpu() == Some(waker_cpu);
                    self.habit.learn(behind_waker);
                    meter.unsteered.add_mine(1);
                    meter.behind_waker.add_mine(u64::from(behind_waker));
                }
            }
        });
    }

    /// Gives the calling thread, in whose mask processor `cpu` is missing, its mask back.
    /// (`CpuMask::to_keep` can take longer than a process lives that steers only a few times:
    /// `often`.)
    #[inline(never)]
    fn restore(&self, mask: &CpuMask, cpu: usize, often: bool) {
        let this = ThreadId::current();
        // If another thread has changed the mask meanwhile, leave it.
        let is_ours = CpuMask::of(this).is_none_or(|now| now == mask.without(cpu));
        let is_restored =
            || if often { mask.to_keep().apply_to(this) } else { mask.apply_to(this) };
        if is_ours && !is_restored() {
            self.failures.add(1);
        }
    }

    fn wants_to_steer(&self, now: u64) -> bool {
        if self.failures.get() > 0 {
            return false;
        }
        match self.steering {
            Steering::Auto => !self.late.is_pausing(now) && self.habit.is_bad(),
            Steering::Always => true,
            Steering::Never => false,
        }
    }

    /// Takes processor `cpu` out of the mask of the thread that sleeps here, and stores the mask as
    /// it was `before`. Returns `false` if the mask cannot be changed, would be empty, or lacks
    /// `cpu` anyway.
    #[inline(never)]
    fn narrow(
        &self,
        sleeper: &Sleeper,
        cpu: usize,
        up: usize,
        before: &mut Option<CpuMask>,
    ) -> bool {
        if sleeper.hopeless.get() > 0 {
            sleeper.hopeless.set_mine(sleeper.hopeless.get() - 1);
            return false;
        }
        let thread = u32::try_from(sleeper.thread.get()).ok().and_then(ThreadId::from_bits);
        let Some(thread) = thread else { return false };
        // Read the mask anew: the user may have changed it.
        *before = CpuMask::of(thread);
        if let Some(mask) = before {
            let processors = mask.count();
            if up > processors {
                return false; // Every processor has a worker already.
            }
            let makes_sense = processors > 1 && mask.contains(cpu);
            if makes_sense && mask.without(cpu).apply_to(thread) {
                return true;
            }
        }
        sleeper.hopeless.set_mine(HOPELESS);
        false
    }
}

/// Share of recent wakes, among those left to the system, after which the worker was on its waker's
/// processor.
#[derive(Debug)]
struct Habit {
    /// In parts of `ALL`. Lost updates do no harm.
    share: Counter,
    /// Number of calls of `is_bad`.
    asked: Counter,
}

impl Habit {
    /// The whole, as the unit of `share`.
    const ALL: u64 = 1 << 16;
    /// Share from which on steering is worth its cost.
    const MANY: u64 = Self::ALL / 4;
    /// One part in `FORGET` of the old share is replaced by each new wake.
    const FORGET: u64 = 8;
    /// One wake in `SAMPLE` is left to the system, to learn what it does.
    const SAMPLE: u64 = 32;

    fn learn(&self, behind_waker: bool) {
        let news = if behind_waker { Self::ALL } else { 0 };
        let share = self.share.get();
        self.share.set_mine(share - share / Self::FORGET + news / Self::FORGET);
    }

    /// Returns `true` if the next wake should be steered.
    fn is_bad(&self) -> bool {
        self.asked.add(1);
        self.share.get() >= Self::MANY && self.asked.get() % Self::SAMPLE != 0
    }
}

impl Default for Habit {
    /// Assumes bad placement until samples show otherwise: a program may have few wakes, each of
    /// which counts.
    fn default() -> Self {
        let habit = Self { share: Counter::new(), asked: Counter::new() };
        habit.share.set_mine(Self::ALL);
        habit
    }
}

#[cfg(all(test, not(any(drowse_loom, drowse_shuttle))))]
mod tests {
    use super::{CpuMask, Habit, Placement, Steering, ThreadId};
    use crate::meter::{MS, US};
    use crate::seats::Seat;
    use crate::{LatchWord, Policy, Reason, Sleep, SleepProtocol, Waker};
    use std::thread;

    /// Returns how often a sleeper was steered when `waker` set its latch, in a pool of `workers`
    /// workers of which the others are awake.
    fn steered_by(waker: Waker, workers: usize) -> u64 {
        let policy = Policy { rounds_until_sleepy: 0, rounds_while_sleepy: 0, ..Policy::default() };
        let sleep =
            Sleep::new(workers, SleepProtocol::default(), policy).with_steering(Steering::Always);
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

    /// Returns how many of 100 wakes, 1 ms apart, were steered, and how many of those began late. A
    /// steered worker begins after `delay`. This thread is both waker and sleeper.
    fn steered_with_delay(steering: Steering, delay: u64) -> (u64, u64) {
        let (mut placement, seat) = (Placement::new(), Seat::default());
        placement.set_steering(steering);
        placement.settle(&seat);
        let mut now = 1_000 * MS;
        for _ in 0..100 {
            placement.send_elsewhere(&seat, 1, now);
            now += delay;
            placement.arrive(&seat, now);
            now += MS;
        }
        (seat.meter.steered.get(), seat.meter.late.get())
    }

    #[test]
    fn who_is_steered_and_begins_late_is_not_steered_again_for_a_while() {
        thread::spawn(|| {
            let mask = CpuMask::of(ThreadId::current());
            if mask.is_none_or(|mask| mask.count() < 2) || !CpuMask::can_be_changed() {
                return;
            }
            let (us, ms) = (100 * US, 3 * MS);
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

    /// Returns how many of `wakes` wakes are steered, on a system that behaves as `behind_waker`
    /// says.
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
