//! Two long halves that fork no further: a join that must be parallel at once.

use super::parts::{size, speed_up, warm_up};
use super::{MeasureSpec, Samples, Variant, Workload};
use crate::contender::{Fork, Pool, Serial};
use crate::measure::{Budget, Work};

/// One join of two halves of 5 ms.
#[derive(Debug)]
pub struct HeavyPair;

impl Workload for HeavyPair {
    const NAME: &'static str = "heavy_pair";
    const ABOUT: &'static str = "one join of two halves of 5 ms, which fork no further: how much faster than one after the other";
    const VARIANTS: &'static [Variant] = &[Variant::Unsteered];
    const MEASURES: &'static [MeasureSpec] = &[
        MeasureSpec::more("outside", "speed-up over plain calls, entering the pool included", "x"),
        MeasureSpec::more("inside", "speed-up over plain calls, of the join alone", "x"),
    ];

    fn run<P: Pool>(pool: &P, budget: Budget) -> Result<Samples, String> {
        let work = Work::micros(size(5_000, 200) as u64);
        warm_up(pool);
        let round = || {
            let outside =
                speed_up(|| pair(&mut Serial, work), || pool.run(|fork| pair(fork, work)));
            let inside = pool.run(|fork| speed_up(|| pair(&mut Serial, work), || pair(fork, work)));
            (outside, inside)
        };
        let (outside, inside) = budget.rounds(round).into_iter().unzip();
        Ok(Samples::from([("outside".to_owned(), outside), ("inside".to_owned(), inside)]))
    }
}

fn pair<F: Fork>(fork: &mut F, work: Work) -> (u64, u64) {
    fork.join(|_| work.run(1), |_| work.run(2))
}
