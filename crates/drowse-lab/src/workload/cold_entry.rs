//! The way into a pool that sleeps.

use super::parts::{let_sleep, sum, warm_up};
use super::{MeasureSpec, Samples, Workload};
use crate::contender::{Pool, Reason, Serial};
use crate::measure::{Budget, Work};
use std::time::Duration;

/// Enters a pool that has gone to sleep.
#[derive(Debug)]
pub struct ColdEntry;

const ITEMS: usize = 16;

impl Workload for ColdEntry {
    const NAME: &'static str = "cold_entry";
    const ABOUT: &'static str =
        "from outside, into a pool that sleeps: nothing, and a loop over 16 items of 0.3 µs; there and back";
    const PLACES: bool = true;
    const MEASURES: &'static [MeasureSpec] = &[
        MeasureSpec::less("empty", "time to run nothing", "us"),
        MeasureSpec::less("loop", "time of the loop", "us"),
    ];

    fn can<P: Pool>() -> Result<(), Reason> {
        P::can_enter()
    }

    // A contender that does not fork enters all the same, and goes through the loop by plain calls.
    fn run<P: Pool>(pool: &P, budget: Budget) -> Result<Samples, String> {
        let work = Work::of(Duration::from_nanos(300));
        let item = |seed| work.run(seed as u64);
        let expected = sum(&mut Serial, 0..ITEMS, &item);
        warm_up(pool);
        let round = || {
            let_sleep();
            let (empty, ()) = Budget::seconds(|| pool.run(|_| ()));
            let_sleep();
            let (filled, result) = Budget::seconds(|| pool.run(|fork| sum(fork, 0..ITEMS, &item)));
            assert_eq!(result, expected, "the sum of the loop");
            (empty * 1e6, filled * 1e6)
        };
        let (empty, filled) = budget.rounds(round).into_iter().unzip();
        Ok(Samples::from([("empty".to_owned(), empty), ("loop".to_owned(), filled)]))
    }
}
