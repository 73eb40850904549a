//! As many small jobs as outside threads can give.

use super::counters::{count, count_by, counted, turn, wait};
use super::parts::{size, warm_up};
use super::{MeasureSpec, Need, Samples, Workload, by_name};
use crate::contender::{Pool, Reason};
use crate::measure::{Budget, UsageMeter};
use std::sync::Barrier;
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
    const ABOUT: &'static str = "200,000 jobs (2,000 where they are slow) given from outside by one thread, or by four, which are empty or bring one word along: \
        how many a second";
    const MEASURES: &'static [MeasureSpec] = &[
        MeasureSpec::more("one", "empty jobs a second, from one thread", "M/s"),
        MeasureSpec::more("four", "empty jobs a second, from four threads", "M/s"),
        MeasureSpec::more("one_word", "jobs of one word a second, from one thread", "M/s"),
        MeasureSpec::more("four_word", "jobs of one word a second, from four threads", "M/s"),
        MeasureSpec::less("cpu", "CPU time an empty job, from one thread", "ns"),
    ];

    const NEEDS: &'static [Need] = &[Need::Spawn];

    fn run<P: Pool>(pool: &P, budget: Budget) -> Result<Samples, String> {
        let _turn = turn();
        empty(pool, 1, FEW)?;
        warm_up(pool);
        let is_slow = empty(pool, 1, FEW)? > SLOW * FEW as u32;
        let jobs = if is_slow { FEW } else { JOBS };
        let rate = |time: Duration| jobs as f64 / time.as_secs_f64() / 1e6;
        let round = || -> Result<_, String> {
            let meter = UsageMeter::start();
            let one = empty(pool, 1, jobs)?;
            let cpu = meter.read().cpu.as_secs_f64() / jobs as f64 * 1e9;
            let others = [empty(pool, 4, jobs)?, words(pool, 1, jobs)?, words(pool, 4, jobs)?];
            let [four, one_word, four_word] = others.map(rate);
            Ok([rate(one), four, one_word, four_word, cpu])
        };
        let rounds = budget.rounds(round).into_iter().collect::<Result<_, _>>()?;
        Ok(by_name(["one", "four", "one_word", "four_word", "cpu"], rounds))
    }
}

/// How long it takes until all jobs have run, each of which is empty.
fn empty<P: Pool>(pool: &P, givers: usize, jobs: usize) -> Result<Duration, String> {
    flood(pool, givers, jobs, jobs, |_| count)
}

/// The same for jobs that bring along their number, from one on, and count by it.
fn words<P: Pool>(pool: &P, givers: usize, jobs: usize) -> Result<Duration, String> {
    flood(pool, givers, jobs, jobs * (jobs + 1) / 2, |number| move || count_by(number + 1))
}

/// How long it takes until all jobs have run, and have counted `sum`.
fn flood<P: Pool, J: FnOnce() + Send + 'static>(
    pool: &P,
    givers: usize,
    jobs: usize,
    sum: usize,
    job: impl Fn(usize) -> J + Sync,
) -> Result<Duration, String> {
    let expected = counted() + sum;
    let first = |giver| jobs * giver / givers;
    let give =
        |giver| (first(giver)..first(giver + 1)).try_for_each(|number| pool.spawn(job(number)));
    let barrier = Barrier::new(givers);
    let begin = thread::scope(|scope| {
        let (give, barrier) = (&give, &barrier);
        let others: Vec<_> = (1..givers)
            .map(|giver| {
                scope.spawn(move || {
                    barrier.wait();
                    give(giver)
                })
            })
            .collect();
        barrier.wait();
        let begin = Instant::now();
        give(0)?;
        others.into_iter().try_for_each(|other| other.join().expect("a giver does not panic"))?;
        Ok::<_, Reason>(begin)
    })?;
    wait(expected, begin, PATIENCE)
}
