//! `broadcast`: once on each worker, the results in the order of the workers.

use crate::common::{fib, occupy, pool, watchdog};
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

const WIDTHS: [usize; 4] = [1, 2, 8, 64];

#[test]
fn results_come_in_the_order_of_the_workers() {
    watchdog(|| {
        for width in WIDTHS {
            let pool = pool(width);
            for _ in 0..10 {
                let results = pool.broadcast(|context| {
                    assert_eq!(context.num_threads(), width);
                    assert_eq!(pool.current_thread_index(), Some(context.index()));
                    format!("worker {}", context.index())
                });
                assert!(results.into_iter().eq((0..width).map(|index| format!("worker {index}"))));
            }
        }
    });
}

#[test]
fn outside_any_pool_it_visits_the_global_one() {
    watchdog(|| {
        let width = drowse::current_num_threads();
        assert!(drowse::broadcast(|context| context.index()).into_iter().eq(0..width));
        assert_eq!(drowse::current_thread_index(), None);
    });
}

#[test]
fn a_worker_may_broadcast_to_its_own_pool() {
    watchdog(|| {
        for width in WIDTHS {
            let pool = pool(width);
            let indices = pool.install(|| drowse::broadcast(|context| context.index()));
            assert!(indices.into_iter().eq(0..width));
        }
    });
}

#[test]
fn all_workers_may_broadcast_at_once() {
    watchdog(|| {
        for width in WIDTHS {
            let answers = pool(width).broadcast(|_| drowse::broadcast(|context| context.index()));
            assert_eq!(answers.len(), width);
            assert!(answers.into_iter().all(|indices| indices.into_iter().eq(0..width)));
        }
    });
}

#[test]
fn a_worker_may_broadcast_to_another_pool() {
    watchdog(|| {
        let (home, away) = (pool(3), pool(7));
        assert!(home.install(|| away.broadcast(|context| context.index())).into_iter().eq(0..7));
        // From each worker of one to each of the other, and back.
        let answers =
            home.broadcast(|_| away.broadcast(|_| home.broadcast(|context| context.index())));
        assert_eq!(answers, vec![vec![vec![0, 1, 2]; 7]; 3]);
    });
}

#[test]
fn a_worker_that_waits_for_a_broadcast_elsewhere_helps_its_own_pool() {
    watchdog(|| {
        let (home, away) = (pool(1), pool(2));
        let counts = home.install(|| away.broadcast(|_| home.install(drowse::current_num_threads)));
        assert_eq!(counts, [1, 1]);
    });
}

#[test]
fn the_workers_run_it_at_the_same_time() {
    watchdog(|| {
        for width in WIDTHS {
            let everyone = Barrier::new(width);
            let leaders = pool(width).broadcast(|_| everyone.wait().is_leader());
            assert_eq!(leaders.into_iter().filter(|&leader| leader).count(), 1);
        }
    });
}

#[test]
fn it_may_join_and_scope() {
    watchdog(|| {
        for width in WIDTHS {
            let sums = pool(width).broadcast(|_| {
                let mut scoped = 0;
                drowse::scope(|s| s.spawn(|_| scoped = fib(9)));
                fib(10) + scoped
            });
            assert_eq!(sums, vec![89; width]);
        }
    });
}

#[test]
fn it_may_borrow_from_the_caller() {
    watchdog(|| {
        let (text, count) = (String::from("borrowed"), AtomicUsize::new(0));
        let lengths = pool(4).broadcast(|_| {
            count.fetch_add(1, Ordering::Relaxed);
            text.len()
        });
        assert_eq!((lengths, count.into_inner()), (vec![8; 4], 4));
    });
}

#[test]
fn it_waits_for_workers_that_are_busy() {
    watchdog(|| {
        let pool = pool(4);
        let busy = occupy(&pool, 3);
        let (sender, receiver) = mpsc::channel();
        thread::scope(|threads| {
            let caller = threads.spawn(|| {
                pool.broadcast(|context| {
                    sender.send(context.index()).unwrap();
                    context.index()
                })
            });
            receiver.recv().unwrap();
            assert!(receiver.try_recv().is_err(), "one worker was free");
            assert!(!caller.is_finished());
            drop(busy);
            assert_eq!(caller.join().unwrap(), [0, 1, 2, 3]);
        });
        assert_eq!(receiver.try_iter().count(), 3);
    });
}

#[test]
fn it_gets_round_amid_other_work() {
    watchdog(|| {
        for width in [1, 2, 8] {
            let pool = pool(width);
            thread::scope(|threads| {
                let work = threads.spawn(|| (0..20).map(|_| pool.install(|| fib(12))).sum::<u64>());
                for _ in 0..50 {
                    assert!(pool.broadcast(|context| context.index()).into_iter().eq(0..width));
                }
                assert_eq!(work.join().unwrap(), 20 * 144);
            });
        }
    });
}

#[test]
fn jobs_in_a_workers_own_queue_come_first() {
    watchdog(|| {
        let pool = pool(1);
        let (sender, receiver) = mpsc::channel();
        pool.install(|| {
            for i in 1..=3 {
                let sender = sender.clone();
                drowse::spawn_fifo(move || sender.send(i).unwrap());
            }
            drowse::broadcast(|_| sender.send(0).unwrap());
        });
        drop(sender);
        assert_eq!(receiver.iter().collect::<Vec<_>>(), [1, 2, 3, 0]);
    });
}

#[test]
fn many_outside_threads_may_broadcast_at_once() {
    watchdog(|| {
        let pool = pool(8);
        thread::scope(|threads| {
            for _ in 0..8 {
                threads.spawn(|| {
                    for _ in 0..20 {
                        assert_eq!(
                            pool.broadcast(|context| context.index()),
                            [0, 1, 2, 3, 4, 5, 6, 7]
                        );
                    }
                });
            }
        });
    });
}

#[test]
fn the_context_says_what_it_is() {
    watchdog(|| {
        let said = pool(2).broadcast(|context| format!("{context:?}"));
        assert!(said[1].starts_with("BroadcastContext { index: 1, num_threads: 2"), "{}", said[1]);
    });
}
