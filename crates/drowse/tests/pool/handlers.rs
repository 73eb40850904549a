//! Start and exit handlers: once per worker, on the worker, first and last.

use crate::common::ledger::Ledger;
use crate::common::{assert_works, pool, until, watchdog};
use drowse::{ThreadPoolBuilder, current_thread_index};
use std::cell::Cell;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::thread;

/// A handler that sends the index it is called with, and where to hear it.
fn sending() -> (impl Fn(usize) + Send + Sync + 'static, Receiver<usize>) {
    let (sender, receiver) = mpsc::channel();
    let sender = Mutex::new(sender);
    let handler = move |index| {
        assert_eq!(current_thread_index(), Some(index), "on the worker itself");
        sender.lock().unwrap().send(index).unwrap();
    };
    (handler, receiver)
}

/// All of them, sorted, once the pool that has the handler is gone.
fn sorted(receiver: Receiver<usize>) -> Vec<usize> {
    let mut all: Vec<_> = receiver.iter().collect();
    all.sort_unstable();
    all
}

#[test]
fn each_is_called_once_for_each_worker() {
    watchdog(|| {
        for width in [1, 2, 8, 64] {
            let ((start, starts), (exit, exits)) = (sending(), sending());
            let builder =
                ThreadPoolBuilder::new().num_threads(width).start_handler(start).exit_handler(exit);
            let pool = builder.build().unwrap();
            assert_works(&pool);
            assert!(exits.try_recv().is_err(), "nobody has left");
            drop(pool);
            assert!(sorted(starts).into_iter().eq(0..width));
            assert!(sorted(exits).into_iter().eq(0..width));
        }
    });
}

thread_local! {
    static STARTED: Cell<bool> = const { Cell::new(false) };
    static JOBS: Cell<usize> = const { Cell::new(0) };
}

#[test]
fn the_start_comes_before_any_job() {
    watchdog(|| {
        for _ in 0..50 {
            let builder =
                ThreadPoolBuilder::new().num_threads(4).start_handler(|_| STARTED.set(true));
            assert_eq!(builder.build().unwrap().broadcast(|_| STARTED.get()), [true; 4]);
        }
    });
}

#[test]
fn the_exit_comes_after_every_job() {
    watchdog(|| {
        let (sender, jobs) = mpsc::channel();
        let sender = Mutex::new(sender);
        let builder = ThreadPoolBuilder::new().num_threads(4);
        let builder =
            builder.exit_handler(move |_| sender.lock().unwrap().send(JOBS.get()).unwrap());
        let pool = builder.build().unwrap();
        for _ in 0..1_000 {
            pool.spawn(|| JOBS.set(JOBS.get() + 1));
        }
        drop(pool);
        assert_eq!(jobs.iter().sum::<usize>(), 1_000);
    });
}

#[test]
fn threads_end_only_after_their_exit() {
    watchdog(|| {
        let ((exit, exits), mut threads) = (sending(), Vec::new());
        let pool = ThreadPoolBuilder::new()
            .num_threads(3)
            .exit_handler(exit)
            .spawn_handler(|worker| {
                threads.push(thread::spawn(|| worker.run()));
                Ok(())
            })
            .build()
            .unwrap();
        drop(pool);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(exits.try_iter().count(), 3);
    });
}

#[test]
fn handlers_may_join_and_scope() {
    fn work() -> usize {
        let mut scoped = 0;
        drowse::scope(|s| s.spawn(|_| scoped = 1));
        let (a, b) = drowse::join(|| 10, || 100);
        a + b + scoped
    }
    watchdog(|| {
        for width in [1, 2, 8] {
            let (sender, sums) = mpsc::channel();
            let (sender, other) = (Mutex::new(sender.clone()), Mutex::new(sender));
            let pool = ThreadPoolBuilder::new()
                .num_threads(width)
                .start_handler(move |_| sender.lock().unwrap().send(work()).unwrap())
                .exit_handler(move |_| other.lock().unwrap().send(work()).unwrap())
                .build()
                .unwrap();
            assert_works(&pool);
            drop(pool);
            assert_eq!(sums.iter().collect::<Vec<_>>(), vec![111; 2 * width]);
        }
    });
}

#[test]
fn what_a_start_handler_spawns_is_run() {
    watchdog(|| {
        let (sender, jobs) = mpsc::channel();
        let sender = Mutex::new(sender);
        let builder = ThreadPoolBuilder::new().num_threads(4).start_handler(move |index| {
            let sender = sender.lock().unwrap().clone();
            drowse::spawn(move || sender.send(index).unwrap());
        });
        let pool = builder.build().unwrap();
        assert_works(&pool);
        drop(pool);
        assert_eq!(sorted(jobs), [0, 1, 2, 3]);
    });
}

#[test]
fn what_a_start_handler_spawns_is_run_also_if_the_pool_was_dropped_first() {
    watchdog(|| {
        let (sender, jobs) = mpsc::channel();
        let (drop_it, dropped) = mpsc::channel::<()>();
        let (sender, dropped) = (Mutex::new(sender), Mutex::new(dropped));
        let builder = ThreadPoolBuilder::new().num_threads(1).start_handler(move |index| {
            // Until the pool's handle is gone.
            let _ = dropped.lock().unwrap().recv();
            let sender = sender.lock().unwrap().clone();
            drowse::spawn(move || sender.send(index).unwrap());
        });
        drop(builder.build().unwrap());
        drop(drop_it);
        assert_eq!(sorted(jobs), [0]);
    });
}

#[test]
fn what_an_exit_handler_spawns_is_run() {
    watchdog(|| {
        for width in [1, 2, 8] {
            let (sender, jobs) = mpsc::channel();
            let sender = Mutex::new(sender);
            let builder =
                ThreadPoolBuilder::new().num_threads(width).exit_handler(move |index| {
                    for spawn in [drowse::spawn, drowse::spawn_fifo] {
                        let sender = sender.lock().unwrap().clone();
                        spawn(Box::new(move || sender.send(index).unwrap())
                            as Box<dyn FnOnce() + Send>);
                    }
                });
            let pool = builder.build().unwrap();
            assert_works(&pool);
            drop(pool);
            assert!(
                sorted(jobs).into_iter().eq((0..width).flat_map(|index| [index; 2])),
                "{width} threads"
            );
        }
    });
}

#[test]
fn the_handlers_go_with_the_pool() {
    watchdog(|| {
        let ledger = Ledger::default();
        let (start, exit, panic) = (ledger.item(), ledger.item(), ledger.item());
        let pool = ThreadPoolBuilder::new()
            .num_threads(2)
            .start_handler(move |_| start.touch())
            .exit_handler(move |_| exit.touch())
            .panic_handler(move |_| panic.touch())
            .build()
            .unwrap();
        assert_works(&pool);
        assert_eq!(ledger.dropped(), 0);
        drop(pool);
        until("the last thread has let go of them", || ledger.dropped() == 3);
        ledger.assert_settled(3);
    });
}

#[test]
fn panics_of_both_go_to_the_panic_handler_and_do_no_harm() {
    watchdog(|| {
        for width in [1, 2, 8] {
            let (sender, panics) = mpsc::channel();
            let sender = Mutex::new(sender);
            let pool = ThreadPoolBuilder::new()
                .num_threads(width)
                .start_handler(|index| std::panic::resume_unwind(Box::new(("start", index))))
                .exit_handler(|index| std::panic::resume_unwind(Box::new(("exit", index))))
                .panic_handler(move |payload| {
                    let payload = *payload.downcast::<(&str, usize)>().unwrap();
                    sender.lock().unwrap().send(payload).unwrap();
                })
                .build()
                .unwrap();
            assert_works(&pool);
            drop(pool);
            let mut heard: Vec<_> = panics.iter().collect();
            heard.sort_unstable();
            let expected =
                ["exit", "start"].into_iter().flat_map(|what| (0..width).map(move |i| (what, i)));
            assert!(heard.into_iter().eq(expected), "{width} threads");
        }
    });
}

#[test]
fn a_handler_may_use_another_pool() {
    watchdog(|| {
        let other = Arc::new(pool(2));
        let (helper, (sender, widths)) = (Arc::clone(&other), mpsc::channel());
        let sender = Mutex::new(sender);
        let builder = ThreadPoolBuilder::new().num_threads(3).start_handler(move |_| {
            let width = helper.install(drowse::current_num_threads);
            sender.lock().unwrap().send(width).unwrap();
        });
        assert_works(&builder.build().unwrap());
        assert_eq!(widths.iter().collect::<Vec<_>>(), [2, 2, 2]);
        assert_works(&other);
    });
}
