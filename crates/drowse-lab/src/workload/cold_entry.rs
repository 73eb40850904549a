//! The way into a pool that sleeps.

use super::parts::{let_sleep, sum, warm_up};
use super::{MeasureSpec, Need, Samples, Variant, Workload, by_name};
use crate::contender::{Pool, Serial};
use crate::measure::{Budget, UsageMeter, Work};
use std::time::Duration;

/// Enters a pool that has gone to sleep.
#[derive(Debug)]
pub struct ColdEntry;

impl Workload for ColdEntry {
    const NAME: &'static str = "cold_entry";
    const ABOUT: &'static str = "from outside, into a pool that sleeps: nothing, and loops over 1, 16 and 64 items of 0.3 µs; there and back";
    const VARIANTS: &'static [Variant] = &[Variant::Unsteered, Variant::Guests];
    const MEASURES: &'static [MeasureSpec] = &[
        MeasureSpec::less("empty", "time to run nothing", "us"),
        MeasureSpec::less("one", "time of one item", "us"),
        MeasureSpec::less("loop", "time of the loop over 16 items", "us"),
        MeasureSpec::less("loop64", "time of the loop over 64 items", "us"),
        MeasureSpec::less("cpu", "CPU time of the loop over 16 items, until all sleep again", "us"),
    ];

    const NEEDS: &'static [Need] = &[Need::Enter];

    // A contender that does not fork enters all the same, and goes through loops by plain calls.
    fn run<P: Pool>(pool: &P, budget: Budget) -> Result<Samples, String> {
        let work = Work::of(Duration::from_nanos(300));
        let item = |seed| work.run(seed as u64);
        let loops = [0, 1, 16, 64].map(|items| (items, sum(&mut Serial, 0..items, &item)));
        warm_up(pool);
        let_sleep();
        // All are measured alike, so that they differ in nothing but their items.
        let enter = |(items, expected)| {
            let meter = UsageMeter::start();
            let (seconds, result) = Budget::seconds(|| pool.run(|fork| sum(fork, 0..items, &item)));
            assert_eq!(result, expected, "the sum of the loop over {items} items");
            let_sleep();
            (seconds * 1e6, meter.read().cpu.as_secs_f64() * 1e6)
        };
        let round = || {
            let [(empty, _), (one, _), (sixteen, cpu), (sixty_four, _)] = loops.map(enter);
            [empty, one, sixteen, sixty_four, cpu]
        };
        Ok(by_name(["empty", "one", "loop", "loop64", "cpu"], budget.rounds(round)))
    }
}
