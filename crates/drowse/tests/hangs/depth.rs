//! How many jobs a worker has on its stack.

use crate::common::patience;
use crate::programs::{builder, for_each, on_every_protocol};
use std::cell::Cell;
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// What slows tests down makes frames bigger, too; and a sanitizer has locals elsewhere, so that
/// waits are counted instead of measured.
fn small_stack() -> usize {
    (256 << 10) * patience() as usize
}

thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Jobs that wait on top of each other, at most, and as they are now on this thread.
#[derive(Default)]
struct Deepest(AtomicUsize);

impl Deepest {
    fn run(&self, f: impl FnOnce()) {
        let depth = DEPTH.get() + 1;
        DEPTH.set(depth);
        self.0.fetch_max(depth, Ordering::Relaxed);
        f();
        DEPTH.set(depth - 1);
    }
}

/// P15. rayon's workers run one job on top of the other here, until the stack overflows.
#[test]
fn p15_many_jobs_that_wait_on_small_stacks() {
    on_every_protocol(|protocol| {
        for width in [2, 5] {
            let pool = builder(protocol, width).stack_size(small_stack()).build().expect("a pool");
            let (deepest, items) = (Deepest::default(), AtomicUsize::new(0));
            let item = |_| {
                items.fetch_add(1, Ordering::Relaxed);
            };
            pool.scope(|s| {
                for _ in 0..25_000 {
                    s.spawn(|_| deepest.run(|| for_each(0..4, &item)));
                }
            });
            assert_eq!(items.into_inner(), 100_000);
        }
    });
}

/// A job that waits for the next, which somebody else has, until there are no more: each of them
/// finds another one to run meanwhile.
#[test]
fn p15_jobs_that_find_one_another_do_not_use_up_the_stack() {
    on_every_protocol(|protocol| {
        let pool = builder(protocol, 3).stack_size(small_stack()).build().expect("a pool");
        let deepest = Deepest::default();
        pool.scope(|s| {
            for _ in 0..5_000 {
                s.spawn(|_| {
                    deepest.run(|| {
                        // Both halves of a kilobyte or so, and long enough for one to be stolen.
                        let half = || (0..20).map(|x| black_box([x; 1 << 10]).len()).sum::<usize>();
                        assert_eq!(drowse::join(half, half), (20 << 10, 20 << 10));
                    });
                });
            }
        });
        let deepest = deepest.0.into_inner();
        assert!(deepest < 200, "{deepest} jobs on one stack");
    });
}

/// Each job that runs while another one waits for the other pool waits there, too. rayon's workers
/// run one on top of the other, until the stack overflows.
#[test]
fn p15_jobs_that_wait_for_another_pool_on_small_stacks() {
    on_every_protocol(|protocol| {
        let here = builder(protocol, 1).stack_size(small_stack()).build().expect("a pool");
        let there = builder(protocol, 1).build().expect("a pool");
        let (done, deepest) = (AtomicUsize::new(0), Deepest::default());
        let work = || {
            if done.fetch_add(1, Ordering::Relaxed) == 0 {
                // Long enough for the others to pile up.
                thread::park_timeout(Duration::from_millis(100));
            }
        };
        here.scope(|s| {
            for _ in 0..2_000 {
                s.spawn(|_| deepest.run(|| there.install(work)));
            }
        });
        assert_eq!(done.into_inner(), 2_000);
        let deepest = deepest.0.into_inner();
        assert!(deepest > 8 && deepest < 1_000, "{deepest} jobs on one stack");
    });
}
