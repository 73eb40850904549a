//! A pool that exists and does nothing.

use super::parts::{size, warm_up};
use super::{MeasureSpec, Need, Samples, Workload};
use crate::contender::Pool;
use crate::measure::{Budget, UsageMeter};
use crate::platform::thread_cpu;
use std::thread;
use std::time::Duration;

/// Makes a pool, uses it once, and lets it be.
#[derive(Debug)]
pub struct Idle;

/// The length of a sample.
const STRETCH: Duration = Duration::from_millis(size(100, 10) as u64);
/// Until everybody has fallen asleep.
const SETTLE: Duration = Duration::from_millis(size(50, 5) as u64);

impl Workload for Idle {
    const NAME: &'static str = "idle";
    const ABOUT: &'static str = "a pool that was used once and has nothing to do: what it costs";
    const MEASURES: &'static [MeasureSpec] = &[
        MeasureSpec::less("cpu", "CPU time a second", "ms"),
        MeasureSpec::less("switches", "context switches a second", "/s"),
    ];
    const WIDTHS: &'static [usize] = &[8, 64];

    const NEEDS: &'static [Need] = &[];

    fn run<P: Pool>(pool: &P, budget: Budget) -> Result<Samples, String> {
        warm_up(pool);
        thread::sleep(SETTLE);
        let round = || {
            let before = thread_cpu();
            let meter = UsageMeter::start();
            thread::sleep(STRETCH);
            let usage = meter.read();
            // What we spent ourselves, to sleep and to ask for the figures of all threads, is not
            // the pool's.
            let cpu = usage.cpu.saturating_sub(thread_cpu() - before).as_secs_f64() * 1e3;
            let all = |both: [i64; 2]| (both.iter().sum::<i64>() - 1).max(0) as f64;
            let switches = usage.switches.map(|both| all(both) / usage.wall.as_secs_f64());
            (cpu / usage.wall.as_secs_f64(), switches)
        };
        let (cpu, switches): (_, Vec<_>) = budget.rounds(round).into_iter().unzip();
        let mut samples = Samples::from([("cpu".to_owned(), cpu)]);
        // Where nobody counts them, that figure is left out.
        if let Some(switches) = switches.into_iter().collect::<Option<_>>() {
            samples.insert("switches".to_owned(), switches);
        }
        Ok(samples)
    }
}
