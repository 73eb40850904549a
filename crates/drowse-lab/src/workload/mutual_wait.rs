//! Halves that wait for each other, beside other programs.

use super::parts::{size, warm_up};
use super::{MeasureSpec, Need, Samples, Variant, Workload, by_name};
use crate::contender::{Fork, Pool};
use crate::measure::{Budget, Work};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Calls from outside of a join whose halves meet, beside `BUSY` threads that never stop.
///
/// Those threads belong to no pool. They stand for other programs, which want the processors as
/// well.
#[derive(Debug)]
pub struct MutualWait<const BUSY: usize>;

/// As [`MutualWait`], beside one busy thread.
pub type MutualWaitBusy1 = MutualWait<1>;

/// As [`MutualWait`], beside two busy threads.
pub type MutualWaitBusy2 = MutualWait<2>;

/// As [`MutualWait`], beside nothing else.
pub type MutualWaitAlone = MutualWait<0>;

/// The calls of one sample.
const CALLS: usize = size(400, 20);
/// A half that has waited for so long waits in vain: the pool runs one after the other.
const PATIENCE: Duration = Duration::from_secs(10);
/// A call that takes longer than this has waited for a timer, or for a processor.
const SLOW: Duration = Duration::from_millis(4);

impl<const BUSY: usize> Workload for MutualWait<BUSY> {
    const NAME: &'static str = match BUSY {
        0 => "mutual_wait",
        1 => "mutual_wait_busy1",
        2 => "mutual_wait_busy2",
        _ => panic!("no name for so many busy threads"),
    };
    const ABOUT: &'static str = match BUSY {
        0 => "400 calls from outside of a join whose halves wait for each other at a barrier",
        1 => "the same 400 calls of halves that wait for each other, beside a busy thread",
        _ => "the same 400 calls of halves that wait for each other, beside two busy threads",
    };
    const VARIANTS: &'static [Variant] = &[Variant::Unsteered];
    const MEASURES: &'static [MeasureSpec] = &[
        MeasureSpec::less("time", "time of 400 calls", "ms"),
        MeasureSpec::less("p50", "time of a call, half are shorter", "us"),
        MeasureSpec::less("p99", "time of a call, 99 of 100 are shorter", "us"),
        MeasureSpec::less("slow", "calls of 400 that take longer than 4 ms", "calls"),
    ];

    const NEEDS: &'static [Need] = &[Need::Fork, Need::WaitInHalves];

    fn run<P: Pool>(pool: &P, budget: Budget) -> Result<Samples, String> {
        warm_up(pool);
        let (work, ends) = (Work::micros(100), AtomicBool::new(false));
        let rounds = thread::scope(|scope| {
            for _ in 0..BUSY {
                scope.spawn(|| {
                    while !ends.load(Ordering::Relaxed) {
                        work.run(1);
                    }
                });
            }
            // A pool of one thread has waited long enough with the first call.
            let meets = calls(pool, 1).is_some();
            let rounds = meets.then(|| budget.rounds(|| calls(pool, CALLS).map(figures)));
            ends.store(true, Ordering::Relaxed);
            rounds
        });
        let rounds = rounds.and_then(|rounds| rounds.into_iter().collect::<Option<Vec<_>>>());
        let rounds =
            rounds.ok_or("the halves do not run at the same time: one has waited in vain")?;
        Ok(by_name(["time", "p50", "p99", "slow"], rounds))
    }
}

/// The seconds that each of so many calls takes. `None` if halves have waited in vain.
fn calls<P: Pool>(pool: &P, count: usize) -> Option<Vec<f64>> {
    let call = |_| {
        let meeting = Meeting::default();
        let half = || meeting.wait();
        let (seconds, (a, b)) =
            Budget::seconds(|| pool.run(|fork| fork.join(|_| half(), |_| half())));
        (a && b).then_some(seconds)
    };
    (0..count).map(call).collect()
}

/// Milliseconds in all, microseconds that half of the calls and 99 of 100 take at most, and how
/// many of them are slow.
fn figures(mut seconds: Vec<f64>) -> [f64; 4] {
    seconds.sort_unstable_by(f64::total_cmp);
    let slow = seconds.iter().filter(|seconds| **seconds > SLOW.as_secs_f64()).count();
    let [half, most] = [seconds.len() / 2, seconds.len() * 99 / 100].map(|at| seconds[at] * 1e6);
    [seconds.iter().sum::<f64>() * 1e3, half, most, slow as f64]
}

/// A barrier for two that gives up.
#[derive(Debug, Default)]
struct Meeting {
    here: Mutex<usize>,
    changed: Condvar,
}

impl Meeting {
    /// Blocks until both are here: `true`; or until one has waited in vain.
    fn wait(&self) -> bool {
        let mut here = self.here.lock().unwrap_or_else(PoisonError::into_inner);
        *here += 1;
        if *here == 2 {
            self.changed.notify_one();
            return true;
        }
        let alone = |here: &mut usize| *here < 2;
        let waited = self.changed.wait_timeout_while(here, PATIENCE, alone);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_calls() {
        let mut seconds = vec![0.000_010; 97];
        seconds.extend([0.000_020, 0.005, 0.006]);
        let [time, p50, p99, slow] = figures(seconds);
        assert!((time - (0.97 + 0.02 + 11.0)).abs() < 1e-6, "{time}");
        assert!((p50 - 10.0).abs() < 1e-6 && (p99 - 6_000.0).abs() < 1e-6, "{p50} {p99}");
        assert_eq!(slow, 2.0);
    }

    #[test]
    fn two_meet_and_one_alone_does_not() {
        let meeting = Meeting::default();
        let both = thread::scope(|scope| {
            let other = scope.spawn(|| meeting.wait());
            (meeting.wait(), other.join().unwrap())
        });
        assert_eq!(both, (true, true));
    }
}
