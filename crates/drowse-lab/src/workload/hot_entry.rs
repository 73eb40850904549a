//! The way into a pool that was entered a moment ago.

use super::parts::{size, sum, warm_up};
use super::{MeasureSpec, Need, Samples, Variant, Workload, by_name};
use crate::contender::{Pool, Serial};
use crate::measure::{Budget, Work};
use std::hint;
use std::time::{Duration, Instant};

/// Enters the same pool again and again, with short parallel loops.
#[derive(Debug)]
pub struct HotEntry;

/// Microseconds of work of a leaf.
const LEAF: u64 = 2;
/// The numbers of leaves of the loops that follow one another without a gap.
const LEAVES: [usize; 6] = [0, 4, 16, 32, 64, 256];
/// The number of leaves of the loops with a gap between them, and these gaps in microseconds.
const LEAVES_WITH_GAPS: usize = 16;
const GAPS: [u64; 3] = [5, 50, 500];
/// Entries for one sample, and those before them that are not counted.
const ENTRIES: usize = size(60, 6);
const FIRST: usize = size(20, 2);

impl Workload for HotEntry {
    const NAME: &'static str = "hot_entry";
    const ABOUT: &'static str = "from outside, again and again: loops of 0 to 512 µs in leaves of \
        2 µs, without a gap; and loops of 32 µs with gaps of 5, 50 and 500 µs in which the caller \
        works; half of the entries are shorter";
    const VARIANTS: &'static [Variant] = &[Variant::Unsteered, Variant::Guests];
    const MEASURES: &'static [MeasureSpec] = &[
        MeasureSpec::less("work32", "time of a loop of 32 us", "us"),
        MeasureSpec::less("work0", "time to run nothing", "us"),
        MeasureSpec::less("work8", "time of a loop of 8 us", "us"),
        MeasureSpec::less("work64", "time of a loop of 64 us", "us"),
        MeasureSpec::less("work128", "time of a loop of 128 us", "us"),
        MeasureSpec::less("work512", "time of a loop of 512 us", "us"),
        MeasureSpec::less("gap5", "time of a loop of 32 us, each 5 us after the last", "us"),
        MeasureSpec::less("gap50", "time of a loop of 32 us, each 50 us after the last", "us"),
        MeasureSpec::less("gap500", "time of a loop of 32 us, each 500 us after the last", "us"),
    ];

    const NEEDS: &'static [Need] = &[Need::Enter];

    // A contender that does not fork enters all the same, and goes through loops by plain calls.
    fn run<P: Pool>(pool: &P, budget: Budget) -> Result<Samples, String> {
        let work = Work::micros(LEAF);
        let leaf = |seed| work.run(seed as u64);
        warm_up(pool);
        let enter = |leaves, gap: u64| {
            let expected = sum(&mut Serial, 0..leaves, &leaf);
            let mut times = Vec::with_capacity(ENTRIES);
            for entry in 0..FIRST + ENTRIES {
                work_for(Duration::from_micros(gap));
                let (seconds, result) =
                    Budget::seconds(|| pool.run(|fork| sum(fork, 0..leaves, &leaf)));
                assert_eq!(result, expected, "the sum of a loop of {leaves} leaves");
                if entry >= FIRST {
                    times.push(seconds * 1e6);
                }
            }
            times.sort_unstable_by(f64::total_cmp);
            times[ENTRIES / 2]
        };
        let round = || {
            let [none, four, sixteen, middle, long, longest] =
                LEAVES.map(|leaves| enter(leaves, 0));
            let [soon, later, late] = GAPS.map(|gap| enter(LEAVES_WITH_GAPS, gap));
            [sixteen, none, four, middle, long, longest, soon, later, late]
        };
        let names =
            ["work32", "work0", "work8", "work64", "work128", "work512", "gap5", "gap50", "gap500"];
        Ok(by_name(names, budget.rounds(round)))
    }
}

/// Keeps the processor busy for this time.
fn work_for(time: Duration) {
    let begin = Instant::now();
    while begin.elapsed() < time {
        hint::spin_loop();
    }
}
