//! Panics in installs, broadcasts and spawned jobs: the payload arrives, and the pool lives on.

use crate::common::{self, assert_works, caught, pool, watchdog};
use drowse::{ThreadPool, ThreadPoolBuilder};
use std::panic::resume_unwind;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver};

const WIDTHS: [usize; 3] = [1, 2, 8];

/// A payload that is nothing else.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Oops(usize);

/// Panics without a word on the standard error.
fn oops(number: usize) {
    resume_unwind(Box::new(Oops(number)));
}

#[test]
fn of_an_install_from_outside() {
    watchdog(|| {
        for width in WIDTHS {
            let pool = pool(width);
            for i in 0..100 {
                assert_eq!(caught::<Oops, _>(|| pool.install(|| oops(i))), Oops(i));
            }
            assert_works(&pool);
        }
    });
}

#[test]
fn of_an_install_in_ones_own_pool() {
    watchdog(|| {
        let pool = pool(1);
        let payload = pool.install(|| caught::<Oops, _>(|| pool.install(|| oops(1))));
        assert_eq!(payload, Oops(1));
        assert_works(&pool);
    });
}

#[test]
fn of_an_install_in_another_pool_and_back() {
    watchdog(|| {
        for width in WIDTHS {
            let (a, b) = (pool(width), pool(width));
            assert_eq!(caught::<Oops, _>(|| a.install(|| b.install(|| oops(1)))), Oops(1));
            assert_eq!(
                caught::<Oops, _>(|| a.install(|| b.install(|| a.install(|| oops(2))))),
                Oops(2)
            );
            let stopped = a.install(|| caught::<Oops, _>(|| b.install(|| a.install(|| oops(3)))));
            assert_eq!(stopped, Oops(3));
            let numbers = a.broadcast(|context| {
                let index = context.index();
                caught::<Oops, _>(|| b.install(|| oops(index))).0
            });
            assert!(numbers.into_iter().eq(0..width));
            assert_works(&a);
            assert_works(&b);
        }
    });
}

#[test]
fn of_a_job_that_a_waiting_worker_ran_it_does_not_hear() {
    watchdog(|| {
        // While it waits for the other pool, the worker runs a job that panics, for which another
        // waits.
        let (home, away) = (pool(1), pool(1));
        let payload =
            home.install(|| away.install(|| caught::<Oops, _>(|| home.install(|| oops(1)))));
        assert_eq!(payload, Oops(1));
        assert_works(&home);
        assert_works(&away);
    });
}

#[test]
fn of_a_broadcast_on_one_worker() {
    watchdog(|| {
        for width in WIDTHS {
            let pool = pool(width);
            for bad in 0..width {
                let visits = AtomicUsize::new(0);
                let payload = caught::<Oops, _>(|| {
                    pool.broadcast(|context| {
                        visits.fetch_add(1, Ordering::Relaxed);
                        if context.index() == bad {
                            oops(bad);
                        }
                    })
                });
                assert_eq!(
                    (payload, visits.into_inner()),
                    (Oops(bad), width),
                    "the others end first"
                );
            }
            assert_works(&pool);
        }
    });
}

#[test]
fn of_a_broadcast_on_several_workers_the_first_in_order_counts() {
    watchdog(|| {
        let pool = pool(8);
        for first in 0..8 {
            let visit = |context: drowse::BroadcastContext<'_>| {
                if context.index() >= first {
                    oops(context.index());
                }
            };
            assert_eq!(caught::<Oops, _>(|| pool.broadcast(visit)), Oops(first));
            let inside = pool.install(|| caught::<Oops, _>(|| drowse::broadcast(visit)));
            assert_eq!(inside, Oops(first));
        }
        assert_works(&pool);
    });
}

#[test]
fn of_a_broadcast_in_another_pool() {
    watchdog(|| {
        let (home, away) = (pool(2), pool(3));
        let visit = |context: drowse::BroadcastContext<'_>| {
            let number = 10 + context.index();
            home.install(|| oops(number));
        };
        let payload = home.install(|| caught::<Oops, _>(|| away.broadcast(visit)));
        assert_eq!(payload, Oops(10));
        assert_works(&home);
        assert_works(&away);
    });
}

#[test]
fn of_a_join_in_a_broadcast() {
    watchdog(|| {
        let pool = pool(4);
        let payload = caught::<Oops, _>(|| {
            pool.broadcast(|context| {
                let index = context.index();
                drowse::join(|| oops(index), || oops(100));
            })
        });
        assert_eq!(payload, Oops(0));
        assert_works(&pool);
    });
}

/// A pool whose panic handler sends what it hears.
fn listening(num_threads: usize) -> (ThreadPool, Receiver<Oops>) {
    let (sender, receiver) = mpsc::channel();
    let sender = Mutex::new(sender);
    let builder = ThreadPoolBuilder::new().num_threads(num_threads).panic_handler(move |payload| {
        assert!(drowse::current_thread_index().is_some(), "on the worker");
        sender.lock().unwrap().send(*payload.downcast().unwrap()).unwrap();
    });
    (builder.build().unwrap(), receiver)
}

/// What was heard by the end of the pool.
fn heard(receiver: Receiver<Oops>) -> Vec<usize> {
    let mut all: Vec<_> = receiver.iter().map(|oops| oops.0).collect();
    all.sort_unstable();
    all
}

#[test]
fn of_spawned_jobs_the_handler_hears_each() {
    watchdog(|| {
        for width in WIDTHS {
            let (pool, receiver) = listening(width);
            for i in 0..50 {
                pool.spawn(move || oops(2 * i));
                pool.install(|| drowse::spawn_fifo(move || oops(2 * i + 1)));
            }
            assert_works(&pool);
            drop(pool);
            assert!(heard(receiver).into_iter().eq(0..100), "{width} threads");
        }
    });
}

#[test]
fn of_a_spawned_broadcast_the_handler_hears_each() {
    watchdog(|| {
        for width in WIDTHS {
            let (pool, receiver) = listening(width);
            pool.spawn_broadcast(|context| oops(context.index()));
            assert_works(&pool);
            drop(pool);
            assert!(heard(receiver).into_iter().eq(0..width));
        }
    });
}

#[test]
fn of_work_within_a_spawned_job_the_handler_hears() {
    watchdog(|| {
        let (pool, receiver) = listening(2);
        pool.spawn(|| {
            drowse::join(|| (), || oops(1));
        });
        pool.spawn(|| drowse::scope(|s| s.spawn(|_| oops(2))));
        pool.spawn(|| {
            drowse::broadcast(|_| oops(3));
        });
        assert_works(&pool);
        drop(pool);
        assert_eq!(heard(receiver), [1, 2, 3]);
    });
}

#[test]
fn that_somebody_waits_for_the_handler_does_not_hear() {
    watchdog(|| {
        let (pool, receiver) = listening(2);
        caught::<Oops, _>(|| pool.install(|| oops(1)));
        caught::<Oops, _>(|| pool.join(|| oops(2), || oops(3)));
        caught::<Oops, _>(|| pool.scope(|s| s.spawn(|_| oops(4))));
        caught::<Oops, _>(|| pool.broadcast(|_| oops(5)));
        drop(pool);
        assert_eq!(heard(receiver), [0; 0]);
    });
}

#[test]
fn the_handler_may_use_the_pool() {
    watchdog(|| {
        let (sender, receiver) = mpsc::channel();
        let sender = Mutex::new(sender);
        let builder = ThreadPoolBuilder::new().num_threads(2).panic_handler(move |_| {
            let sender = sender.lock().unwrap().clone();
            let (a, b) = drowse::join(|| common::fib(10), || common::fib(11));
            drowse::spawn(move || sender.send(a + b).unwrap());
        });
        let pool = builder.build().unwrap();
        pool.spawn(|| oops(1));
        assert_eq!(receiver.recv(), Ok(144));
        assert_works(&pool);
    });
}

#[test]
fn a_dropped_pool_still_has_its_handler() {
    watchdog(|| {
        let (pool, receiver) = listening(1);
        let busy = common::occupy(&pool, 1);
        pool.spawn(|| oops(1));
        drop(pool);
        drop(busy);
        assert_eq!(heard(receiver), [1]);
    });
}
