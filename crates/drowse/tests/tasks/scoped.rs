//! Closures and futures that borrow.

use crate::common::{assert_works, occupy, until, watchdog};
use crate::{Event, on_every_pool, yield_times};
use drowse::{ThreadPoolBuilder, Waiting};
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Wake, Waker};
use std::thread;

#[test]
fn the_scope_waits_for_its_futures() {
    on_every_pool(|pool| {
        let (mut numbers, count) = (vec![0; 50], AtomicUsize::new(0));
        pool.scope(|s| {
            for (i, number) in numbers.iter_mut().enumerate() {
                let count = &count;
                drop(s.spawn_future(async move {
                    yield_times(i % 4).await;
                    *number = i;
                    count.fetch_add(1, Ordering::Relaxed);
                }));
            }
        });
        assert_eq!(count.into_inner(), 50);
        assert!(numbers.iter().enumerate().all(|(i, number)| i == *number));
    });
}

#[test]
fn their_results_may_borrow_too() {
    on_every_pool(|pool| {
        let text = String::from("fork join nap");
        let words = pool.scope(|s| {
            let first = s.spawn_handle(|_| text.split(' ').next().unwrap());
            let last = s.spawn_future(async { text.rsplit(' ').next().unwrap() });
            let both = s.spawn_future(async { [first.await.unwrap(), last.await.unwrap()] });
            both.join().unwrap()
        });
        assert_eq!(words, ["fork", "nap"]);
        // A handle may leave the scope, which has waited for what it stands for.
        let handle = pool.scope(|s| s.spawn_handle(|_| text.len()));
        assert!(handle.is_finished());
        assert_eq!(handle.join().unwrap(), 13);
    });
}

#[test]
fn the_closure_gets_the_scope() {
    on_every_pool(|pool| {
        let count = AtomicUsize::new(0);
        let handle = pool.scope(|s| {
            s.spawn_handle(|s| {
                s.spawn(|_| _ = count.fetch_add(1, Ordering::Relaxed));
                s.spawn_handle(|_| count.fetch_add(1, Ordering::Relaxed))
            })
        });
        assert!(handle.join().unwrap().join().unwrap() < 2);
        assert_eq!(count.into_inner(), 2);
    });
}

/// A panic is the handle's, and not the scope's.
#[test]
fn a_panic_is_in_the_handle() {
    on_every_pool(|pool| {
        let handles = pool.scope(|s| {
            let closure = s.spawn_handle(|_| -> () { panic!("bad dream") });
            let future = s.spawn_future(async { panic!("bad dream") });
            [closure, future]
        });
        for handle in handles {
            assert_eq!(
                *handle.join().unwrap_err().into_panic().downcast::<&str>().unwrap(),
                "bad dream"
            );
        }
    });
}

#[test]
fn in_a_scope_that_is_cancelled_they_do_not_begin() {
    on_every_pool(|pool| {
        let handles = pool.scope(|s| {
            s.cancel();
            [s.spawn_handle(|_| ()), s.spawn_future(async {})]
        });
        for handle in handles {
            assert!(handle.join().unwrap_err().is_cancelled());
        }
    });
}

/// The future waits for a thread outside, and borrows all the while.
#[test]
fn a_scope_waits_for_one_that_is_woken_from_outside() {
    on_every_pool(|pool| {
        let (mut number, event) = (0, Event::new());
        let other = thread::spawn({
            let event = event.clone();
            move || {
                until("it waits", || event.is_awaited());
                event.happen();
            }
        });
        pool.scope(|s| {
            drop(s.spawn_future(async {
                event.await;
                number = 42;
            }));
        });
        assert_eq!(number, 42);
        other.join().unwrap();
    });
}

/// Cancelled by a thread that is not a worker, in the middle of the scope.
#[test]
fn whoever_cancels_counts_it_down() {
    watchdog(|| {
        let pool = drowse::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        for _ in 0..100 {
            pool.in_place_scope(|s| {
                let handle = s.spawn_handle(|_| 42);
                match handle.cancel() {
                    true => assert!(handle.join().is_err()),
                    false => assert_eq!(handle.join().unwrap(), 42),
                }
            });
        }
    });
}

/// Looks at what it borrows when it is dropped.
struct Looks<'a>(&'a AtomicUsize);

impl Drop for Looks<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Nobody wants the result; the scope waits for its end all the same.
#[test]
fn a_result_that_borrows_is_dropped_within_the_scope() {
    on_every_pool(|pool| {
        for _ in 0..100 {
            let drops = AtomicUsize::new(0);
            pool.scope(|s| {
                drop(s.spawn_handle(|_| Looks(&drops)));
                drop(s.spawn_future(async { Looks(&drops) }));
            });
            assert_eq!(drops.load(Ordering::Relaxed), 2);
        }
    });
}

/// Says that it was told, and goes on when it may.
struct Slow(Mutex<(mpsc::Sender<()>, mpsc::Receiver<()>)>);

impl Wake for Slow {
    fn wake(self: Arc<Self>) {
        let (told, may_go_on) = &*self.0.lock().unwrap();
        told.send(()).unwrap();
        may_go_on.recv().unwrap();
    }
}

/// Somebody is told that a closure was cancelled, and takes its time, while a worker takes it from
/// the queue. The pool goes on.
#[test]
fn a_pool_outlives_what_is_cancelled() {
    on_every_pool(|pool| {
        let busy = occupy(pool, pool.current_num_threads());
        let ((tell, told), (go_on, may_go_on)) = (mpsc::channel(), mpsc::channel());
        pool.in_place_scope(|s| {
            let mut handle = s.spawn_handle(|_| ());
            pool.spawn(move || go_on.send(()).unwrap()); // behind it
            let waker = Waker::from(Arc::new(Slow(Mutex::new((tell, may_go_on)))));
            assert!(Pin::new(&mut handle).poll(&mut Context::from_waker(&waker)).is_pending());
            thread::scope(|threads| {
                threads.spawn(|| assert!(handle.cancel()));
                told.recv().unwrap();
                drop(busy);
            });
        });
        assert_works(pool);
    });
}

/// The future comes from a worker that has gone on to something which wants what the scope's owner
/// holds. So nobody can run it but that one.
#[test]
fn in_isolation_whoever_waits_for_the_scope_finds_it() {
    for waiting in [Waiting::Isolate, Waiting::Help] {
        watchdog(move || {
            let pool = ThreadPoolBuilder::new().num_threads(2).waiting(waiting).build().unwrap();
            let pool = Arc::new(pool);
            let (lock, event) = (Arc::new(Mutex::new(())), Event::new());
            let (spawned, is_spawned) = mpsc::channel();
            let other = thread::spawn({
                let (pool, event, lock) = (Arc::clone(&pool), event.clone(), Arc::clone(&lock));
                move || {
                    is_spawned.recv().unwrap();
                    until("it waits", || event.is_awaited());
                    let (begin, has_begun) = mpsc::channel();
                    pool.spawn(move || {
                        begin.send(()).unwrap();
                        drop(lock.lock());
                    });
                    has_begun.recv().unwrap();
                    event.happen();
                }
            });
            pool.install(|| {
                drowse::isolate(|| {
                    let _held = lock.lock().unwrap();
                    drowse::scope(|s| {
                        let (begin, has_begun) = mpsc::channel();
                        s.spawn(move |s| {
                            begin.send(()).unwrap();
                            drop(s.spawn_future(event.clone()));
                            spawned.send(()).unwrap();
                        });
                        has_begun.recv().unwrap(); // stolen
                    });
                });
            });
            other.join().unwrap();
        });
    }
}
