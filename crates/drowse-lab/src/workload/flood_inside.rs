//! As many empty jobs as one thread of the pool can give.

use super::counters::{count, counted, turn};
use super::parts::{size, warm_up};
use super::{MeasureSpec, Need, Samples, Workload, samples};
use crate::contender::{Fork, Pool, Reason};
use crate::measure::Budget;

/// Floods a pool from inside.
#[derive(Debug)]
pub struct FloodInside;

const JOBS: usize = size(1_000_000, 2_000);

impl Workload for FloodInside {
    const NAME: &'static str = "flood_inside";
    const ABOUT: &'static str = "1,000,000 empty jobs given to a scope by one thread of the pool, until all have run: how many a second";
    const MEASURES: &'static [MeasureSpec] = &[MeasureSpec::more("rate", "jobs a second", "M/s")];
    const WIDTHS: &'static [usize] = &[1];

    const NEEDS: &'static [Need] = &[Need::Fork, Need::SpawnInside];

    fn run<P: Pool>(pool: &P, budget: Budget) -> Result<Samples, String> {
        let _turn = turn();
        warm_up(pool);
        let round = || {
            let before = counted();
            let (seconds, given) =
                Budget::seconds(|| pool.run(|fork| fork.scope((0..JOBS).map(|_| count))));
            given?;
            assert_eq!(counted() - before, JOBS, "the number of jobs that ran");
            Ok(JOBS as f64 / seconds / 1e6)
        };
        Ok(samples("rate", budget.rounds(round).into_iter().collect::<Result<_, Reason>>()?))
    }
}
