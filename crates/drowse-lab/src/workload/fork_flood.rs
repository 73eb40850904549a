//! As many empty jobs as there can be, from inside.

use super::parts::{size, sum, warm_up};
use super::{MeasureSpec, Samples, Workload, samples};
use crate::contender::Pool;
use crate::measure::Budget;
use std::hint::black_box;

/// A tree of empty leaves.
#[derive(Debug)]
pub struct ForkFlood;

const LEAVES: usize = size(1 << 18, 1 << 10);

impl Workload for ForkFlood {
    const NAME: &'static str = "fork_flood";
    const ABOUT: &'static str =
        "262,144 empty leaves of a tree of forks, from inside: how many a second";
    const MEASURES: &'static [MeasureSpec] = &[MeasureSpec::more("rate", "leaves a second", "M/s")];
    const WIDTHS: &'static [usize] = &[1];

    fn run<P: Pool>(pool: &P, budget: Budget) -> Result<Samples, String> {
        warm_up(pool);
        let round = || {
            let (seconds, count) = Budget::seconds(|| {
                pool.run(|fork| sum(fork, 0..black_box(LEAVES), &|_| black_box(1)))
            });
            assert_eq!(count, LEAVES as u64, "the number of leaves");
            LEAVES as f64 / seconds / 1e6
        };
        Ok(samples("rate", budget.rounds(round)))
    }
}
