//! A worker in the middle of a job, and jobs from outside.

use crate::common::{until, watchdog};
use drowse::{SleepPolicy, ThreadPool, ThreadPoolBuilder};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// A pool whose workers search for so long before they get sleepy.
fn pool_with_patience(rounds: u32) -> ThreadPool {
    let policy = SleepPolicy { rounds_until_sleepy: rounds, ..SleepPolicy::default() };
    ThreadPoolBuilder::new().num_threads(2).sleep_policy(policy).build().expect("a pool")
}

/// Two workers: one waits for the other half of a `join`, which the other is at. Meanwhile a job
/// comes from outside. Calls `f`, in that other half, with a function that tells whether the job
/// has begun.
fn with_a_job_from_outside(pool: &ThreadPool, f: impl FnOnce(&dyn Fn() -> bool) + Send) {
    let (stolen, posted, begun) = (AtomicBool::new(false), AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|s| {
        s.spawn(|| {
            pool.join(
                || until("it is stolen", || stolen.load(Ordering::Acquire)),
                || {
                    stolen.store(true, Ordering::Release);
                    until("the job is posted", || posted.load(Ordering::Acquire));
                    f(&|| begun.load(Ordering::Acquire));
                },
            )
        });
        until("it is stolen", || stolen.load(Ordering::Acquire));
        pool.in_place_scope(|s| {
            s.spawn(|_| begun.store(true, Ordering::Release));
            posted.store(true, Ordering::Release);
        });
    });
    assert!(begun.load(Ordering::Acquire));
}

#[test]
fn a_worker_that_waits_in_a_job_leaves_jobs_from_outside_alone_at_first() {
    watchdog(|| {
        let pool = pool_with_patience(u32::MAX);
        with_a_job_from_outside(&pool, |has_begun| {
            let searches = || pool.metrics().total().searches;
            let before = searches();
            until("both have searched", || searches() > before + 1_000);
            assert!(!has_begun());
        });
    });
}

#[test]
fn but_it_runs_them_before_it_sleeps() {
    watchdog(|| {
        let pool = pool_with_patience(24);
        // The other half waits for it.
        with_a_job_from_outside(&pool, |has_begun| until("the job is begun", has_begun));
    });
}
