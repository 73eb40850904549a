//! What the tests share: a watchdog, ways to wait for a state, and pools that are put to use.

#![allow(dead_code)] // each test binary uses a part of it

pub(crate) mod books;
pub(crate) mod child;
#[cfg(target_os = "linux")]
pub(crate) mod cpus;
pub(crate) mod deadlocks;
#[cfg(target_os = "linux")]
pub(crate) mod forks;
pub(crate) mod ledger;
mod patience;
#[cfg(target_os = "linux")]
pub(crate) mod seccomp;
#[cfg(target_os = "linux")]
mod stacks;
#[cfg(target_os = "linux")]
pub(crate) mod tasks;
mod watchdog;

#[allow(unused_imports)] // each test binary uses a part of it
pub(crate) use {
    patience::{LONGEST, Patience, limit, patience},
    watchdog::{until, watchdog, watchdog_for, watchdog_for_life},
};

use drowse::{ThreadPool, ThreadPoolBuilder};
use std::any::Any;
use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc::{self, Sender};

/// A pool with so many threads and nothing special.
#[track_caller]
pub(crate) fn pool(num_threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(num_threads).build().expect("a pool")
}

/// Fibonacci numbers, with a join for each addition.
pub(crate) fn fib(n: u32) -> u64 {
    if n < 2 {
        return u64::from(n);
    }
    let (a, b) = drowse::join(|| fib(n - 1), || fib(n - 2));
    a + b
}

/// Halves that wait for each other, one of them queued by a worker that does not come back for it.
pub(crate) fn mutual_wait(pool: &ThreadPool) {
    let (to_b, from_a) = mpsc::channel();
    let (to_a, from_b) = mpsc::channel();
    pool.join(
        move || {
            to_b.send(()).unwrap();
            from_b.recv().unwrap();
        },
        move || {
            from_a.recv().unwrap();
            to_a.send(()).unwrap();
        },
    );
}

/// Shows that a pool still does what it is for: joins, and each worker answers.
#[track_caller]
pub(crate) fn assert_works(pool: &ThreadPool) {
    assert_eq!(pool.install(|| fib(12)), 144);
    let everyone: Vec<_> = (0..pool.current_num_threads()).collect();
    assert_eq!(pool.broadcast(|context| context.index()), everyone);
}

/// Calls what must panic, and returns what the panic carries.
#[track_caller]
pub(crate) fn caught<P: Any, R>(f: impl FnOnce() -> R) -> P {
    match panic::catch_unwind(AssertUnwindSafe(f)) {
        Ok(_) => panic!("this must panic"),
        Err(payload) => *payload.downcast().expect("the payload is of this type"),
    }
}

/// How many workers of the pool sleep, by what it says of itself.
pub(crate) fn sleeping(pool: &ThreadPool) -> usize {
    let said = format!("{pool:?}");
    let (_, rest) =
        said.split_once("sleeping: ").expect("a pool says how many of its workers sleep");
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().expect("a number of workers")
}

/// Waits until the whole pool sleeps.
#[track_caller]
pub(crate) fn until_all_sleep(pool: &ThreadPool) {
    // Where a spare stands in for one who sleeps, both do.
    until("the whole pool sleeps", || sleeping(pool) >= pool.current_num_threads());
}

/// Workers that are kept busy until this is dropped.
pub(crate) struct Busy(Vec<Sender<()>>);

/// Keeps `workers` workers of the pool busy: each runs a job that blocks. Returns when all of them
/// do.
pub(crate) fn occupy(pool: &ThreadPool, workers: usize) -> Busy {
    let (started, starts) = mpsc::channel();
    let holds = (0..workers).map(|_| {
        let (hold, held) = mpsc::channel::<()>();
        let started = started.clone();
        pool.spawn(move || {
            started.send(()).expect("somebody waits for the start");
            // Ends when the sender is dropped.
            let _ = held.recv();
        });
        hold
    });
    let busy = Busy(holds.collect());
    for _ in 0..workers {
        starts.recv().expect("the job starts");
    }
    busy
}

/// Numbers that look random, the same ones for the same seed.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        // Steele and Vigna's splitmix.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }

    /// Dice of its own, for another thread.
    pub(crate) fn split(&mut self) -> Self {
        Self::new(self.below(u64::MAX))
    }
}
