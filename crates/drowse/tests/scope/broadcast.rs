//! `spawn_broadcast` into a scope: once on each worker, before the scope ends.

use crate::common::{fib, occupy, pool, watchdog};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

fn counters(count: usize) -> Vec<AtomicUsize> {
    (0..count).map(|_| AtomicUsize::new(0)).collect()
}

fn values(counters: &[AtomicUsize]) -> Vec<usize> {
    counters.iter().map(|counter| counter.load(Ordering::Relaxed)).collect()
}

/// The same tests for each kind of scope: its name, and how it spawns.
macro_rules! suite {
    ($($kind:ident $spawn:ident;)+) => {$(
        mod $kind {
            use super::*;
            use drowse::$kind;

            #[test]
            fn each_worker_is_visited_once() {
                watchdog(|| {
                    for width in [1, 2, 8, 64] {
                        let visits = counters(width);
                        pool(width).$kind(|s| {
                            s.spawn_broadcast(|_, context| {
                                assert_eq!(context.num_threads(), width);
                                assert_eq!(drowse::current_thread_index(), Some(context.index()));
                                visits[context.index()].fetch_add(1, Ordering::Relaxed);
                            });
                        });
                        assert_eq!(values(&visits), vec![1; width]);
                    }
                });
            }

            #[test]
            fn several_broadcasts_all_get_round() {
                watchdog(|| {
                    let visits = counters(8);
                    pool(8).$kind(|s| {
                        for _ in 0..50 {
                            s.spawn_broadcast(|_, context| {
                                visits[context.index()].fetch_add(1, Ordering::Relaxed);
                            });
                        }
                    });
                    assert_eq!(values(&visits), [50; 8]);
                });
            }

            #[test]
            fn works_from_outside_any_pool() {
                watchdog(|| {
                    let visits = counters(drowse::current_num_threads());
                    $kind(|s| {
                        s.spawn_broadcast(|_, context| {
                            visits[context.index()].fetch_add(1, Ordering::Relaxed);
                        });
                    });
                    assert_eq!(values(&visits), vec![1; visits.len()]);
                });
            }

            #[test]
            fn a_visit_may_spawn_and_broadcast_into_the_scope() {
                watchdog(|| {
                    let (spawned, visits) = (AtomicUsize::new(0), counters(4));
                    let (spawned, visits) = (&spawned, &visits);
                    pool(4).$kind(|s| {
                        s.spawn_broadcast(move |s, _| {
                            s.$spawn(move |_| {
                                spawned.fetch_add(1, Ordering::Relaxed);
                            });
                            s.spawn_broadcast(move |_, context| {
                                visits[context.index()].fetch_add(1, Ordering::Relaxed);
                            });
                        });
                    });
                    assert_eq!((spawned.load(Ordering::Relaxed), values(visits)), (4, vec![4; 4]));
                });
            }

            #[test]
            fn a_visit_may_join() {
                watchdog(|| {
                    let sum = AtomicUsize::new(0);
                    pool(4).$kind(|s| {
                        s.spawn_broadcast(|_, _| {
                            sum.fetch_add(fib(10) as usize, Ordering::Relaxed);
                        });
                    });
                    assert_eq!(sum.into_inner(), 4 * 55);
                });
            }

            #[test]
            fn the_scope_waits_for_workers_that_are_busy() {
                watchdog(|| {
                    let (pool, ended) = (pool(4), AtomicBool::new(false));
                    let busy = occupy(&pool, 2);
                    let (sender, receiver) = mpsc::channel();
                    thread::scope(|threads| {
                        threads.spawn(|| {
                            pool.$kind(|s| {
                                s.spawn_broadcast(move |_, _| sender.send(()).unwrap());
                            });
                            ended.store(true, Ordering::SeqCst);
                        });
                        // Two workers are free.
                        receiver.recv().unwrap();
                        receiver.recv().unwrap();
                        assert!(receiver.try_recv().is_err() && !ended.load(Ordering::SeqCst));
                        drop(busy);
                        receiver.recv().unwrap();
                        receiver.recv().unwrap();
                    });
                    assert!(ended.into_inner());
                });
            }

            #[test]
            fn goes_to_the_scopes_pool_whoever_spawns_it() {
                watchdog(|| {
                    let (home, away, visits) = (pool(3), pool(2), counters(3));
                    home.$kind(|s| {
                        away.install(|| {
                            s.spawn_broadcast(|_, context| {
                                assert_eq!(home.current_thread_index(), Some(context.index()));
                                visits[context.index()].fetch_add(1, Ordering::Relaxed);
                            });
                        });
                        thread::scope(|threads| {
                            threads.spawn(|| {
                                s.spawn_broadcast(|_, context| {
                                    visits[context.index()].fetch_add(1, Ordering::Relaxed);
                                });
                            });
                        });
                    });
                    assert_eq!(values(&visits), [2; 3]);
                });
            }
        }
    )+};
}

suite! {
    scope spawn;
    scope_fifo spawn_fifo;
    in_place_scope spawn;
    in_place_scope_fifo spawn_fifo;
}
