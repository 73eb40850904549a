//! Many short parallel regions in a row, each entered from outside.

use super::parts::{size, speed_up, sum, warm_up};
use super::{MeasureSpec, Samples, Workload, samples};
use crate::contender::{Fork, Pool};
use crate::measure::{Budget, Work};

/// Regions of 20 us each.
#[derive(Debug)]
pub struct RegionChain;

const REGIONS: u64 = size(150, 15) as u64;
/// The items of a region.
const ITEMS: usize = 8;
/// Nanoseconds of work per item.
const ITEM: u64 = 2_500;

impl Workload for RegionChain {
    const NAME: &'static str = "region_chain";
    const ABOUT: &'static str = "150 parallel loops of 20 µs of work, each entered from outside: how fast, beside entering once for all of them";
    const PLACES: bool = true;
    const MEASURES: &'static [MeasureSpec] =
        &[MeasureSpec::more("speed", "speed, beside one entry round all", "%")];

    fn run<P: Pool>(pool: &P, budget: Budget) -> Result<Samples, String> {
        let work = Work::of(std::time::Duration::from_nanos(ITEM));
        warm_up(pool);
        let once = || pool.run(|fork| (0..REGIONS).map(|number| region(fork, number, work)).sum::<u64>());
        let each = || (0..REGIONS).map(|number| pool.run(|fork| region(fork, number, work))).sum::<u64>();
        Ok(samples("speed", budget.rounds(|| speed_up(once, each) * 100.0)))
    }
}

/// A loop; the top is cut off its sum so that all regions can be added.
fn region<F: Fork>(fork: &mut F, number: u64, work: Work) -> u64 {
    sum(fork, 0..ITEMS, &|item| work.run(number * ITEMS as u64 + item as u64)) >> 16
}
