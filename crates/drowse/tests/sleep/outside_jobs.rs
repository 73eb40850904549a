//! A worker in the middle of a job, and jobs from outside.

use crate::common::{until, watchdog};
use drowse::{SleepPolicy, ThreadPool, ThreadPoolBuilder};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// A pool of so many workers, which search for so long before they get sleepy.
fn pool_with_patience(threads: usize, rounds: u32) -> ThreadPool {
    let policy = SleepPolicy { rounds_until_sleepy: rounds, ..SleepPolicy::default() };
    ThreadPoolBuilder::new().num_threads(threads).sleep_policy(policy).build().expect("a pool")
}

/// Two workers: one waits for the other half of a `join`, which the other is at. Meanwhile a job
/// comes from outside. Calls `f`, in that other half, with a function that tells whether the job
/// has begun.
fn with_a_job_from_outside(pool: &ThreadPool, f: impl FnOnce(&dyn Fn() -> bool) + Send) {
    let (stolen, posted, begun) =
        (AtomicBool::new(false), AtomicBool::new(false), AtomicBool::new(false));
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
fn a_worker_that_waits_in_a_job_runs_jobs_from_outside_before_it_sleeps() {
    watchdog(|| {
        for patience in [0, 24, u32::MAX] {
            let pool = pool_with_patience(2, patience);
            // The other half waits for it.
            with_a_job_from_outside(&pool, |has_begun| until("the job is begun", has_begun));
        }
    });
}

/// The one worker of each pool waits for the other.
#[test]
fn pools_that_call_each_other_get_on_however_patient_they_are() {
    watchdog(|| {
        for patience in [0, 24, u32::MAX] {
            let (a, b) = (pool_with_patience(1, patience), pool_with_patience(1, patience));
            assert_eq!(a.install(|| b.install(|| a.install(|| 42))), 42);
        }
    });
}
