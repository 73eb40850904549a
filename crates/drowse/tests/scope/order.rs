//! In which order the jobs of a scope begin: the newest first, or the oldest first.

use crate::common::{pool, watchdog};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

/// A list that jobs add to, in the order in which they run.
#[derive(Default)]
struct Log(Mutex<Vec<usize>>);

impl Log {
    fn add(&self, entry: usize) {
        self.0.lock().unwrap().push(entry);
    }

    #[track_caller]
    fn assert_is(self, expected: impl IntoIterator<Item = usize>) {
        let expected: Vec<_> = expected.into_iter().collect();
        assert_eq!(self.0.into_inner().unwrap(), expected);
    }
}

#[test]
fn a_lone_worker_takes_the_newest_first() {
    watchdog(|| {
        let log = Log::default();
        let note = &log;
        pool(1).scope(|s| (0..1_000).for_each(|i| s.spawn(move |_| note.add(i))));
        log.assert_is((0..1_000).rev());
    });
}

#[test]
fn a_lone_worker_takes_the_oldest_first_in_a_fifo_scope() {
    watchdog(|| {
        let log = Log::default();
        let note = &log;
        pool(1).scope_fifo(|s| (0..1_000).for_each(|i| s.spawn_fifo(move |_| note.add(i))));
        log.assert_is(0..1_000);
    });
}

#[test]
fn an_in_place_scope_on_the_worker_itself_keeps_the_same_orders() {
    watchdog(|| {
        let (pool, lifo, fifo) = (pool(1), Log::default(), Log::default());
        pool.install(|| {
            let note = &lifo;
            drowse::in_place_scope(|s| (0..100).for_each(|i| s.spawn(move |_| note.add(i))));
            let note = &fifo;
            drowse::in_place_scope_fifo(|s| {
                (0..100).for_each(|i| s.spawn_fifo(move |_| note.add(i)))
            });
        });
        lifo.assert_is((0..100).rev());
        fifo.assert_is(0..100);
    });
}

#[test]
fn what_comes_from_outside_queues() {
    watchdog(|| {
        let (pool, lifo, fifo) = (pool(1), Log::default(), Log::default());
        let note = &lifo;
        pool.in_place_scope(|s| (0..1_000).for_each(|i| s.spawn(move |_| note.add(i))));
        lifo.assert_is(0..1_000);
        let note = &fifo;
        pool.in_place_scope_fifo(|s| (0..1_000).for_each(|i| s.spawn_fifo(move |_| note.add(i))));
        fifo.assert_is(0..1_000);
    });
}

#[test]
fn jobs_of_jobs_go_depth_first_or_breadth_first() {
    watchdog(|| {
        let (pool, lifo, fifo) = (pool(1), Log::default(), Log::default());
        let note = &lifo;
        pool.scope(|s| {
            for i in 1..=3 {
                s.spawn(move |s| {
                    note.add(i);
                    (1..=3).for_each(|j| s.spawn(move |_| note.add(10 * i + j)));
                });
            }
        });
        lifo.assert_is([3, 33, 32, 31, 2, 23, 22, 21, 1, 13, 12, 11]);

        let note = &fifo;
        pool.scope_fifo(|s| {
            for i in 1..=3 {
                s.spawn_fifo(move |s| {
                    note.add(i);
                    (1..=3).for_each(|j| s.spawn_fifo(move |_| note.add(10 * i + j)));
                });
            }
        });
        fifo.assert_is([1, 2, 3, 11, 12, 13, 21, 22, 23, 31, 32, 33]);
    });
}

#[test]
fn each_of_two_nested_scopes_keeps_its_own_order() {
    watchdog(|| {
        let (pool, fifo_outside, lifo_outside) = (pool(1), Log::default(), Log::default());
        let note = &fifo_outside;
        pool.scope_fifo(|s| {
            for i in 1..=3 {
                s.spawn_fifo(move |_| {
                    drowse::scope(|s| (1..=3).for_each(|j| s.spawn(move |_| note.add(10 * i + j))));
                });
            }
        });
        fifo_outside.assert_is([13, 12, 11, 23, 22, 21, 33, 32, 31]);

        let note = &lifo_outside;
        pool.scope(|s| {
            for i in 1..=3 {
                s.spawn(move |_| {
                    drowse::scope_fifo(|s| {
                        (1..=3).for_each(|j| s.spawn_fifo(move |_| note.add(10 * i + j)))
                    });
                });
            }
        });
        lifo_outside.assert_is([31, 32, 33, 21, 22, 23, 11, 12, 13]);
    });
}

#[test]
fn a_thief_keeps_the_order_of_a_fifo_scope() {
    watchdog(|| {
        let (pool, log) = (pool(2), Log::default());
        let note = &log;
        let (sender, all_ran) = mpsc::channel();
        pool.scope_fifo(move |s| {
            for i in 0..500 {
                s.spawn_fifo(move |_| note.add(i));
            }
            s.spawn_fifo(move |_| sender.send(()).unwrap());
            // Blocks the worker that spawned: the other one steals, and runs, all of them.
            all_ran.recv().unwrap();
        });
        log.assert_is(0..500);
    });
}

#[test]
fn what_one_worker_spawns_another_begins_in_that_order() {
    watchdog(|| {
        for width in [2, 8] {
            let pool = pool(width);
            let spawned: Vec<_> = (0..width).map(|_| AtomicUsize::new(0)).collect();
            let ran: Vec<_> = (0..width).map(|_| Mutex::new(Vec::new())).collect();
            let (spawned, ran) = (&spawned, &ran);
            pool.scope_fifo(|s| {
                for _ in 0..4 * width {
                    s.spawn_fifo(move |s| {
                        let spawner = drowse::current_thread_index().unwrap();
                        for _ in 0..100 {
                            let number = spawned[spawner].fetch_add(1, Ordering::Relaxed);
                            s.spawn_fifo(move |_| {
                                let runner = drowse::current_thread_index().unwrap();
                                ran[runner].lock().unwrap().push((spawner, number));
                            });
                        }
                    });
                }
            });
            let mut total = 0;
            for (runner, log) in ran.iter().enumerate() {
                let log = log.lock().unwrap();
                total += log.len();
                for spawner in 0..width {
                    let numbers: Vec<_> =
                        log.iter().filter(|entry| entry.0 == spawner).map(|e| e.1).collect();
                    assert!(numbers.is_sorted(), "{spawner} spawned, {runner} ran {numbers:?}");
                }
            }
            assert_eq!(total, 400 * width);
        }
    });
}
