//! As many empty jobs as outside threads can give.

use super::parts::{size, warm_up};
use super::{MeasureSpec, Samples, Workload};
use crate::contender::{Pool, Reason};
use crate::measure::{Budget, UsageMeter};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Floods a pool from one thread, and from four.
#[derive(Debug)]
pub struct FloodOutside;

const JOBS: usize = size(200_000, 2_000);
/// The jobs of a round where a job takes more than [`SLOW`].
const FEW: usize = size(2_000, 100);
const SLOW: Duration = Duration::from_micros(2);
/// Jobs that have not run by then are lost.
const PATIENCE: Duration = Duration::from_secs(5);

impl Workload for FloodOutside {
    const NAME: &'static str = "flood_outside";
    const ABOUT: &'static str = "200,000 empty jobs (2,000 where they are slow) given from outside by one thread, or by four: how many a second";
    const MEASURES: &'static [MeasureSpec] = &[
        MeasureSpec::more("one", "jobs a second, from one thread", "M/s"),
        MeasureSpec::more("four", "jobs a second, from four threads", "M/s"),
        MeasureSpec::less("cpu", "CPU time a job, from one thread", "ns"),
    ];

    fn can<P: Pool>() -> Result<(), Reason> {
        P::can_spawn()
    }

    fn run<P: Pool>(pool: &P, budget: Budget) -> Result<Samples, String> {
        // All floods of a process count in the same place: a job that had to know where would not
        // be empty.
        static TURN: Mutex<()> = Mutex::new(());
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        flood(pool, 1, FEW)?;
        warm_up(pool);
        let is_slow = flood(pool, 1, FEW)? > SLOW * FEW as u32;
        let jobs = if is_slow { FEW } else { JOBS };
        let mut result = Samples::new();
        let mut keep = |name: &str, value| result.entry(name.to_owned()).or_default().push(value);
        let rounds = budget.rounds(|| -> Result<(), String> {
            let meter = UsageMeter::start();
            let one = flood(pool, 1, jobs)?;
            keep("cpu", meter.read().cpu.as_secs_f64() / jobs as f64 * 1e9);
            let four = flood(pool, 4, jobs)?;
            keep("one", jobs as f64 / one.as_secs_f64() / 1e6);
            keep("four", jobs as f64 / four.as_secs_f64() / 1e6);
            Ok(())
        });
        rounds.into_iter().collect::<Result<(), _>>()?;
        Ok(result)
    }
}

/// How long it takes until all jobs have run.
fn flood<P: Pool>(pool: &P, givers: usize, jobs: usize) -> Result<Duration, String> {
    let expected = counted() + jobs;
    let give = |jobs| (0..jobs).try_for_each(|_| pool.spawn(Box::new(count)));
    let barrier = Barrier::new(givers);
    let begin = thread::scope(|scope| {
        let others: Vec<_> = (1..givers)
            .map(|_| {
                scope.spawn(|| {
                    barrier.wait();
                    give(jobs / givers)
                })
            })
            .collect();
        barrier.wait();
        let begin = Instant::now();
        give(jobs - jobs / givers * (givers - 1))?;
        others.into_iter().try_for_each(|other| other.join().expect("a giver does not panic"))?;
        Ok::<_, Reason>(begin)
    })?;
    while counted() != expected {
        if begin.elapsed() > PATIENCE {
            return Err("not all of its jobs ran within 5 s".to_owned());
        }
        // Short beside a flood, and leaves the processor to the pool.
        thread::sleep(Duration::from_micros(20));
    }
    Ok(begin.elapsed())
}

/// A counter that few threads share.
#[repr(align(128))]
struct Counter(AtomicUsize);

static COUNTERS: [Counter; 64] = [const { Counter(AtomicUsize::new(0)) }; 64];

/// The job. Threads count apart, so as not to wait for each other's memory.
fn count() {
    static THREADS: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static MINE: usize = THREADS.fetch_add(1, Ordering::Relaxed) % COUNTERS.len();
    }
    MINE.with(|mine| COUNTERS[*mine].0.fetch_add(1, Ordering::Relaxed));
}

fn counted() -> usize {
    COUNTERS.iter().map(|counter| counter.0.load(Ordering::Relaxed)).sum()
}
