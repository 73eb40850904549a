//! A game: a little work sixty times a second, and nothing between.

use super::parts::{size, sum, warm_up};
use super::{MeasureSpec, Samples, Workload, samples};
use crate::contender::{Pool, Serial};
use crate::measure::{Budget, UsageMeter, Work};
use std::thread;
use std::time::{Duration, Instant};

/// A parallel loop of 1 ms each sixtieth of a second.
#[derive(Debug)]
pub struct Frames;

const PERIOD: Duration = Duration::from_micros(16_667);
/// The frames of one sample.
const FRAMES: u32 = size(6, 1) as u32;
/// The loop's items, which share the millisecond.
const ITEMS: usize = 64;

impl Workload for Frames {
    const NAME: &'static str = "frames";
    const ABOUT: &'static str =
        "60 times a second a parallel loop of 1 ms of work: CPU time spent, over that of the work alone";
    const PLACES: bool = true;
    const MEASURES: &'static [MeasureSpec] =
        &[MeasureSpec::less("cpu", "CPU time over that of the work alone", "x")];
    const WIDTHS: &'static [usize] = &[32];

    fn run<P: Pool>(pool: &P, budget: Budget) -> Result<Samples, String> {
        let work = Work::of(Duration::from_millis(1) / ITEMS as u32);
        let item = |seed| work.run(seed as u64);
        warm_up(pool);
        let round = || {
            let meter = UsageMeter::start();
            let expected: Vec<u64> = (0..FRAMES).map(|_| sum(&mut Serial, 0..ITEMS, &item)).collect();
            let alone = meter.read().cpu;
            let meter = UsageMeter::start();
            let mut next = Instant::now();
            for expected in expected {
                next += PERIOD;
                thread::sleep(next.saturating_duration_since(Instant::now()));
                let result = pool.run(|fork| sum(fork, 0..ITEMS, &item));
                assert_eq!(result, expected, "the sum of a frame");
            }
            meter.read().cpu.as_secs_f64() / alone.as_secs_f64()
        };
        Ok(samples("cpu", budget.rounds(round)))
    }
}
