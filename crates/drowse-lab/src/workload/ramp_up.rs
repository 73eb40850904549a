//! From nobody awake to everybody at work.

use super::parts::{let_sleep, warm_up};
use super::{MeasureSpec, Need, Samples, Workload, samples};
use crate::contender::Pool;
use crate::measure::{Budget, Work};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// Jobs for a wide pool that sleeps.
#[derive(Debug)]
pub struct RampUp;

const JOBS: usize = 64;
/// A job that has not started by then is lost.
const PATIENCE: Duration = Duration::from_secs(5);

impl Workload for RampUp {
    const NAME: &'static str = "ramp_up";
    const ABOUT: &'static str = "64 jobs of 100 µs given to a pool that sleeps: from the start of the first to the start of the last";
    const MEASURES: &'static [MeasureSpec] =
        &[MeasureSpec::less("spread", "time from the first start to the last", "us")];
    const WIDTHS: &'static [usize] = &[8, 32];

    const NEEDS: &'static [Need] =
        &[Need::Spawn, Need::Parallel("one thread: its jobs start one after the other")];

    fn run<P: Pool>(pool: &P, budget: Budget) -> Result<Samples, String> {
        warm_up(pool);
        let work = Work::micros(100);
        let rounds = budget.rounds(|| round(pool, work));
        Ok(samples("spread", rounds.into_iter().collect::<Result<_, _>>()?))
    }
}

fn round<P: Pool>(pool: &P, work: Work) -> Result<f64, String> {
    let_sleep();
    let (started, starts) = channel();
    for seed in 0..JOBS as u64 {
        let started = started.clone();
        pool.spawn(move || {
            let start = Instant::now();
            work.run(seed);
            _ = started.send(start);
        })?;
    }
    let start = |_| {
        starts.recv_timeout(PATIENCE).map_err(|_| "not all of its jobs ran within 5 s".to_owned())
    };
    let starts = (0..JOBS).map(start).collect::<Result<Vec<_>, _>>()?;
    let (first, last) = (starts.iter().min(), starts.iter().max());
    Ok(last.zip(first).map_or(0.0, |(last, first)| (*last - *first).as_secs_f64() * 1e6))
}
