//! A server: several threads that each send small jobs to one pool, and wait for them.

use super::parts::{size, warm_up};
use super::{MeasureSpec, Need, Samples, Variant, Workload};
use crate::contender::{Fork, Pool};
use crate::measure::{Budget, UsageMeter, Work};
use std::thread;
use std::time::{Duration, Instant};

/// Eight threads that enter one pool again and again.
#[derive(Debug)]
pub struct Submitters;

const THREADS: usize = 8;
/// How long one sample takes.
const STRETCH: Duration = Duration::from_millis(size(200, 20) as u64);

impl Workload for Submitters {
    const NAME: &'static str = "submitters";
    const ABOUT: &'static str = "8 threads outside that each enter the pool for two halves of 5 µs, again and again: how many a second, \
        and how long one takes";
    const VARIANTS: &'static [Variant] = &[Variant::Guests];
    const MEASURES: &'static [MeasureSpec] = &[
        MeasureSpec::more("rate", "calls a second", "k/s"),
        MeasureSpec::less("p99", "time of a call, 99 of 100 are shorter", "us"),
        MeasureSpec::less("longest", "time of the longest call in 0.2 s", "ms"),
        MeasureSpec::less("cpu", "CPU time a call", "us"),
    ];
    const WIDTHS: &'static [usize] = &[32];

    const NEEDS: &'static [Need] = &[Need::Enter];

    fn run<P: Pool>(pool: &P, budget: Budget) -> Result<Samples, String> {
        let work = Work::micros(5);
        let expected = (work.run(1), work.run(2));
        warm_up(pool);
        let submit = || {
            let (begin, mut calls) = (Instant::now(), Vec::new());
            while begin.elapsed() < STRETCH {
                let call = || pool.run(|fork| fork.join(|_| work.run(1), |_| work.run(2)));
                let (seconds, result) = Budget::seconds(call);
                assert_eq!(result, expected, "the two halves");
                calls.push(seconds * 1e6);
            }
            calls
        };
        let mut result = Samples::new();
        let mut keep = |name: &str, value| result.entry(name.to_owned()).or_default().push(value);
        budget.rounds(|| {
            let meter = UsageMeter::start();
            let mut calls: Vec<f64> = thread::scope(|scope| {
                let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(submit)).collect();
                threads
                    .into_iter()
                    .flat_map(|thread| thread.join().expect("it does not panic"))
                    .collect()
            });
            calls.sort_unstable_by(f64::total_cmp);
            let usage = meter.read();
            keep("rate", calls.len() as f64 / STRETCH.as_secs_f64() / 1e3);
            keep("p99", calls[calls.len() * 99 / 100]);
            keep("longest", calls[calls.len() - 1] / 1e3);
            keep("cpu", usage.cpu.as_secs_f64() * 1e6 / calls.len() as f64);
        });
        Ok(result)
    }
}
