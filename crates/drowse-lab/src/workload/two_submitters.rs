//! Whether a little work gets its turn in a pool that has a lot.

use super::parts::{size, sum, warm_up};
use super::{MeasureSpec, Need, Samples, Variant, Workload, by_name};
use crate::contender::{Pool, Serial};
use crate::host::cpus;
use crate::measure::{Budget, Work};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Small calls from one thread into a pool that works for others.
#[derive(Debug)]
pub struct TwoSubmitters;

/// Milliseconds of the long fold where all processors work on it, in leaves of one each.
const FOLD: usize = size(300, 12);
/// The second thread enters when this part of the fold is done.
const PART: usize = 6;
/// The items of its loop, of 1 us each.
const ITEMS: usize = 10;

/// Threads that enter with much work.
const HEAVY: usize = 7;
/// The leaves of what they enter with, of 100 us each.
const LEAVES: usize = 20;
/// How long one sample of light calls takes.
const STRETCH: Duration = Duration::from_millis(size(500, 20) as u64);
/// Between two light calls.
const REST: Duration = Duration::from_millis(1);

impl Workload for TwoSubmitters {
    const NAME: &'static str = "two_submitters";
    const ABOUT: &'static str = "how long small calls from outside take in a pool that is busy: a loop of 10 µs, when a sixth is done of another thread's \
        fold of 0.3 s on all processors, in leaves of 1 ms; and jobs of 5 µs, 1 ms apart, beside 7 threads that each enter with 2 ms of work in leaves of \
        100 µs, again and again";
    const VARIANTS: &'static [Variant] = &[Variant::Guests];
    const MEASURES: &'static [MeasureSpec] = &[
        MeasureSpec::less("wait", "time of the loop beside the long fold", "ms"),
        MeasureSpec::less("light_p50", "time of a job beside 7 threads, half are shorter", "ms"),
        MeasureSpec::less(
            "light_p99",
            "time of a job beside 7 threads, 99 of 100 are shorter",
            "ms",
        ),
    ];

    const NEEDS: &'static [Need] = &[Need::Fork, Need::Enter];

    fn run<P: Pool>(pool: &P, budget: Budget) -> Result<Samples, String> {
        let (fold, regions) = (Fold::new(), Regions::new());
        warm_up(pool);
        let round = || {
            let [half, most] = regions.light_calls(pool);
            [fold.wait(pool), half, most]
        };
        Ok(by_name(["wait", "light_p50", "light_p99"], budget.rounds(round)))
    }
}

/// A long fold, and a short loop.
struct Fold {
    leaf: Work,
    item: Work,
    /// The result of a leaf: all are the same, so that the sum is known without a serial fold.
    of_leaf: u64,
    of_loop: u64,
}

impl Fold {
    fn new() -> Self {
        let (leaf, item) = (Work::micros(1_000), Work::micros(1));
        let of_loop = sum(&mut Serial, 0..ITEMS, &|seed| item.run(seed as u64));
        Self { leaf, item, of_leaf: leaf.run(1), of_loop }
    }

    /// How many milliseconds the loop takes while the fold is under way.
    fn wait<P: Pool>(&self, pool: &P) -> f64 {
        let (leaves, done) = (FOLD * cpus(), AtomicUsize::new(0));
        let leaf = |_| {
            let result = self.leaf.run(1);
            done.fetch_add(1, Ordering::Relaxed);
            result
        };
        thread::scope(|scope| {
            let first = scope.spawn(|| pool.run(|fork| sum(fork, 0..leaves, &leaf)));
            // By what is done, not by the clock: where others want the processors too, the fold
            // takes longer, and has as much left.
            while done.load(Ordering::Relaxed) < leaves / PART && !first.is_finished() {
                thread::sleep(Duration::from_micros(100));
            }
            let loops = || pool.run(|fork| sum(fork, 0..ITEMS, &|seed| self.item.run(seed as u64)));
            let (seconds, result) = Budget::seconds(loops);
            assert_eq!(result, self.of_loop, "the sum of the loop");
            let folded = first.join().expect("the fold does not panic");
            assert_eq!(folded, self.of_leaf.wrapping_mul(leaves as u64), "the sum of the fold");
            seconds * 1e3
        })
    }
}

/// Much work of many threads, and a light job.
struct Regions {
    leaf: Work,
    light: Work,
    of_region: u64,
    of_light: u64,
}

impl Regions {
    fn new() -> Self {
        let (leaf, light) = (Work::micros(100), Work::micros(5));
        let of_region = sum(&mut Serial, 0..LEAVES, &|seed| leaf.run(seed as u64));
        Self { leaf, light, of_region, of_light: light.run(1) }
    }

    /// How many milliseconds light calls take beside the others: half of them, and 99 of 100, at
    /// most.
    fn light_calls<P: Pool>(&self, pool: &P) -> [f64; 2] {
        let ends = AtomicBool::new(false);
        let heavy = || {
            while !ends.load(Ordering::Relaxed) {
                let result =
                    pool.run(|fork| sum(fork, 0..LEAVES, &|seed| self.leaf.run(seed as u64)));
                assert_eq!(result, self.of_region, "the sum of a region");
            }
        };
        let mut calls = thread::scope(|scope| {
            (0..HEAVY).for_each(|_| drop(scope.spawn(heavy)));
            let (begin, mut calls) = (Instant::now(), Vec::new());
            while begin.elapsed() < STRETCH {
                thread::sleep(REST);
                let (seconds, result) = Budget::seconds(|| pool.run(|_| self.light.run(1)));
                // Before anything can panic: the others end only when they are told.
                calls.push((seconds * 1e3, result));
            }
            ends.store(true, Ordering::Relaxed);
            calls
        });
        assert!(
            calls.iter().all(|(_, result)| *result == self.of_light),
            "the result of a light job"
        );
        calls.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        [calls.len() / 2, calls.len() * 99 / 100].map(|at| calls[at].0)
    }
}
