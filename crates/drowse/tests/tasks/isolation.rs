//! Futures in isolation: whoever waits for one runs it, and nothing else.

use crate::common::{sleeping, until, watchdog};
use crate::{Event, yield_times};
use drowse::{SleepProtocol, ThreadPool, ThreadPoolBuilder, Waiting};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::Poll;
use std::thread;

/// Runs a test on isolated pools without spares, of each protocol.
#[track_caller]
fn without_spares(width: usize, test: impl Fn(&ThreadPool) + Clone + Send + 'static) {
    for protocol in SleepProtocol::ALL {
        let test = test.clone();
        watchdog(move || {
            let pool = ThreadPoolBuilder::new().num_threads(width).sleep_protocol(protocol);
            test(&pool.waiting(Waiting::Isolate).max_spare_threads(0).build().expect("a pool"));
        });
    }
}

/// In an isolated pool of one worker, which waits for it.
#[test]
fn it_is_found_by_whoever_waits() {
    watchdog(|| {
        let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        pool.install(|| {
            drowse::isolate(|| {
                assert_eq!(drowse::spawn_future(async { 42 }).join().unwrap(), 42);
                assert_eq!(drowse::spawn_future(yield_times(3)).join().unwrap(), ());
                assert_eq!(drowse::block_on(drowse::spawn_future(yield_times(3))).unwrap(), ());
                let event = Event::new();
                let task = drowse::spawn_future(event.clone());
                let other = thread::spawn(move || {
                    until("it waits", || event.is_awaited());
                    event.happen();
                });
                task.join().unwrap();
                other.join().unwrap();
            });
        });
    });
}

/// Each waits, on a worker and in isolation, for one that is woken elsewhere: deeper than there are
/// spares.
#[test]
fn they_wait_for_one_another() {
    fn wait_for_next(depth: usize) -> usize {
        if depth == 0 {
            return 0;
        }
        let next = drowse::spawn_future(async move {
            yield_times(2).await;
            wait_for_next(depth - 1)
        });
        1 + drowse::block_on(next).unwrap()
    }
    for protocol in SleepProtocol::ALL {
        for width in [1, 2, 4] {
            watchdog(move || {
                let pool = ThreadPoolBuilder::new().num_threads(width).sleep_protocol(protocol);
                let pool = pool.waiting(Waiting::Isolate).build().unwrap();
                assert_eq!(pool.install(|| wait_for_next(30)), 30);
                let in_scope = pool.scope(|s| {
                    let task = s.spawn_future(async {
                        yield_times(2).await;
                        wait_for_next(30)
                    });
                    drowse::block_on(task).unwrap()
                });
                assert_eq!(in_scope, 30);
            });
        }
    }
}

/// Others spawn one another without end, or come from outside without end.
#[test]
fn it_gets_its_turn() {
    fn again(stop: Arc<AtomicBool>) {
        if !stop.load(Ordering::Relaxed) {
            drowse::spawn(move || again(stop));
        }
    }
    for width in [1, 2] {
        for from_outside in [false, true] {
            watchdog(move || {
                let pool = ThreadPoolBuilder::new().num_threads(width).waiting(Waiting::Isolate);
                let (pool, event) = (pool.build().unwrap(), Event::new());
                let stop = Arc::new(AtomicBool::new(false));
                let task = pool.install(|| drowse::spawn_future(event.clone()));
                until("it waits", || event.is_awaited());
                thread::scope(|threads| {
                    if from_outside {
                        for _ in 0..4 {
                            threads.spawn(|| {
                                while !stop.load(Ordering::Relaxed) {
                                    pool.install(|| ())
                                }
                            });
                        }
                    } else {
                        (0..width).for_each(|_| again_on(&pool, &stop));
                    }
                    event.happen();
                    until("it has ended", || task.is_finished());
                    stop.store(true, Ordering::Relaxed);
                });
            });
        }
    }
    fn again_on(pool: &drowse::ThreadPool, stop: &Arc<AtomicBool>) {
        let stop = Arc::clone(stop);
        pool.spawn(move || again(stop));
    }
}

/// Who waits in isolation, with a lock held, does not run one that is none of its business and
/// wants the lock, though there is nobody else.
#[test]
fn it_is_left_alone_by_those_who_wait_for_others() {
    for protocol in SleepProtocol::ALL {
        watchdog(move || {
            let pool = ThreadPoolBuilder::new().num_threads(2).sleep_protocol(protocol);
            let pool = pool.waiting(Waiting::Isolate).max_spare_threads(0).build().unwrap();
            let (lock, event) = (Arc::new(Mutex::new(())), Event::new());
            let task = pool.install(|| {
                let (lock, event) = (Arc::clone(&lock), event.clone());
                drowse::spawn_future(async move {
                    event.await;
                    drop(lock.lock().unwrap());
                })
            });
            until("it waits", || event.is_awaited());
            let (begin, has_begun) = mpsc::channel();
            let (go_on, may_go_on) = mpsc::channel();
            thread::scope(|threads| {
                threads.spawn(|| {
                    pool.install(|| {
                        let _held = lock.lock().unwrap();
                        let (begun, has_begun) = mpsc::channel();
                        let stolen = move || {
                            begun.send(()).unwrap();
                            begin.send(()).unwrap();
                            may_go_on.recv().unwrap();
                        };
                        drowse::join(move || has_begun.recv().unwrap(), stolen);
                    });
                });
                has_begun.recv().unwrap();
                event.happen();
                until("one waits, asleep", || sleeping(&pool) == 1);
                assert!(!task.is_finished());
                go_on.send(()).unwrap();
            });
            task.join().unwrap();
        });
    }
}

/// A future that awaits two handles, and does not poll both each time.
#[test]
fn what_was_awaited_once_is_run() {
    without_spares(1, |pool| {
        pool.install(|| {
            let mut first = drowse::spawn_handle(|| 1);
            let mut second = drowse::spawn_handle(|| 2);
            let mut polls = 0;
            drowse::block_on(poll_fn(|context| {
                polls += 1;
                match polls {
                    1 => {
                        assert!(Pin::new(&mut first).poll(context).is_pending());
                        assert!(Pin::new(&mut second).poll(context).is_pending());
                        Poll::Pending
                    }
                    // The newest came first. The other has our waker already.
                    2 => {
                        assert!(second.is_finished() && !first.is_finished());
                        Poll::Pending
                    }
                    _ => Pin::new(&mut first).poll(context).map(Result::unwrap),
                }
            }));
            assert_eq!(polls, 3);
            assert_eq!(second.join().unwrap(), 2);
        });
    });
}

/// One waits for the second half of its join, which waits for a future. That has been woken, and
/// waits for a child: the one who waits for all of it is the only one who can run the child.
#[test]
fn what_a_woken_one_spawns_is_found_by_those_further_up() {
    without_spares(2, |pool| {
        let (begin, has_begun) = mpsc::channel();
        let event = Event::new();
        thread::scope(|threads| {
            threads.spawn({
                let event = event.clone();
                move || {
                    until("it waits", || event.is_awaited());
                    event.happen();
                }
            });
            let first_half = move || has_begun.recv().unwrap();
            let second_half = move || {
                begin.send(()).unwrap();
                let future = drowse::spawn_future(async move {
                    event.await;
                    let (tell, told) = mpsc::channel();
                    drop(drowse::spawn_handle(move || tell.send(42).unwrap()));
                    told.recv().unwrap()
                });
                future.join().unwrap()
            };
            assert_eq!(pool.install(|| drowse::join(first_half, second_half)), ((), 42));
        });
    });
}

/// Spawned in isolation by a thread outside, which has no pool to wait in.
#[test]
fn what_is_spawned_outside_runs_in_isolation() {
    for protocol in SleepProtocol::ALL {
        watchdog(move || {
            let pool = ThreadPoolBuilder::new().num_threads(1).sleep_protocol(protocol);
            let pool = pool.max_spare_threads(0).build().unwrap();
            let (event, another) = (Event::new(), Arc::new(AtomicBool::new(false)));
            let task = drowse::isolate(|| {
                let (event, another) = (event.clone(), Arc::clone(&another));
                pool.spawn_handle(move || {
                    drowse::block_on(event);
                    another.load(Ordering::Relaxed)
                })
            });
            until("it waits", || event.is_awaited());
            pool.spawn({
                let another = Arc::clone(&another);
                move || another.store(true, Ordering::Relaxed)
            });
            until("it waits, asleep", || sleeping(&pool) == 1);
            event.happen();
            assert!(!task.join().unwrap(), "another job was run meanwhile");
            until("the other has run", || another.load(Ordering::Relaxed));
        });
    }
}

/// A worker that holds a lock wakes one that wants it, which was spawned by a thread outside.
#[test]
fn whoever_wakes_one_of_others_does_not_run_it() {
    without_spares(2, |pool| {
        let (lock, event) = (Arc::new(Mutex::new(())), Event::new());
        let task = drowse::isolate(|| {
            let (lock, event) = (Arc::clone(&lock), event.clone());
            pool.spawn_future(async move {
                event.await;
                drop(lock.lock().unwrap());
            })
        });
        until("it waits", || event.is_awaited());
        let (wake, has_woken) = mpsc::channel();
        let (go_on, may_go_on) = mpsc::channel();
        thread::scope(|threads| {
            threads.spawn(|| {
                pool.install(|| {
                    let _held = lock.lock().unwrap();
                    let (begin, has_begun) = mpsc::channel();
                    let wakes = move || {
                        has_begun.recv().unwrap();
                        event.happen();
                        wake.send(()).unwrap();
                    };
                    let stolen = move || {
                        begin.send(()).unwrap();
                        may_go_on.recv().unwrap();
                    };
                    drowse::join(wakes, stolen);
                });
            });
            has_woken.recv().unwrap();
            until("one waits, asleep", || sleeping(pool) == 1);
            assert!(!task.is_finished());
            go_on.send(()).unwrap();
        });
        task.join().unwrap();
    });
}
