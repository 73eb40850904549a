//! Sparse load: a small job now and then. What does it cost to be ready for it?

use super::parts::size;
use super::{MeasureSpec, Need, Samples, Workload};
use crate::contender::Pool;
use crate::measure::{Budget, UsageMeter};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

/// An empty job each millisecond, from outside.
#[derive(Debug)]
pub struct Ticks;

const PERIOD: Duration = Duration::from_millis(1);
/// The length of one sample of CPU time.
const STRETCH: Duration = Duration::from_millis(size(50, 20) as u64);

impl Workload for Ticks {
    const NAME: &'static str = "ticks";
    const ABOUT: &'static str =
        "an empty job each millisecond from outside: CPU time spent, and time from spawn to start";
    const MEASURES: &'static [MeasureSpec] = &[
        MeasureSpec::less("cpu", "CPU time, of one processor", "%"),
        MeasureSpec::less("start", "time from spawn to start", "us"),
    ];
    const WIDTHS: &'static [usize] = &[8, 32];

    const NEEDS: &'static [Need] = &[Need::Spawn];

    fn run<P: Pool>(pool: &P, budget: Budget) -> Result<Samples, String> {
        let round = || -> Result<(f64, Vec<f64>), String> {
            let (started, starts) = channel();
            let meter = UsageMeter::start();
            let begin = Instant::now();
            let mut next = begin;
            while begin.elapsed() < STRETCH {
                next += PERIOD;
                thread::sleep(next.saturating_duration_since(Instant::now()));
                let (started, spawned) = (started.clone(), Instant::now());
                pool.spawn(move || _ = started.send(spawned.elapsed()))?;
            }
            let cpu = meter.read().cpu_percent();
            drop(started);
            Ok((cpu, starts.iter().map(|time: Duration| time.as_secs_f64() * 1e6).collect()))
        };
        let rounds = budget.rounds(round).into_iter().collect::<Result<Vec<_>, _>>()?;
        let (cpu, starts): (Vec<f64>, Vec<Vec<f64>>) = rounds.into_iter().unzip();
        Ok(Samples::from([("cpu".to_owned(), cpu), ("start".to_owned(), starts.concat())]))
    }
}
