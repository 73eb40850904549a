//! `spawn_broadcast`: once on each worker, some time, with nobody waiting.

use crate::common::{fib, occupy, pool, watchdog};
use std::sync::mpsc::{self, Receiver};
use std::thread;

/// What was sent until the last sender was gone, in order.
fn sorted<T: Ord>(receiver: Receiver<T>) -> Vec<T> {
    let mut all: Vec<_> = receiver.iter().collect();
    all.sort_unstable();
    all
}

#[test]
fn each_worker_is_visited_once() {
    watchdog(|| {
        for width in [1, 2, 8, 64] {
            let (pool, (sender, receiver)) = (pool(width), mpsc::channel());
            pool.spawn_broadcast(move |context| {
                assert_eq!(context.num_threads(), width);
                assert_eq!(drowse::current_thread_index(), Some(context.index()));
                sender.send(context.index()).unwrap();
            });
            assert!(sorted(receiver).into_iter().eq(0..width), "{width} threads");
        }
    });
}

#[test]
fn outside_any_pool_it_visits_the_global_one() {
    watchdog(|| {
        let (sender, receiver) = mpsc::channel();
        drowse::spawn_broadcast(move |context| sender.send(context.index()).unwrap());
        assert!(sorted(receiver).into_iter().eq(0..drowse::current_num_threads()));
    });
}

#[test]
fn a_worker_may_spawn_one_in_its_own_pool_and_in_another() {
    watchdog(|| {
        let (home, away, (sender, receiver)) = (pool(2), pool(3), mpsc::channel());
        let report = || {
            let sender = sender.clone();
            move |context: drowse::BroadcastContext<'_>| {
                sender.send((context.num_threads(), context.index())).unwrap();
            }
        };
        home.install(|| {
            drowse::spawn_broadcast(report());
            away.spawn_broadcast(report());
        });
        drop(sender);
        assert_eq!(sorted(receiver), [(2, 0), (2, 1), (3, 0), (3, 1), (3, 2)]);
    });
}

#[test]
fn it_returns_at_once_and_busy_workers_get_to_it_later() {
    watchdog(|| {
        let (pool, (sender, receiver)) = (pool(4), mpsc::channel());
        let busy = occupy(&pool, 3);
        pool.spawn_broadcast(move |context| sender.send(context.index()).unwrap());
        let free = receiver.recv().unwrap();
        assert!(receiver.try_recv().is_err(), "one worker was free");
        drop(busy);
        let mut visited = sorted(receiver);
        visited.push(free);
        visited.sort_unstable();
        assert_eq!(visited, [0, 1, 2, 3]);
    });
}

#[test]
fn a_visit_may_join_and_spawn_another_broadcast() {
    watchdog(|| {
        let (pool, (sender, receiver)) = (pool(3), mpsc::channel());
        pool.spawn_broadcast(move |outer| {
            let (sender, sum) = (sender.clone(), fib(outer.index() as u32 + 10));
            drowse::spawn_broadcast(move |inner| sender.send((sum, inner.index())).unwrap());
        });
        let expected = [55, 89, 144].map(|sum| [0, 1, 2].map(|index| (sum, index)));
        assert_eq!(sorted(receiver), expected.as_flattened());
    });
}

#[test]
fn a_dropped_pool_still_visits_each_worker() {
    watchdog(|| {
        for width in [1, 2, 8] {
            let (pool, (sender, receiver)) = (pool(width), mpsc::channel());
            let busy = occupy(&pool, width);
            for _ in 0..10 {
                let sender = sender.clone();
                pool.spawn_broadcast(move |context| sender.send(context.index()).unwrap());
            }
            drop(sender);
            drop(pool);
            drop(busy);
            let expected = (0..width).flat_map(|index| [index; 10]);
            assert!(sorted(receiver).into_iter().eq(expected), "{width} threads");
        }
    });
}

#[test]
fn broadcasts_from_many_threads_all_get_round() {
    watchdog(|| {
        let (pool, (sender, receiver)) = (pool(4), mpsc::channel());
        thread::scope(|threads| {
            for _ in 0..8 {
                threads.spawn(|| {
                    for _ in 0..25 {
                        let sender = sender.clone();
                        pool.spawn_broadcast(move |context| sender.send(context.index()).unwrap());
                    }
                });
            }
        });
        drop(sender);
        assert!(sorted(receiver).into_iter().eq((0..4).flat_map(|index| [index; 200])));
    });
}
