//! A game: a little work sixty times a second, and nothing between.

use super::parts::{size, sum, warm_up};
use super::{MeasureSpec, Samples, Variant, Workload};
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
    const ABOUT: &'static str = "60 times a second a parallel loop of 1 ms of work: CPU time spent, over that of the work alone, and how long a loop takes";
    const VARIANTS: &'static [Variant] = &[Variant::Unsteered];
    const MEASURES: &'static [MeasureSpec] = &[
        MeasureSpec::less("cpu", "CPU time over that of the work alone", "x"),
        MeasureSpec::less("time", "time of a loop", "ms"),
    ];
    const WIDTHS: &'static [usize] = &[32, 64];

    fn run<P: Pool>(pool: &P, budget: Budget) -> Result<Samples, String> {
        let work = Work::of(Duration::from_millis(1) / ITEMS as u32);
        let item = |seed| work.run(seed as u64);
        warm_up(pool);
        let round = || {
            let meter = UsageMeter::start();
            let expected: Vec<u64> =
                (0..FRAMES).map(|_| sum(&mut Serial, 0..ITEMS, &item)).collect();
            let alone = meter.read().cpu;
            let meter = UsageMeter::start();
            let (mut next, mut times) = (Instant::now(), Vec::new());
            for expected in expected {
                next += PERIOD;
                thread::sleep(next.saturating_duration_since(Instant::now()));
                let (seconds, result) =
                    Budget::seconds(|| pool.run(|fork| sum(fork, 0..ITEMS, &item)));
                times.push(seconds * 1e3);
                assert_eq!(result, expected, "the sum of a frame");
            }
            (meter.read().cpu.as_secs_f64() / alone.as_secs_f64(), times)
        };
        let (cpu, times): (Vec<f64>, Vec<Vec<f64>>) = budget.rounds(round).into_iter().unzip();
        Ok(Samples::from([("cpu".to_owned(), cpu), ("time".to_owned(), times.concat())]))
    }
}
