//! `use_current_thread`: the calling thread is worker 0.

use crate::common::{self, assert_works, fib, watchdog_for_life};
use drowse::Yield::{Executed, Idle};
use drowse::{ThreadPool, ThreadPoolBuilder, current_thread_index, yield_now};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Barrier, Mutex};
use std::thread;

fn adopted(num_threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(num_threads).use_current_thread().build().unwrap()
}

#[test]
fn the_caller_becomes_worker_zero() {
    for width in [1, 2, 8] {
        watchdog_for_life(move || {
            let here = thread::current().id();
            let pool = adopted(width);
            assert_eq!(pool.current_num_threads(), width);
            assert_eq!((current_thread_index(), pool.current_thread_index()), (Some(0), Some(0)));
            assert_eq!(drowse::current_num_threads(), width);
            assert_eq!(pool.install(|| thread::current().id()), here, "it need not go anywhere");
            let ids = pool.broadcast(|_| thread::current().id());
            assert_eq!(ids[0], here);
            assert!(ids[1..].iter().all(|&id| id != here));
        });
    }
}

#[test]
fn alone_it_runs_everything_itself() {
    watchdog_for_life(|| {
        let pool = adopted(1);
        assert_works(&pool);
        assert_eq!(drowse::join(|| 1, || 2), (1, 2));
        let mut scoped = [0; 100];
        drowse::scope(|s| scoped.iter_mut().for_each(|slot| s.spawn(|_| *slot = 1)));
        drowse::in_place_scope_fifo(|s| {
            scoped.iter_mut().for_each(|slot| s.spawn_fifo(|_| *slot += 1))
        });
        assert_eq!(scoped, [2; 100]);
    });
}

#[test]
fn alone_it_runs_what_it_spawned_when_it_yields() {
    watchdog_for_life(|| {
        let (_pool, (sender, receiver)) = (adopted(1), mpsc::channel());
        for i in 0..3 {
            let sender = sender.clone();
            drowse::spawn(move || sender.send(i).unwrap());
        }
        drop(sender);
        assert!(receiver.try_recv().is_err(), "it does not run jobs by itself");
        assert_eq!([yield_now(), yield_now(), yield_now()], [Some(Executed); 3]);
        assert_eq!(yield_now(), Some(Idle));
        assert_eq!(receiver.iter().collect::<Vec<_>>(), [2, 1, 0]);
    });
}

#[test]
fn two_threads_share_the_work() {
    watchdog_for_life(|| {
        let (_pool, both) = (adopted(2), Barrier::new(2));
        for _ in 0..100 {
            let (a, b) = drowse::join_context(
                |context| (both.wait().is_leader(), context.migrated()),
                |context| (both.wait().is_leader(), context.migrated()),
            );
            assert_ne!(a.0, b.0, "they met");
            assert_eq!((a.1, b.1), (false, true));
        }
        assert_eq!(fib(15), 610);
    });
}

#[test]
fn the_others_run_what_it_spawned_while_it_is_away() {
    watchdog_for_life(|| {
        let (_pool, (sender, receiver)) = (adopted(2), mpsc::channel());
        for _ in 0..10 {
            let sender = sender.clone();
            drowse::spawn(move || sender.send(current_thread_index()).unwrap());
        }
        drop(sender);
        // Blocks this worker without helping.
        assert_eq!(receiver.iter().collect::<Vec<_>>(), [Some(1); 10]);
    });
}

#[test]
fn it_runs_what_comes_from_outside_while_it_waits() {
    watchdog_for_life(|| {
        let pool = adopted(1);
        let (answered, answer) = (AtomicBool::new(false), AtomicUsize::new(0));
        thread::scope(|threads| {
            threads.spawn(|| {
                answer.store(pool.install(|| 42), Ordering::Relaxed);
                answered.store(true, Ordering::Release);
            });
            while !answered.load(Ordering::Acquire) {
                yield_now();
            }
        });
        assert_eq!(answer.into_inner(), 42);
    });
}

#[test]
fn the_calling_thread_can_be_adopted_once() {
    watchdog_for_life(|| {
        let first = adopted(2);
        let again = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
        let said = again.unwrap_err().to_string();
        assert!(said.contains("current thread is already part"), "{said}");
        assert_works(&first);
        assert_eq!(first.current_thread_index(), Some(0));
        // Others may still be built here, and asked from here.
        assert_works(&common::pool(2));
    });
}

#[test]
fn an_ordinary_worker_cannot_be_adopted_either() {
    watchdog_for_life(|| {
        let pool = common::pool(1);
        let result =
            pool.install(|| ThreadPoolBuilder::new().num_threads(1).use_current_thread().build());
        assert!(result.is_err());
        assert_works(&pool);
    });
}

#[test]
fn it_is_neither_named_nor_started_nor_handled() {
    watchdog_for_life(|| {
        let (sender, receiver) = mpsc::channel();
        let (start, exit) = (Mutex::new(sender.clone()), Mutex::new(sender));
        let (name, mut spawned) = (thread::current().name().map(str::to_owned), Vec::new());
        let pool = ThreadPoolBuilder::new()
            .num_threads(3)
            .use_current_thread()
            .thread_name(|index| format!("dozer {index}"))
            .start_handler(move |index| start.lock().unwrap().send(("start", index)).unwrap())
            .exit_handler(move |index| exit.lock().unwrap().send(("exit", index)).unwrap())
            .spawn_handler(|worker| {
                spawned.push(worker.index());
                thread::Builder::new().spawn(|| worker.run()).map(drop)
            })
            .build()
            .unwrap();
        assert_works(&pool);
        drop(pool);
        assert_eq!(spawned, [1, 2]);
        assert_eq!(thread::current().name().map(str::to_owned), name);
        // This thread keeps the handlers, and with them the channel: count what is to come.
        let mut heard: Vec<_> = (0..4).map(|_| receiver.recv().unwrap()).collect();
        heard.sort_unstable();
        assert_eq!(heard, [("exit", 1), ("exit", 2), ("start", 1), ("start", 2)]);
        assert!(receiver.try_recv().is_err());
    });
}

#[test]
fn when_the_pool_is_dropped_the_thread_can_still_work_by_itself() {
    for width in [1, 2] {
        watchdog_for_life(move || {
            drop(adopted(width));
            assert_eq!(current_thread_index(), Some(0), "for the rest of its life");
            assert_eq!(fib(10), 55);
            let mut scoped = 0;
            drowse::scope(|s| s.spawn(|_| scoped = 1));
            assert_eq!(scoped, 1);
            let ran = Arc::new(AtomicBool::new(false));
            let flag = Arc::clone(&ran);
            drowse::spawn(move || flag.store(true, Ordering::Relaxed));
            while yield_now() == Some(Executed) {}
            assert!(ran.load(Ordering::Relaxed));
        });
    }
}

#[test]
fn a_pool_dropped_with_jobs_on_this_thread_runs_them() {
    watchdog_for_life(|| {
        let (pool, (sender, receiver)) = (adopted(2), mpsc::channel());
        for i in 0..100 {
            let sender = sender.clone();
            drowse::spawn(move || sender.send(i).unwrap());
        }
        drop(sender);
        drop(pool);
        assert_eq!(receiver.iter().sum::<i32>(), 4_950);
    });
}

#[test]
fn several_threads_may_each_be_adopted_by_a_pool() {
    watchdog_for_life(|| {
        for _ in 0..4 {
            let (sender, receiver) = mpsc::channel();
            thread::spawn(move || {
                let pool = adopted(2);
                sender.send((pool.install(|| fib(10)), drowse::current_num_threads())).unwrap();
                // What it keeps of the pool it keeps as long as it lives: it does not end before
                // the process.
                loop {
                    thread::park();
                }
            });
            assert_eq!(receiver.recv(), Ok((55, 2)));
        }
    });
}

/// Builds a pool that has these handlers, in which building a pool of the current thread is tried;
/// and what came of it.
fn tried_in(set: impl FnOnce(ThreadPoolBuilder, Box<dyn Fn() + Send + Sync>) -> ThreadPoolBuilder) {
    let (told, hear) = std::sync::mpsc::channel();
    let told = std::sync::Mutex::new(told);
    let attempt = Box::new(move || {
        let built = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
        let _ = told.lock().unwrap().send(built.map(drop).map_err(|error| error.to_string()));
    });
    let pool = set(ThreadPoolBuilder::new().num_threads(2), attempt).build().unwrap();
    common::assert_works(&pool);
    drop(pool);
    let outcomes: Vec<_> = hear.iter().collect();
    assert!(!outcomes.is_empty(), "nobody tried");
    for outcome in outcomes {
        let said = outcome.expect_err("a pool that would never run anything");
        assert!(said.contains("handler") && said.contains("use_current_thread"), "{said}");
    }
    assert_eq!(drowse::current_thread_index(), None, "this thread is what it was");
}

#[test]
fn not_in_an_acquire_or_release_handler() {
    common::watchdog(|| {
        tried_in(|builder, attempt| builder.acquire_thread_handler(attempt));
        tried_in(|builder, attempt| builder.release_thread_handler(attempt));
    });
}

/// Its thread may never again do anything for the pool: it must not hold what keeps the pool alive.
#[test]
fn a_pool_ends_though_the_caller_has_spawned_and_goes_on_with_something_else() {
    for yields in [0, 1, 3] {
        watchdog_for_life(move || {
            let (exited, exits) = mpsc::channel();
            let builder = ThreadPoolBuilder::new().num_threads(2).use_current_thread();
            let pool =
                builder.exit_handler(move |index| exited.send(index).unwrap()).build().unwrap();
            let runs = Arc::new(AtomicUsize::new(0));
            for _ in 0..5 {
                let runs = Arc::clone(&runs);
                pool.spawn(move || {
                    runs.fetch_add(1, Ordering::SeqCst);
                });
            }
            for _ in 0..yields {
                assert!(yield_now().is_some(), "it is a worker");
            }
            drop(pool);
            assert_eq!(exits.recv(), Ok(1), "the other worker ends");
            assert_eq!(runs.load(Ordering::SeqCst), 5);
        });
    }
}
