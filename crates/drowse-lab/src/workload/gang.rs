//! Jobs of one scope that spin for one another, as the threads of some linear algebra do.

use super::parts::{size, warm_up};
use super::{MeasureSpec, Need, Samples, Variant, Workload, by_name};
use crate::contender::{Fork, Pool};
use crate::measure::{Budget, Work};
use std::hint;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A job for each thread of the pool, which all meet at a spinning barrier again and again.
#[derive(Debug)]
pub struct Gang;

/// Steps of a gang; between two steps its jobs meet.
const STEPS: usize = size(40, 4);
/// Microseconds of work of all jobs together, for one step.
const STEP: u64 = 20;
/// Looks at the barrier before a job lets other threads run. Such gangs know that there may be
/// fewer processors than jobs.
const SPINS: u32 = 2_000;

impl Workload for Gang {
    const NAME: &'static str = "gang";
    const ABOUT: &'static str = "as many jobs as the pool has threads, spawned in one scope: they \
        do 40 steps of 20 µs together, and spin for one another after each; the scope is entered \
        from outside, and from inside";
    const WIDTHS: &'static [usize] = &[4, 8];
    const VARIANTS: &'static [Variant] = &[Variant::Guests];
    const MEASURES: &'static [MeasureSpec] = &[
        MeasureSpec::less("inside", "time of a gang, one after the other inside the pool", "us"),
        MeasureSpec::less("outside", "time of a gang that is entered from outside", "us"),
    ];

    const NEEDS: &'static [Need] = &[
        Need::SpawnInside,
        Need::WaitInHalves,
        Need::Parallel("its jobs would wait for one another for ever"),
    ];

    fn run<P: Pool>(pool: &P, budget: Budget) -> Result<Samples, String> {
        let jobs = pool.threads();
        let work =
            Work::of(std::time::Duration::from_micros(STEP) / u32::try_from(jobs).unwrap_or(1));
        warm_up(pool);
        let round = || {
            let (outside, met) = Budget::seconds(|| pool.run(|fork| gang(fork, jobs, work)));
            assert_eq!(met?, jobs * STEPS, "the jobs that came to barriers, from outside");
            let (inside, met) = pool.run(|fork| Budget::seconds(|| gang(fork, jobs, work)));
            assert_eq!(met?, jobs * STEPS, "the jobs that came to barriers, from inside");
            Ok([inside * 1e6, outside * 1e6])
        };
        let rounds: Result<Vec<[f64; 2]>, &'static str> =
            budget.rounds(round).into_iter().collect();
        Ok(by_name(["inside", "outside"], rounds?))
    }
}

/// Runs one gang. Returns how often a job has come to a barrier.
fn gang<F: Fork>(fork: &mut F, jobs: usize, work: Work) -> Result<usize, &'static str> {
    let came = AtomicUsize::new(0);
    let job = |number: usize| {
        let came = &came;
        move || {
            for step in 1..=STEPS {
                hint::black_box(work.run((number * STEPS + step) as u64));
                came.fetch_add(1, Ordering::AcqRel);
                let mut looks = 0;
                while came.load(Ordering::Acquire) < step * jobs {
                    hint::spin_loop();
                    looks += 1;
                    if looks % SPINS == 0 {
                        std::thread::yield_now();
                    }
                }
            }
        }
    };
    fork.scope((0..jobs).map(job))?;
    Ok(came.load(Ordering::Acquire))
}
