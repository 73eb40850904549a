//! Many short parallel regions in a row, each entered from outside.

use super::parts::{size, sum, warm_up};
use super::{MeasureSpec, Samples, Variant, Workload, by_name};
use crate::contender::{Fork, Pool, Serial};
use crate::measure::{Budget, UsageMeter, Work};

/// Regions of 20 us each.
#[derive(Debug)]
pub struct RegionChain;

const REGIONS: u64 = size(150, 15) as u64;
/// The items of a region.
const ITEMS: usize = 8;
/// Nanoseconds of work per item.
const ITEM: u64 = 2_500;
/// How often all regions are run by plain calls, to know what they cost without a pool.
const ALONE: u32 = 5;

impl Workload for RegionChain {
    const NAME: &'static str = "region_chain";
    const ABOUT: &'static str = "150 parallel loops of 20 µs of work, each entered from outside: how fast, beside entering once for all of them, \
        and what it costs";
    const VARIANTS: &'static [Variant] = &[Variant::Unsteered, Variant::Guests];
    const MEASURES: &'static [MeasureSpec] = &[
        MeasureSpec::more("speed", "speed, beside one entry round all", "%"),
        MeasureSpec::less("time", "time of all loops, each entered", "us"),
        MeasureSpec::less("cpu", "CPU time over that of the work alone, each entered", "x"),
    ];

    fn run<P: Pool>(pool: &P, budget: Budget) -> Result<Samples, String> {
        let work = Work::of(std::time::Duration::from_nanos(ITEM));
        // Not in the rounds: meanwhile the pool would fall asleep, and the next entry be cold.
        let meter = UsageMeter::start();
        let plain = [(); ALONE as usize].map(|()| all(&mut Serial, work));
        let (alone, expected) = (meter.read().cpu / ALONE, plain[0]);
        warm_up(pool);
        let round = || {
            let (once, result) = Budget::seconds(|| pool.run(|fork| all(fork, work)));
            assert_eq!(result, expected, "the sum of all loops, entering once");
            let meter = UsageMeter::start();
            let each =
                || (0..REGIONS).map(|number| pool.run(|fork| region(fork, number, work))).sum();
            let (each, result): (_, u64) = Budget::seconds(each);
            let cpu = meter.read().cpu;
            assert_eq!(result, expected, "the sum of all loops, entering for each");
            [once / each * 100.0, each * 1e6, cpu.as_secs_f64() / alone.as_secs_f64()]
        };
        Ok(by_name(["speed", "time", "cpu"], budget.rounds(round)))
    }
}

/// All loops, from one place.
fn all<F: Fork>(fork: &mut F, work: Work) -> u64 {
    (0..REGIONS).map(|number| region(fork, number, work)).sum()
}

/// A loop; the top is cut off its sum so that all regions can be added.
fn region<F: Fork>(fork: &mut F, number: u64, work: Work) -> u64 {
    sum(fork, 0..ITEMS, &|item| work.run(number * ITEMS as u64 + item as u64)) >> 16
}
