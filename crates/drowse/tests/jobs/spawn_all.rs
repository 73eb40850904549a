//! `spawn_all`: as many single spawns, whatever the iterator does.

use crate::common::ledger::Ledger;
use crate::common::{assert_works, caught, occupy, pool, watchdog};
use drowse::ThreadPoolBuilder;
use std::iter;
use std::panic::resume_unwind;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};

const WIDTHS: [usize; 4] = [1, 2, 8, 64];
/// Around the size of a batch, which is 16 or the width of the pool; and many of them.
const COUNTS: [usize; 8] = [0, 1, 2, 15, 16, 17, 65, 1_000];

/// What the jobs sent, until the last sender is gone.
fn all<T>(receiver: Receiver<T>) -> Vec<T> {
    receiver.iter().collect()
}

fn sorted(receiver: Receiver<usize>) -> Vec<usize> {
    let mut numbers = all(receiver);
    numbers.sort_unstable();
    numbers
}

/// A job that sends a number.
fn sending(sender: &Sender<usize>, number: usize) -> impl FnOnce() + Send + use<> {
    let sender = sender.clone();
    move || sender.send(number).unwrap()
}

#[test]
fn each_runs_once() {
    watchdog(|| {
        for width in WIDTHS {
            let pool = pool(width);
            for count in COUNTS {
                let (sender, receiver) = mpsc::channel();
                pool.spawn_all((0..count).map(|i| sending(&sender, i)));
                pool.install(|| drowse::spawn_all((count..2 * count).map(|i| sending(&sender, i))));
                drop(sender);
                assert!(
                    sorted(receiver).into_iter().eq(0..2 * count),
                    "{count} jobs, {width} threads"
                );
            }
            assert_works(&pool);
        }
    });
}

#[test]
fn outside_any_pool_they_go_to_the_global_one() {
    watchdog(|| {
        let (sender, receiver) = mpsc::channel();
        let report = |_| {
            let sender = sender.clone();
            move || sender.send(drowse::current_thread_index().is_some()).unwrap()
        };
        drowse::spawn_all((0..20).map(report));
        drop(sender);
        assert_eq!(all(receiver), [true; 20]);
    });
}

#[test]
fn on_a_worker_they_go_to_its_own_pool_or_to_the_one_named() {
    watchdog(|| {
        let (home, away, (sender, receiver)) = (pool(3), pool(4), mpsc::channel());
        let report = |_| {
            let sender = sender.clone();
            move || sender.send(drowse::current_num_threads()).unwrap()
        };
        home.install(|| {
            drowse::spawn_all((0..20).map(report));
            away.spawn_all((0..20).map(report));
        });
        drop(sender);
        assert_eq!(sorted(receiver), [[3; 20], [4; 20]].concat());
    });
}

#[test]
fn the_order_is_that_of_single_spawns() {
    watchdog(|| {
        let pool = pool(1);
        for count in COUNTS {
            let (sender, receiver) = mpsc::channel();
            pool.install(|| drowse::spawn_all((0..count).map(|i| sending(&sender, i))));
            drop(sender);
            assert!(
                all(receiver).into_iter().eq((0..count).rev()),
                "a worker takes the newest first"
            );

            let (sender, receiver) = mpsc::channel();
            pool.spawn_all((0..count).map(|i| sending(&sender, i)));
            drop(sender);
            assert!(all(receiver).into_iter().eq(0..count), "from outside they queue");
        }
    });
}

#[test]
fn a_dropped_pool_runs_them_and_then_ends() {
    watchdog(|| {
        for width in [1, 2, 8] {
            let (exit, exits) = mpsc::channel();
            let exit = Mutex::new(exit);
            let builder = ThreadPoolBuilder::new().num_threads(width);
            let pool = builder
                .exit_handler(move |i| exit.lock().unwrap().send(i).unwrap())
                .build()
                .unwrap();
            let (busy, (sender, receiver)) = (occupy(&pool, width), mpsc::channel());
            pool.spawn_all((0..100).map(|i| sending(&sender, i)));
            drop((pool, sender));
            assert!(
                receiver.try_recv().is_err() && exits.try_recv().is_err(),
                "nobody was free to run them"
            );
            drop(busy);
            assert_eq!((all(receiver).len(), all(exits).len()), (100, width));
        }
    });
}

#[test]
fn their_panics_go_to_the_panic_handler() {
    watchdog(|| {
        let (sender, receiver) = mpsc::channel();
        let sender = Mutex::new(sender);
        let pool = ThreadPoolBuilder::new()
            .num_threads(2)
            .panic_handler(move |payload| {
                sender.lock().unwrap().send(*payload.downcast::<usize>().unwrap()).unwrap();
            })
            .build()
            .unwrap();
        let oops = |i: usize| move || resume_unwind(Box::new(i));
        pool.spawn_all((0..50).map(oops));
        pool.install(|| drowse::spawn_all((50..100).map(oops)));
        assert_works(&pool);
        drop(pool);
        assert!(sorted(receiver).into_iter().eq(0..100));
    });
}

/// What the iterator gave before runs, and nothing is left behind.
#[test]
fn an_iterator_that_panics_loses_nothing() {
    watchdog(|| {
        for width in [1, 2, 8] {
            let (pool, ledger) = (pool(width), Ledger::default());
            for (fatal, inside) in
                COUNTS.into_iter().flat_map(|fatal| [(fatal, false), (fatal, true)])
            {
                let (sender, receiver) = mpsc::channel();
                let jobs = (0..2_000).map(|i| {
                    if i == fatal {
                        resume_unwind(Box::new(i));
                    }
                    let (item, send) = (ledger.item(), sending(&sender, i));
                    move || {
                        item.touch();
                        send();
                    }
                });
                let spawn = || caught::<usize, _>(|| pool.spawn_all(jobs));
                assert_eq!(if inside { pool.install(spawn) } else { spawn() }, fatal);
                drop(sender);
                assert!(
                    sorted(receiver).into_iter().eq(0..fatal),
                    "until {fatal}, {width} threads"
                );
            }
            assert_works(&pool);
            drop(pool);
            ledger.assert_settled(2 * COUNTS.iter().sum::<usize>());
        }
    });
}

/// Each job is there before the iterator is asked for the next one, if it does not promise one. In
/// a pool that sleeps, if need be.
#[test]
fn an_iterator_without_a_promise_may_wait_for_its_jobs() {
    watchdog(|| {
        for inside in [false, true] {
            let (pool, (sender, receiver)) = (pool(2), mpsc::channel());
            let receiver = Mutex::new(receiver);
            let spawn = || {
                let mut i = 0;
                let jobs = iter::from_fn(|| {
                    if i > 0 {
                        assert_eq!(
                            receiver.lock().unwrap().recv(),
                            Ok(i),
                            "the one before has run"
                        );
                    }
                    i += 1;
                    (i <= 100).then(|| sending(&sender, i))
                });
                pool.spawn_all(jobs);
            };
            if inside {
                pool.install(spawn);
            } else {
                spawn();
            }
        }
    });
}

/// A long iterator does not keep everything to itself until the end.
#[test]
fn a_long_iterator_may_wait_for_its_earlier_batches() {
    watchdog(|| {
        for width in [2, 64] {
            let (pool, (sender, receiver)) = (pool(width), mpsc::channel());
            pool.spawn_all((0..1_000).map(|i| {
                if i == width.max(16) {
                    assert!(receiver.recv().unwrap() < i);
                }
                sending(&sender, i)
            }));
            // All but the one that was received.
            assert_eq!(receiver.iter().take(999).count(), 999);
        }
    });
}

/// An iterator whose size hint is made up.
struct Says<I>(I, (usize, Option<usize>));

impl<I: Iterator> Iterator for Says<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.1
    }
}

#[test]
fn a_size_hint_may_be_wrong() {
    watchdog(|| {
        let pool = pool(2);
        for hint in [(0, None), (0, Some(0)), (3, Some(3)), (1_000, Some(7)), (usize::MAX, None)] {
            for count in COUNTS {
                let (sender, receiver) = mpsc::channel();
                pool.spawn_all(Says((0..count).map(|i| sending(&sender, i)), hint));
                drop(sender);
                assert!(
                    sorted(receiver).into_iter().eq(0..count),
                    "{count} jobs, said to be {hint:?}"
                );
            }
        }
    });
}

#[test]
fn the_first_end_of_an_iterator_is_the_end() {
    watchdog(|| {
        for hint in [(0, None), (10, None)] {
            let (pool, (sender, receiver)) = (pool(1), mpsc::channel());
            let mut calls = 0;
            let on_and_off = iter::from_fn(|| {
                calls += 1;
                (calls % 4 != 0).then(|| sending(&sender, calls))
            });
            pool.spawn_all(Says(on_and_off, hint));
            drop(sender);
            assert_eq!(all(receiver), [1, 2, 3]);
        }
    });
}

/// The iterator joins, installs, spawns and yields, in the middle of a batch.
#[test]
fn an_iterator_may_use_the_pool() {
    watchdog(|| {
        for (width, inside) in [(1, false), (1, true), (2, false), (2, true), (8, false), (8, true)]
        {
            let (pool, (sender, receiver)) = (pool(width), mpsc::channel());
            let spawn = || {
                pool.spawn_all((0..100).map(|i| {
                    assert_eq!(pool.install(|| drowse::join(|| i, || i + 1)), (i, i + 1));
                    pool.scope(|s| s.spawn_all((0..2).map(|_| |_: &drowse::Scope<'_>| ())));
                    pool.spawn(sending(&sender, 100 + i));
                    pool.spawn_all((0..2).map(|j| sending(&sender, 200 + 2 * i + j)));
                    let _ = drowse::yield_now();
                    sending(&sender, i)
                }));
            };
            if inside {
                pool.install(spawn);
            } else {
                spawn();
            }
            assert_eq!(
                receiver.iter().take(400).collect::<std::collections::BTreeSet<_>>().len(),
                400
            );
            assert!(receiver.try_recv().is_err());
        }
    });
}

#[test]
fn jobs_may_spawn_as_many_again() {
    fn grow(height: u32, sender: &Arc<Mutex<Sender<()>>>) {
        sender.lock().unwrap().send(()).unwrap();
        if height > 0 {
            drowse::spawn_all((0..4).map(|_| {
                let sender = Arc::clone(sender);
                move || grow(height - 1, &sender)
            }));
        }
    }
    watchdog(|| {
        for width in [1, 2, 8] {
            let (pool, (sender, receiver)) = (pool(width), mpsc::channel());
            let sender = Arc::new(Mutex::new(sender));
            pool.spawn(move || grow(5, &sender));
            assert_eq!(all(receiver).len(), (4usize.pow(6) - 1) / 3, "{width} threads");
        }
    });
}
