//! The halves of a join may wait for each other: whatever else goes on, each gets a worker.

use crate::common::{self, fib, pool, watchdog};
use drowse::ThreadPool;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;

/// A join whose halves send each other a number and wait for the other's, one or the other first.
fn mutual_wait(round: usize) {
    let (to_b, from_a) = mpsc::channel();
    let (to_a, from_b) = mpsc::channel();
    let a_first = round % 2 == 0;
    let a = move || {
        if a_first {
            to_b.send(round).unwrap();
            from_b.recv().unwrap()
        } else {
            let number: usize = from_b.recv().unwrap();
            to_b.send(number + 1).unwrap();
            number
        }
    };
    let b = move || {
        if a_first {
            let number: usize = from_a.recv().unwrap();
            to_a.send(number + 1).unwrap();
            number
        } else {
            to_a.send(round).unwrap();
            from_a.recv().unwrap()
        }
    };
    let expected = if a_first { (round + 1, round) } else { (round, round + 1) };
    assert_eq!(drowse::join(a, b), expected);
}

const ROUNDS: usize = 2_000;

#[test]
fn from_inside() {
    watchdog(|| {
        for width in [2, 3, 8] {
            pool(width).install(|| (0..ROUNDS).for_each(mutual_wait));
        }
    });
}

#[test]
fn from_outside() {
    watchdog(|| {
        for width in [2, 3, 8] {
            let pool = pool(width);
            (0..ROUNDS).for_each(|round| pool.install(|| mutual_wait(round)));
        }
    });
}

/// Calls `disturb` again and again, on a thread of its own, while `body` runs.
fn while_disturbed(disturb: impl Fn(usize) + Sync, body: impl FnOnce()) {
    let (over, started) = (AtomicBool::new(false), Barrier::new(2));
    thread::scope(|threads| {
        threads.spawn(|| {
            started.wait();
            (0..).take_while(|_| !over.load(Ordering::Relaxed)).for_each(&disturb);
        });
        started.wait();
        body();
        over.store(true, Ordering::Relaxed);
    });
}

/// Mutual waits in pools of several widths, each disturbed.
fn disturbed(disturb: impl Fn(&ThreadPool, usize) + Sync) {
    for width in [2, 3, 8] {
        let pool = pool(width);
        while_disturbed(
            |times| disturb(&pool, times),
            || {
                pool.install(|| (0..ROUNDS / 4).for_each(mutual_wait));
                (0..ROUNDS / 4).for_each(|round| pool.install(|| mutual_wait(round)));
            },
        );
    }
}

#[test]
fn amid_joins_from_outside() {
    watchdog(|| disturbed(|pool, _| assert_eq!(pool.install(|| fib(6)), 8)));
}

#[test]
fn amid_spawned_jobs() {
    watchdog(|| {
        disturbed(|pool, times| {
            let (sender, receiver) = mpsc::channel();
            for i in 0..times % 8 {
                let sender = sender.clone();
                pool.spawn(move || sender.send(i).unwrap());
            }
            drop(sender);
            assert_eq!(receiver.iter().count(), times % 8);
        });
    });
}

#[test]
fn amid_broadcasts() {
    watchdog(|| {
        disturbed(|pool, _| assert_eq!(pool.broadcast(|_| ()).len(), pool.current_num_threads()));
    });
}

#[test]
fn amid_scopes_that_spawn_from_outside() {
    watchdog(|| {
        disturbed(|pool, _| {
            let mut done = [false; 3];
            pool.in_place_scope(|s| done.iter_mut().for_each(|flag| s.spawn(|_| *flag = true)));
            assert_eq!(done, [true; 3]);
        });
    });
}

#[test]
fn several_at_once_where_there_are_workers_enough() {
    watchdog(|| {
        let pool = pool(8);
        thread::scope(|threads| {
            for _ in 0..4 {
                threads.spawn(|| {
                    (0..ROUNDS / 4).for_each(|round| pool.install(|| mutual_wait(round)))
                });
            }
        });
        common::assert_works(&pool);
    });
}

#[test]
fn with_more_joins_within_and_around() {
    watchdog(|| {
        for width in [2, 3, 8] {
            pool(width).install(|| {
                for round in 0..ROUNDS / 4 {
                    let ((), sum) = drowse::join(
                        || {
                            assert_eq!(fib(4), 3);
                            mutual_wait(round);
                        },
                        || fib(4),
                    );
                    assert_eq!(sum, 3);
                }
            });
        }
    });
}
