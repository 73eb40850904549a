//! `spawn` and `spawn_fifo`: run some time, in the right pool, in the right order, also if the pool
//! is dropped.

use crate::common::{occupy, pool, watchdog};
use drowse::{ThreadPool, ThreadPoolBuilder};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::thread;

/// What the jobs sent, until the last sender is gone.
fn all<T>(receiver: Receiver<T>) -> Vec<T> {
    receiver.iter().collect()
}

/// A job that sends a number.
fn sending(sender: &mpsc::Sender<usize>, number: usize) -> impl FnOnce() + Send + 'static {
    let sender = sender.clone();
    move || sender.send(number).unwrap()
}

#[test]
fn jobs_from_outside_run_once_each() {
    watchdog(|| {
        for width in [1, 2, 8, 64] {
            let (pool, (sender, receiver)) = (pool(width), mpsc::channel());
            for i in 0..500 {
                pool.spawn(sending(&sender, 2 * i));
                pool.spawn_fifo(sending(&sender, 2 * i + 1));
            }
            drop(sender);
            let mut numbers = all(receiver);
            numbers.sort_unstable();
            assert!(numbers.into_iter().eq(0..1_000), "{width} threads");
        }
    });
}

#[test]
fn outside_any_pool_jobs_go_to_the_global_one() {
    watchdog(|| {
        let (sender, receiver) = mpsc::channel();
        let other = sender.clone();
        drowse::spawn(move || {
            sender.send((drowse::current_thread_index(), thread::current().id())).unwrap()
        });
        drowse::spawn_fifo(move || {
            other.send((drowse::current_thread_index(), thread::current().id())).unwrap();
        });
        for (index, ran_on) in all(receiver) {
            assert!(index.is_some());
            assert_ne!(ran_on, thread::current().id());
        }
    });
}

#[test]
fn on_a_worker_jobs_go_to_its_own_pool_or_to_the_one_named() {
    watchdog(|| {
        let (home, away, (sender, receiver)) = (pool(3), pool(4), mpsc::channel());
        let report = || {
            let sender = sender.clone();
            move || sender.send(drowse::current_num_threads()).unwrap()
        };
        home.install(|| {
            drowse::spawn(report());
            drowse::spawn_fifo(report());
            away.spawn(report());
            away.spawn_fifo(report());
        });
        drop(sender);
        let mut widths = all(receiver);
        widths.sort_unstable();
        assert_eq!(widths, [3, 3, 4, 4]);
    });
}

#[test]
fn a_lone_worker_takes_the_newest_first() {
    watchdog(|| {
        let (sender, receiver) = mpsc::channel();
        pool(1).install(|| (0..1_000).for_each(|i| drowse::spawn(sending(&sender, i))));
        drop(sender);
        assert!(all(receiver).into_iter().eq((0..1_000).rev()));
    });
}

#[test]
fn a_lone_worker_takes_the_oldest_first_of_spawn_fifo() {
    watchdog(|| {
        let (sender, receiver) = mpsc::channel();
        pool(1).install(|| (0..1_000).for_each(|i| drowse::spawn_fifo(sending(&sender, i))));
        drop(sender);
        assert!(all(receiver).into_iter().eq(0..1_000));
    });
}

#[test]
fn the_two_kinds_mixed_keep_their_order_among_themselves() {
    watchdog(|| {
        let (sender, receiver) = mpsc::channel();
        pool(1).install(|| {
            for i in 0..100 {
                drowse::spawn(sending(&sender, i));
                drowse::spawn_fifo(sending(&sender, 1_000 + i));
            }
        });
        drop(sender);
        let (fifo, lifo): (Vec<_>, Vec<_>) = receiver.iter().partition(|&number| number >= 1_000);
        assert!(lifo.into_iter().eq((0..100).rev()));
        assert!(fifo.into_iter().eq(1_000..1_100));
    });
}

#[test]
fn from_outside_everything_queues() {
    watchdog(|| {
        let (pool, (sender, receiver)) = (pool(1), mpsc::channel());
        for i in 0..500 {
            pool.spawn(sending(&sender, 2 * i));
            pool.spawn_fifo(sending(&sender, 2 * i + 1));
        }
        drop(sender);
        assert!(all(receiver).into_iter().eq(0..1_000));
    });
}

#[test]
fn what_one_worker_spawns_in_order_another_begins_in_that_order() {
    watchdog(|| {
        const WIDTH: usize = 4;
        let pool = pool(WIDTH);
        let spawned = Arc::new([const { AtomicUsize::new(0) }; WIDTH]);
        let (sender, receiver) = mpsc::channel();
        for _ in 0..4 * WIDTH {
            let (spawned, sender) = (Arc::clone(&spawned), sender.clone());
            pool.spawn(move || {
                let spawner = drowse::current_thread_index().unwrap();
                for _ in 0..100 {
                    let number = spawned[spawner].fetch_add(1, Ordering::Relaxed);
                    let sender = sender.clone();
                    drowse::spawn_fifo(move || {
                        // The channel keeps the order of each sending thread.
                        let runner = drowse::current_thread_index().unwrap();
                        sender.send((spawner, runner, number)).unwrap();
                    });
                }
            });
        }
        drop(sender);
        let mut lists: [[Vec<usize>; WIDTH]; WIDTH] = Default::default();
        for (spawner, runner, number) in receiver {
            lists[spawner][runner].push(number);
        }
        let lists = lists.as_flattened();
        assert_eq!(lists.iter().map(Vec::len).sum::<usize>(), 1_600);
        assert!(lists.iter().all(|numbers| numbers.is_sorted()), "{lists:?}");
    });
}

#[test]
fn jobs_may_spawn_jobs() {
    fn grow(height: u32, sender: mpsc::Sender<()>) {
        sender.send(()).unwrap();
        if height > 0 {
            let other = sender.clone();
            drowse::spawn(move || grow(height - 1, other));
            drowse::spawn_fifo(move || grow(height - 1, sender));
        }
    }
    watchdog(|| {
        for width in [1, 2, 8] {
            let (pool, (sender, receiver)) = (pool(width), mpsc::channel());
            pool.spawn(move || grow(9, sender));
            assert_eq!(all(receiver).len(), 1_023, "{width} threads");
        }
    });
}

/// A pool that says when its threads end.
fn pool_with_exits(num_threads: usize) -> (ThreadPool, Receiver<usize>) {
    let (sender, exits) = mpsc::channel();
    let sender = Mutex::new(sender);
    let builder = ThreadPoolBuilder::new().num_threads(num_threads);
    let builder = builder.exit_handler(move |index| sender.lock().unwrap().send(index).unwrap());
    (builder.build().unwrap(), exits)
}

#[test]
fn a_dropped_pool_runs_what_was_spawned_and_then_ends() {
    watchdog(|| {
        for width in [1, 2, 8] {
            let ((pool, exits), (sender, receiver)) = (pool_with_exits(width), mpsc::channel());
            let busy = occupy(&pool, width);
            for i in 0..100 {
                pool.spawn(sending(&sender, i));
                pool.spawn_fifo(sending(&sender, i));
            }
            drop(sender);
            drop(pool);
            assert!(
                receiver.try_recv().is_err() && exits.try_recv().is_err(),
                "nobody was free to run them"
            );
            drop(busy);
            assert_eq!(all(receiver).len(), 200, "{width} threads");
            assert_eq!(all(exits).len(), width);
        }
    });
}

#[test]
fn the_jobs_of_a_dropped_pool_may_spawn_more() {
    fn chain(links: usize, sender: mpsc::Sender<usize>) {
        sender.send(drowse::current_num_threads()).unwrap();
        if links > 1 {
            drowse::spawn(move || chain(links - 1, sender));
        }
    }
    watchdog(|| {
        for width in [1, 2, 8] {
            let ((pool, exits), (sender, receiver)) = (pool_with_exits(width), mpsc::channel());
            let busy = occupy(&pool, width);
            pool.spawn(move || chain(1_000, sender));
            drop(pool);
            drop(busy);
            assert_eq!(all(receiver), vec![width; 1_000]);
            assert_eq!(all(exits).len(), width);
        }
    });
}

#[test]
fn the_jobs_of_a_dropped_pool_may_join_scope_and_broadcast() {
    watchdog(|| {
        let ((pool, exits), (sender, receiver)) = (pool_with_exits(3), mpsc::channel());
        let busy = occupy(&pool, 3);
        pool.spawn(move || {
            let mut scoped = 0;
            drowse::scope(|s| s.spawn(|_| scoped = 3));
            let visited = drowse::broadcast(|context| context.index());
            sender.send((drowse::join(|| 1, || 2), scoped, visited)).unwrap();
        });
        drop(pool);
        drop(busy);
        assert_eq!(all(receiver), [((1, 2), 3, vec![0, 1, 2])]);
        assert_eq!(all(exits).len(), 3);
    });
}

#[test]
fn a_pool_may_be_dropped_by_one_of_its_own_jobs() {
    watchdog(|| {
        for width in [1, 2, 8] {
            let ((pool, exits), (sender, receiver)) = (pool_with_exits(width), mpsc::channel());
            let (hand_over, handed_over) = mpsc::channel();
            pool.spawn(move || {
                drop::<ThreadPool>(handed_over.recv().unwrap());
                sender.send(drowse::current_thread_index().is_some()).unwrap();
                drowse::spawn(move || {
                    sender.send(drowse::current_thread_index().is_some()).unwrap()
                });
            });
            hand_over.send(pool).unwrap();
            assert_eq!(all(receiver), [true, true]);
            assert_eq!(all(exits).len(), width);
        }
    });
}
