//! The protocol that wakes no more workers than can run at once. (Where the system tells how many
//! that are.)
#![cfg(target_os = "linux")]

use crate::common::books::at_rest;
use crate::common::{until, watchdog};
use drowse::{Reason, SleepProtocol, ThreadPool, ThreadPoolBuilder};
use std::fs;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// How many processors this thread may run on.
fn processors() -> usize {
    let status = fs::read_to_string("/proc/thread-self/status").expect("the system tells");
    let mask = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed:")).expect("a mask");
    mask.chars().filter_map(|digit| digit.to_digit(16)).map(|bits| bits.count_ones() as usize).sum()
}

/// A pool of so many workers, all of them asleep.
fn pool(threads: usize) -> ThreadPool {
    let builder =
        ThreadPoolBuilder::new().num_threads(threads).sleep_protocol(SleepProtocol::Relay);
    let pool = builder.build().expect("a pool");
    at_rest(&pool, threads);
    pool
}

/// Workers that a pool has beyond what can run at once.
const MORE: usize = 3;

/// All that the workers do is wait, so the last of them are brought by sentries.
#[test]
fn where_workers_are_blocked_others_come() {
    watchdog(|| {
        let width = processors() + MORE;
        let (pool, everyone) = (pool(width), Barrier::new(width));
        for _ in 0..20 {
            let before = pool.metrics();
            pool.in_place_scope(|s| (0..width).for_each(|_| s.spawn(|_| _ = everyone.wait())));
            let sleep = pool.metrics().since(&before).total().sleep;
            assert!(sleep.wakes(Reason::Sentry) <= sleep.sentries, "{sleep:?}");
        }
    });
}

/// While as many are at work as can be, a job wakes nobody. It is run by one of them when it is
/// done, or by a sentry that has waited long enough.
#[test]
fn beside_as_many_as_can_run_a_job_wakes_nobody_at_once() {
    watchdog(|| {
        let pool = pool(processors() + MORE);
        let (busy, is_busy) = mpsc::channel();
        let mut ends = Vec::new();
        for _ in 0..processors() {
            let ((end, ended), busy) = (mpsc::channel::<()>(), busy.clone());
            ends.push(end);
            pool.spawn(move || {
                busy.send(()).unwrap();
                assert!(ended.recv().is_err(), "nobody sends anything");
            });
            is_busy.recv().unwrap();
        }
        let before = at_rest(&pool, MORE);
        let (done, is_done) = mpsc::channel();
        pool.spawn(move || done.send(()).unwrap());
        is_done.recv().unwrap();
        let sleep = pool.metrics().since(&before).total().sleep;
        assert_eq!((sleep.wakes(Reason::Job), sleep.wakes(Reason::Baton)), (0, 0), "{sleep:?}");
        assert_eq!(sleep.wakes(Reason::Sentry), 1, "{sleep:?}");
        drop(ends);
    });
}

/// A pool that is no wider than the machine has no sentries.
#[test]
fn where_there_is_room_for_all_there_is_no_sentry() {
    watchdog(|| {
        let width = processors();
        let (pool, everyone) = (pool(width), Barrier::new(width));
        for _ in 0..50 {
            pool.in_place_scope(|s| (0..width).for_each(|_| s.spawn(|_| _ = everyone.wait())));
        }
        assert_eq!(pool.metrics().total().sleep.sentries, 0);
    });
}

/// Jobs that block for about as long as a sentry waits find new work all the time, and leave the
/// processors idle.
#[test]
fn where_workers_block_again_and_again_others_come() {
    watchdog(|| {
        let width = processors() + 30;
        // Not all of them: on a machine that is busy otherwise, some are done before others begin.
        let many = processors() + 6;
        let pool = pool(width);
        let (at_once, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let job = || {
            most.fetch_max(at_once.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
            thread::park_timeout(Duration::from_millis(1));
            at_once.fetch_sub(1, Ordering::Relaxed);
        };
        until("many have been there at once", || {
            pool.in_place_scope(|s| (0..8 * width).for_each(|_| s.spawn(|_| job())));
            most.load(Ordering::Relaxed) >= many
        });
    });
}
