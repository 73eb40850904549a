//! A simulation: bursts of tiny parallel loops with serial work between, then a rest.

use super::parts::{size, sum, warm_up};
use super::{MeasureSpec, Samples, Variant, Workload};
use crate::contender::{Fork, Pool, Serial};
use crate::measure::{Budget, UsageMeter, Work};
use std::thread;
use std::time::Duration;

/// Ticks of twelve bursts each.
#[derive(Debug)]
pub struct Bursts;

const BURSTS: usize = 12;
/// The jobs of a burst, of 1 us each.
const JOBS: usize = 36;
const REST: Duration = Duration::from_millis(3);
/// The ticks of one sample of CPU time.
const TICKS: usize = size(4, 1);

impl Workload for Bursts {
    const NAME: &'static str = "bursts";
    const ABOUT: &'static str = "ticks of 12 bursts of 36 jobs of 1 µs, 200 µs of serial work after each burst and 3 ms of rest after each tick; \
        the pool is entered for each burst, or once a tick";
    const VARIANTS: &'static [Variant] = &[Variant::Guests];
    const MEASURES: &'static [MeasureSpec] = &[
        MeasureSpec::less("cpu", "CPU time a tick, entering for each burst", "ms"),
        MeasureSpec::less("tick", "length of a tick, entering for each burst", "ms"),
        MeasureSpec::less("cpu_once", "CPU time a tick, entering once", "ms"),
        MeasureSpec::less("tick_once", "length of a tick, entering once", "ms"),
    ];
    const WIDTHS: &'static [usize] = &[32];

    fn run<P: Pool>(pool: &P, budget: Budget) -> Result<Samples, String> {
        let tick = Tick { job: Work::micros(1), between: Work::micros(200) };
        let expected = tick.whole(&mut Serial);
        warm_up(pool);
        let stretch = |one: &dyn Fn() -> u64| {
            let meter = UsageMeter::start();
            let mut lengths = Vec::new();
            for _ in 0..TICKS {
                let (seconds, total) = Budget::seconds(one);
                assert_eq!(total, expected, "the sum of a tick");
                lengths.push(seconds * 1e3);
                thread::sleep(REST);
            }
            (meter.read().cpu.as_secs_f64() * 1e3 / TICKS as f64, lengths)
        };
        let each = || (0..BURSTS).map(|_| pool.run(|fork| tick.burst(fork)) ^ tick.serial()).sum();
        let once = || pool.run(|fork| tick.whole(fork));
        let mut result = Samples::new();
        let mut add =
            |name: &str, values: &[f64]| result.entry(name.to_owned()).or_default().extend(values);
        for [(cpu, lengths), (cpu_once, lengths_once)] in
            budget.rounds(|| [stretch(&each), stretch(&once)])
        {
            add("cpu", &[cpu]);
            add("tick", &lengths);
            add("cpu_once", &[cpu_once]);
            add("tick_once", &lengths_once);
        }
        Ok(result)
    }
}

struct Tick {
    job: Work,
    between: Work,
}

impl Tick {
    /// A sum of jobs, small enough that twelve can be added.
    fn burst<F: Fork>(&self, fork: &mut F) -> u64 {
        sum(fork, 0..JOBS, &|seed| self.job.run(seed as u64)) >> 8
    }

    fn serial(&self) -> u64 {
        self.between.run(1) >> 8
    }

    fn whole<F: Fork>(&self, fork: &mut F) -> u64 {
        (0..BURSTS).map(|_| self.burst(fork) ^ self.serial()).sum()
    }
}
