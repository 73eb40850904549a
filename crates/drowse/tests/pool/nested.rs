//! Pools that call each other: a worker that waits in another pool goes on helping its own.

use crate::common::{self, assert_works, fib, pool, until_all_sleep, watchdog};
use drowse::{ThreadPool, current_num_threads};
use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

#[test]
fn a_worker_comes_back_to_where_it_was() {
    watchdog(|| {
        let (home, away) = (pool(2), pool(3));
        home.install(|| {
            let here = (thread::current().id(), drowse::current_thread_index());
            let there = away.install(|| {
                assert_eq!(current_num_threads(), 3);
                thread::current().id()
            });
            assert_ne!(there, here.0);
            assert_eq!((thread::current().id(), drowse::current_thread_index()), here);
        });
    });
}

#[test]
fn to_another_pool_and_back_home() {
    watchdog(|| {
        for (width_a, width_b) in [(1, 1), (1, 4), (4, 1), (4, 4)] {
            let (a, b) = (pool(width_a), pool(width_b));
            let there_and_back =
                a.install(|| (current_num_threads(), b.install(|| a.install(current_num_threads))));
            assert_eq!(there_and_back, (width_a, width_a));
            assert_eq!(a.install(|| b.install(|| a.install(|| fib(12)))), 144);
        }
    });
}

#[test]
fn round_three_pools_of_one_thread_each() {
    watchdog(|| {
        let (a, b, c) = (pool(1), pool(1), pool(1));
        for _ in 0..100 {
            let sum = a.install(|| {
                1 + b.install(|| 10 + c.install(|| 100 + a.install(|| b.install(|| 1_000))))
            });
            assert_eq!(sum, 1_111);
        }
    });
}

#[test]
fn to_and_fro_a_hundred_deep() {
    fn to_and_fro(one: &ThreadPool, other: &ThreadPool, depth: usize) -> usize {
        if depth == 0 { 0 } else { other.install(|| to_and_fro(other, one, depth - 1)) + 1 }
    }
    watchdog(|| {
        for width in [1, 2, 8] {
            let (a, b) = (pool(width), pool(width));
            assert_eq!(to_and_fro(&a, &b, 100), 100);
        }
    });
}

#[test]
fn all_workers_at_once() {
    watchdog(|| {
        let (a, b, c) = (pool(4), pool(3), pool(1));
        let sums = a.broadcast(|_| b.install(|| c.install(|| a.install(|| fib(8)))));
        assert_eq!(sums, [21; 4]);
        let sums = a.broadcast(|_| b.broadcast(|_| c.broadcast(|_| a.install(|| fib(5)))));
        assert_eq!(sums, vec![vec![vec![5]; 3]; 4]);
    });
}

#[test]
fn many_outside_threads_at_once() {
    watchdog(|| {
        let (a, b) = (pool(2), pool(2));
        thread::scope(|threads| {
            for i in 0..8 {
                let (one, other) = if i % 2 == 0 { (&a, &b) } else { (&b, &a) };
                threads.spawn(move || {
                    for _ in 0..50 {
                        assert_eq!(one.install(|| other.install(|| one.install(|| fib(8)))), 21);
                    }
                });
            }
        });
    });
}

#[test]
fn a_worker_that_waits_elsewhere_runs_what_comes_to_its_own_pool() {
    watchdog(|| {
        let (home, away) = (pool(1), pool(1));
        let (sender, receiver) = mpsc::channel();
        // The one at home waits for the one away, which waits for a job at home.
        let answer = home.install(|| {
            drowse::spawn(move || sender.send(current_num_threads()).unwrap());
            away.install(move || receiver.recv().unwrap())
        });
        assert_eq!(answer, 1);
    });
}

#[test]
fn also_what_comes_from_outside_after_it_has_fallen_asleep() {
    watchdog(|| {
        let (home, away) = (pool(1), pool(1));
        for _ in 0..100 {
            let answer = home.install(|| {
                away.install(|| {
                    // Nothing to do at home, so its worker sleeps; and must wake for this.
                    until_all_sleep(&home);
                    home.install(|| fib(5))
                })
            });
            assert_eq!(answer, 5);
        }
    });
}

#[test]
fn a_sleeping_worker_is_woken_when_the_other_pool_is_done() {
    watchdog(|| {
        let (home, away) = (pool(2), pool(2));
        for i in 0..100 {
            let answer = home.install(|| {
                away.install(|| {
                    until_all_sleep(&home);
                    i
                })
            });
            assert_eq!(answer, i);
        }
    });
}

#[test]
fn joins_whose_halves_run_in_different_pools() {
    fn spread(pools: &[ThreadPool], height: u32) -> usize {
        if height == 0 {
            return 1;
        }
        let at = |i: usize| &pools[(height as usize + i) % pools.len()];
        let (left, right) = drowse::join(
            || at(0).install(|| spread(pools, height - 1)),
            || at(1).install(|| spread(pools, height - 1)),
        );
        left + right
    }
    watchdog(|| {
        for widths in [[1, 1, 1], [2, 1, 2], [4, 4, 4]] {
            let pools = widths.map(pool);
            assert_eq!(pools[0].install(|| spread(&pools, 7)), 128);
        }
    });
}

#[test]
fn scopes_whose_jobs_go_elsewhere_and_spawn_back() {
    watchdog(|| {
        for width in [1, 2, 4] {
            let (home, away, count) = (pool(width), pool(width), AtomicUsize::new(0));
            let (away, counter) = (&away, &count);
            home.scope(|s| {
                for _ in 0..20 {
                    s.spawn(move |s| {
                        away.install(|| {
                            s.spawn(move |_| {
                                counter.fetch_add(current_num_threads(), Ordering::Relaxed);
                            });
                        });
                    });
                }
            });
            assert_eq!(count.into_inner(), 20 * width);
        }
    });
}

#[test]
fn a_worker_may_build_use_and_drop_a_pool() {
    watchdog(|| {
        let home = pool(2);
        let sums = home.broadcast(|context| {
            let own = pool(context.index() + 1);
            assert_works(&own);
            own.install(|| home.install(|| fib(10)))
        });
        assert_eq!(sums, [55, 55]);
    });
}

#[test]
fn a_pool_may_end_as_soon_as_its_last_job_is_back_from_another() {
    watchdog(|| {
        let away = std::sync::Arc::new(pool(2));
        let (sender, receiver) = mpsc::channel();
        for i in 0..500 {
            let (home, away, sender) = (pool(1), std::sync::Arc::clone(&away), sender.clone());
            home.spawn(move || sender.send(away.install(move || i)).unwrap());
            // The one that sets the latch of the waiting worker must not need its pool any more.
        }
        drop(sender);
        assert_eq!(receiver.iter().sum::<i32>(), 124_750);
    });
}

thread_local!(static BORROWED: RefCell<u32> = const { RefCell::new(0) });

/// A job of the same pool would find the cell borrowed, if the worker ran it while it waits.
#[test]
fn a_worker_that_blocks_in_another_pool_runs_nothing_else() {
    watchdog(|| {
        for (here, there) in [(1, 1), (2, 1), (2, 2)] {
            let (here, there) = (pool(here), pool(there));
            let (sender, receiver) = mpsc::channel();
            here.install(|| {
                BORROWED.with_borrow_mut(|borrowed| {
                    for _ in 0..20 {
                        let sender = sender.clone();
                        drowse::spawn(move || {
                            sender.send(BORROWED.with_borrow_mut(|n| *n)).unwrap()
                        });
                        *borrowed += there.install_blocking(|| drowse::join(|| 1, || 2).1);
                    }
                    assert_eq!(std::mem::take(borrowed), 40);
                });
            });
            drop(sender);
            assert_eq!(receiver.iter().count(), 20);
        }
    });
}

#[test]
fn a_blocking_install_is_an_install_for_all_others() {
    watchdog(|| {
        let pool = pool(2);
        assert_eq!(pool.install_blocking(current_num_threads), 2);
        assert_eq!(pool.install(|| pool.install_blocking(|| fib(10))), 55);
        let panic = common::caught::<&str, _>(|| pool.install_blocking(|| panic!("bad dream")));
        assert_eq!(panic, "bad dream");
    });
}
