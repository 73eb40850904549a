//! From tokio into drowse, and back.

#[path = "../../drowse/tests/common/mod.rs"]
mod common;

use common::watchdog;
use drowse::{ThreadPool, ThreadPoolBuilder};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;
use tokio::runtime::{Builder, Handle, Runtime};

fn runtimes() -> [Runtime; 2] {
    let multi = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    [
        multi.expect("a runtime"),
        Builder::new_current_thread().enable_all().build().expect("a runtime"),
    ]
}

fn pool(width: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(width).build().expect("a pool")
}

#[test]
fn a_closure_is_awaited() {
    watchdog(|| {
        for runtime in runtimes() {
            let pool = Arc::new(pool(2));
            let sum = runtime.block_on(async {
                let tasks = (0..100).map(|i| {
                    let pool = Arc::clone(&pool);
                    tokio::spawn(async move { pool.spawn_handle(move || i * 2).await.unwrap() })
                });
                let mut sum = 0;
                for task in tasks.collect::<Vec<_>>() {
                    sum += task.await.unwrap();
                }
                sum
            });
            assert_eq!(sum, 9_900);
            let bad = pool.spawn_handle(|| -> u32 { panic!("bad dream") });
            assert_eq!(
                *runtime.block_on(bad).unwrap_err().into_panic().downcast::<&str>().unwrap(),
                "bad dream"
            );
        }
    });
}

/// The executor's only thread goes on while the pool is busy.
#[test]
fn others_are_not_held_up() {
    watchdog(|| {
        let [_, runtime] = runtimes();
        let pool = pool(1);
        runtime.block_on(async {
            let (go_on, may_go_on) = mpsc::channel();
            let busy = pool.spawn_handle(move || may_go_on.recv().unwrap());
            // If the thread were blocked, this would never be sent.
            let other = tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(1)).await;
                go_on.send(42).unwrap();
            });
            assert_eq!(busy.await.unwrap(), 42);
            other.await.unwrap();
        });
    });
}

/// A request is dropped, and with it what nobody wants any more.
#[test]
fn whoever_is_aborted_calls_off_what_has_not_begun() {
    watchdog(|| {
        for runtime in runtimes() {
            let pool = Arc::new(pool(1));
            let (go_on, may_go_on) = mpsc::channel();
            // The only worker is busy.
            let busy = pool.spawn_handle(move || may_go_on.recv().unwrap());
            let ran = Arc::new(AtomicBool::new(false));
            runtime.block_on(async {
                let (is_waiting, waits) = tokio::sync::oneshot::channel();
                let request = tokio::spawn({
                    let (pool, ran) = (Arc::clone(&pool), Arc::clone(&ran));
                    async move {
                        let job = pool
                            .spawn_handle(move || ran.store(true, Ordering::Relaxed))
                            .cancel_on_drop();
                        is_waiting.send(()).unwrap();
                        _ = job.await;
                    }
                });
                waits.await.unwrap();
                request.abort();
                assert!(request.await.unwrap_err().is_cancelled());
            });
            go_on.send(()).unwrap();
            busy.join().unwrap();
            pool.install(|| ());
            assert!(!ran.load(Ordering::Relaxed));
        }
    });
}

/// A job waits for tokio: its timers, its channels, its tasks.
#[test]
fn from_a_job_into_tokio() {
    watchdog(|| {
        let [runtime, _] = runtimes();
        let pool = pool(1);
        let handle = runtime.handle().clone();
        let (one, two) = pool.install(|| {
            let one = drowse::blocking(|| {
                handle.block_on(async {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                    tokio::spawn(async { 1 }).await.unwrap()
                })
            });
            // Or without a thread that blocks: the worker runs other jobs meanwhile.
            let task = handle.spawn(async {
                tokio::time::sleep(Duration::from_millis(1)).await;
                2
            });
            (one, drowse::block_on(task).unwrap())
        });
        assert_eq!((one, two), (1, 2));
    });
}

/// A future on drowse awaits tokio's timers and channels.
#[test]
fn a_future_on_drowse_awaits_tokio() {
    watchdog(|| {
        let [runtime, _] = runtimes();
        let pool = pool(2);
        let (send, receive) = tokio::sync::oneshot::channel();
        let handle = runtime.handle().clone();
        let task = pool.spawn_future(async move {
            let timer = {
                let _inside = handle.enter();
                tokio::time::sleep(Duration::from_millis(1))
            };
            timer.await;
            (receive.await.unwrap(), drowse::current_num_threads())
        });
        runtime.spawn(async move { send.send(42).unwrap() });
        assert_eq!(task.join().unwrap(), (42, 2));
    });
}

/// Jobs find the runtime that they were sent from.
#[test]
fn the_runtime_goes_along() {
    watchdog(|| {
        let [runtime, _] = runtimes();
        let enter = |handle: &Option<Handle>, run: &mut dyn FnMut()| {
            let _inside = handle.as_ref().map(Handle::enter);
            run();
        };
        let pool =
            ThreadPoolBuilder::new().num_threads(2).context(|| Handle::try_current().ok(), enter);
        let pool = pool.build().expect("a pool");
        let sent = || pool.spawn_handle(|| tokio::spawn(async { 42 }));
        assert_eq!(runtime.block_on(async { sent().await.unwrap().await.unwrap() }), 42);
        assert!(pool.install(|| Handle::try_current().is_err()), "outside there is none");
    });
}

/// Many tasks here, many jobs there, and some are called off.
#[test]
fn a_crowd() {
    watchdog(|| {
        for runtime in runtimes() {
            let (pool, ends) = (Arc::new(pool(4)), Arc::new(AtomicUsize::new(0)));
            runtime.block_on(async {
                let tasks = (0..2_000).map(|i: usize| {
                    let (pool, ends) = (Arc::clone(&pool), Arc::clone(&ends));
                    tokio::spawn(async move {
                        let job = pool.spawn_handle(move || drowse::join(|| i, || 1));
                        if i % 7 == 0 {
                            job.cancel();
                        }
                        match job.await {
                            Ok(result) => assert_eq!(result, (i, 1)),
                            Err(payload) => assert!(i % 7 == 0 && payload.is_cancelled()),
                        }
                        ends.fetch_add(1, Ordering::Relaxed);
                    })
                });
                for task in tasks.collect::<Vec<_>>() {
                    task.await.unwrap();
                }
            });
            assert_eq!(ends.load(Ordering::Relaxed), 2_000);
        }
    });
}
