//! Waiting for a future where it is.

use crate::common::{until, watchdog};
use crate::{Event, on_every_pool, yield_times};
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

#[test]
fn a_thread_outside_blocks() {
    watchdog(|| {
        assert_eq!(drowse::block_on(async { 42 }), 42);
        drowse::block_on(yield_times(100));
        let event = Event::new();
        let other = thread::spawn({
            let event = event.clone();
            move || {
                until("it waits", || event.is_awaited());
                event.happen();
            }
        });
        drowse::block_on(event);
        other.join().unwrap();
    });
}

/// The only worker waits for a future, and runs what is spawned meanwhile.
#[test]
fn a_worker_helps() {
    on_every_pool(|pool| {
        let (event, runs) = (Event::new(), AtomicUsize::new(0));
        thread::scope(|threads| {
            let waiter = threads.spawn(|| pool.install(|| drowse::block_on(event.clone())));
            until("it waits", || event.is_awaited());
            for _ in 0..10 {
                pool.install(|| runs.fetch_add(1, Ordering::Relaxed));
            }
            pool.install(|| drowse::join(|| 1, || 2));
            event.happen();
            waiter.join().unwrap();
        });
        assert_eq!(runs.into_inner(), 10);
    });
}

/// What it waits for is woken by a job in its own queue, which nobody else may ever take.
#[test]
fn it_runs_what_it_waits_for() {
    on_every_pool(|pool| {
        pool.install(|| {
            let event = Event::new();
            drowse::spawn({
                let event = event.clone();
                move || event.happen()
            });
            drowse::block_on(event);
            let nested = drowse::block_on(async {
                let inner = drowse::spawn_handle(|| {
                    drowse::block_on(drowse::spawn_future(async { 21 })).unwrap()
                });
                inner.await.unwrap() * 2
            });
            assert_eq!(nested, 42);
        });
    });
}

#[test]
fn in_isolation_it_runs_nothing_else() {
    watchdog(|| {
        let pool = drowse::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let (event, is_inside, ran) =
            (Event::new(), AtomicBool::new(false), AtomicBool::new(false));
        thread::scope(|threads| {
            let waiter = threads.spawn(|| {
                pool.install(|| {
                    drowse::spawn_broadcast(|_| ());
                    drowse::isolate(|| {
                        is_inside.store(true, Ordering::Relaxed);
                        drowse::block_on(event.clone());
                        assert!(!ran.load(Ordering::Relaxed), "a job ran in the middle");
                    });
                });
            });
            until("it waits", || is_inside.load(Ordering::Relaxed) && event.is_awaited());
            // Goes to the injector, where whoever is isolated does not look; or to a spare.
            event.happen();
            waiter.join().unwrap();
            pool.install(|| ran.store(true, Ordering::Relaxed));
        });
    });
}

#[test]
fn a_panic_of_the_future_goes_on() {
    on_every_pool(|pool| {
        let bad = || drowse::block_on(async { panic!("bad dream") });
        let payload = panic::catch_unwind(AssertUnwindSafe(|| pool.install(bad))).unwrap_err();
        assert_eq!(*payload.downcast::<&str>().unwrap(), "bad dream");
        assert_eq!(pool.install(|| drowse::block_on(async { 42 })), 42);
    });
}
