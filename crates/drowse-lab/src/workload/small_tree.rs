//! A computation that is over before a wide pool has woken up.

use super::fib::fib;
use super::parts::{let_sleep, warm_up};
use super::{MeasureSpec, Need, Samples, Workload};
use crate::contender::{Pool, Serial};
use crate::measure::{Budget, UsageMeter};

/// A small tree of calls, from outside, into a pool that sleeps.
#[derive(Debug)]
pub struct SmallTree;

impl Workload for SmallTree {
    const NAME: &'static str = "small_tree";
    const ABOUT: &'static str = "fib(12) from outside, into a pool that sleeps: how long, and what it costs until all sleep again";
    const MEASURES: &'static [MeasureSpec] = &[
        MeasureSpec::less("time", "there and back", "us"),
        MeasureSpec::less("cpu", "CPU time, until all sleep again", "us"),
    ];
    const WIDTHS: &'static [usize] = &[32, 256];

    const NEEDS: &'static [Need] = &[Need::Enter];

    fn run<P: Pool>(pool: &P, budget: Budget) -> Result<Samples, String> {
        let expected = fib(&mut Serial, 12);
        warm_up(pool);
        let round = || {
            let_sleep();
            let meter = UsageMeter::start();
            let (seconds, result) = Budget::seconds(|| pool.run(|fork| fib(fork, 12)));
            assert_eq!(result, expected, "fib(12)");
            let_sleep();
            (seconds * 1e6, meter.read().cpu.as_secs_f64() * 1e6)
        };
        let (time, cpu) = budget.rounds(round).into_iter().unzip();
        Ok(Samples::from([("time".to_owned(), time), ("cpu".to_owned(), cpu)]))
    }
}
