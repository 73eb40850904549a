//! `yield_now` and `yield_local`: run one job if there is one, and say so.

use crate::common::{pool, watchdog};
use drowse::Yield::{Executed, Idle};
use drowse::{ThreadPoolBuilder, yield_local, yield_now};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::thread;

#[test]
fn a_thread_of_no_pool_has_nothing_to_yield_to() {
    watchdog(|| {
        let pool = pool(1);
        assert_eq!((yield_now(), yield_local()), (None, None));
        assert_eq!((pool.yield_now(), pool.yield_local()), (None, None));
    });
}

#[test]
fn a_worker_without_jobs_is_idle() {
    watchdog(|| {
        let pool = pool(1);
        pool.install(|| {
            assert_eq!((yield_now(), yield_local()), (Some(Idle), Some(Idle)));
            assert_eq!((pool.yield_now(), pool.yield_local()), (Some(Idle), Some(Idle)));
        });
    });
}

#[test]
fn each_call_runs_one_job_of_the_workers_own() {
    watchdog(|| {
        let pool = pool(1);
        let ran = Arc::new(AtomicUsize::new(0));
        pool.install(|| {
            for _ in 0..4 {
                let ran = Arc::clone(&ran);
                drowse::spawn(move || {
                    ran.fetch_add(1, Ordering::Relaxed);
                });
            }
            type Call<'a> = &'a dyn Fn() -> Option<drowse::Yield>;
            let calls: [Call<'_>; 4] =
                [&yield_now, &yield_local, &|| pool.yield_now(), &|| pool.yield_local()];
            for (before, call) in calls.into_iter().enumerate() {
                assert_eq!(ran.load(Ordering::Relaxed), before);
                assert_eq!(call(), Some(Executed));
                assert_eq!(ran.load(Ordering::Relaxed), before + 1);
            }
            assert_eq!((yield_now(), yield_local()), (Some(Idle), Some(Idle)));
        });
    });
}

#[test]
fn the_newest_job_is_run_first() {
    watchdog(|| {
        let order = Arc::new(Mutex::new(Vec::new()));
        pool(1).install(|| {
            for i in 0..3 {
                let order = Arc::clone(&order);
                drowse::spawn(move || order.lock().unwrap().push(i));
            }
            while yield_now() == Some(Executed) {}
        });
        assert_eq!(*order.lock().unwrap(), [2, 1, 0]);
    });
}

#[test]
fn only_yield_now_takes_what_came_from_outside() {
    watchdog(|| {
        let (pool, ran) = (pool(1), Arc::new(AtomicBool::new(false)));
        pool.install(|| {
            thread::scope(|threads| {
                threads.spawn(|| {
                    let ran = Arc::clone(&ran);
                    pool.spawn(move || ran.store(true, Ordering::Relaxed));
                });
            });
            assert_eq!((yield_local(), ran.load(Ordering::Relaxed)), (Some(Idle), false));
            assert_eq!((yield_now(), ran.load(Ordering::Relaxed)), (Some(Executed), true));
        });
    });
}

#[test]
fn only_yield_now_takes_what_is_anothers() {
    watchdog(|| {
        let pool = &pool(2);
        let (ran, ran_on) = mpsc::channel();
        let (queued, is_queued) = mpsc::channel();
        let (release, released) = mpsc::channel::<()>();
        pool.install(move || {
            // From outside, so that the other worker takes it. There it queues a job, and blocks.
            thread::scope(|threads| {
                threads.spawn(|| {
                    pool.spawn(move || {
                        drowse::spawn(move || ran.send(thread::current().id()).unwrap());
                        queued.send(()).unwrap();
                        let _ = released.recv();
                    });
                });
            });
            is_queued.recv().unwrap();
            assert_eq!(yield_local(), Some(Idle));
            assert_eq!(yield_now(), Some(Executed));
            assert_eq!(ran_on.try_recv(), Ok(thread::current().id()));
            drop(release);
        });
    });
}

#[test]
fn a_broadcast_to_this_worker_counts_as_its_own() {
    watchdog(|| {
        let (pool, (sender, receiver)) = (&pool(1), mpsc::channel());
        pool.install(move || {
            thread::scope(|threads| {
                threads.spawn(|| {
                    pool.spawn_broadcast(move |context| sender.send(context.index()).unwrap())
                });
            });
            assert!(receiver.try_recv().is_err());
            assert_eq!(yield_local(), Some(Executed));
            assert_eq!(receiver.try_recv(), Ok(0));
        });
    });
}

#[test]
fn a_worker_of_one_pool_does_not_yield_to_another() {
    watchdog(|| {
        let (home, away) = (pool(1), pool(1));
        let ran = Arc::new(AtomicBool::new(false));
        home.install(|| {
            let done = Arc::clone(&ran);
            drowse::spawn(move || done.store(true, Ordering::Relaxed));
            assert_eq!((away.yield_now(), away.yield_local()), (None, None));
            assert!(!ran.load(Ordering::Relaxed), "and leaves its own jobs alone");
            away.install(|| {
                assert_eq!((home.yield_now(), home.yield_local()), (None, None));
                assert_eq!((away.yield_now(), away.yield_local()), (Some(Idle), Some(Idle)));
            });
        });
    });
}

#[test]
fn a_worker_that_yields_until_something_happens_makes_it_happen() {
    watchdog(|| {
        let happened = Arc::new(AtomicBool::new(false));
        pool(1).install(|| {
            let flag = Arc::clone(&happened);
            drowse::spawn(move || drowse::spawn(move || flag.store(true, Ordering::Release)));
            let mut jobs = 0;
            while !happened.load(Ordering::Acquire) {
                assert_eq!(yield_now(), Some(Executed));
                jobs += 1;
            }
            assert_eq!(jobs, 2);
        });
    });
}

#[test]
fn a_job_that_panics_was_run_all_the_same() {
    watchdog(|| {
        let (sender, receiver) = mpsc::channel();
        let sender = Mutex::new(sender);
        let builder = ThreadPoolBuilder::new().num_threads(1);
        let builder =
            builder.panic_handler(move |payload| sender.lock().unwrap().send(payload).unwrap());
        builder.build().unwrap().install(|| {
            drowse::spawn(|| panic!("in a yield"));
            assert_eq!(yield_now(), Some(Executed));
            assert_eq!(yield_now(), Some(Idle));
        });
        assert_eq!(receiver.recv().unwrap().downcast_ref(), Some(&"in a yield"));
    });
}

#[test]
fn what_a_yield_says_can_be_compared_copied_and_shown() {
    let copy = Executed;
    assert!(copy == Executed && copy != Idle);
    assert_eq!(format!("{copy:?} {Idle:?}"), "Executed Idle");
}
