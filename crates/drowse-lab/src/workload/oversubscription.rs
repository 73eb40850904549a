//! More threads than processors.

use super::parts::{milliseconds, size, warm_up};
use super::quicksort::Data;
use super::skewed::Tree;
use super::{MeasureSpec, Samples, Workload};
use crate::contender::{Pool, Serial};
use crate::measure::Budget;

/// Work that a pool as wide as the machine does well, in wider pools.
#[derive(Debug)]
pub struct Oversubscription;

impl Workload for Oversubscription {
    const NAME: &'static str = "oversubscription";
    const ABOUT: &'static str = "a leaning tree of 10,000 leaves of 1 µs, and a sort of 400,000 numbers, in pools wider than the machine";
    const MEASURES: &'static [MeasureSpec] = &[
        MeasureSpec::less("tree", "time of the tree", "ms"),
        MeasureSpec::less("sort", "time of the sort", "ms"),
    ];
    const WIDTHS: &'static [usize] = &[8, 32];

    fn run<P: Pool>(pool: &P, budget: Budget) -> Result<Samples, String> {
        let (tree, data) = (Tree::fine(), Data::new(size(400_000, 5_000)));
        let expected = tree.sum(&mut Serial);
        warm_up(pool);
        let round =
            || (milliseconds(&expected, || pool.run(|fork| tree.sum(fork))), data.sort_in(pool));
        let (tree, sort) = budget.rounds(round).into_iter().unzip();
        Ok(Samples::from([("tree".to_owned(), tree), ("sort".to_owned(), sort)]))
    }
}
