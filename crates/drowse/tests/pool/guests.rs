//! Threads outside that take the seats of workers.

use crate::common::{assert_works, caught, occupy, sleeping, until, until_all_sleep, watchdog};
use drowse::{ThreadPool, ThreadPoolBuilder};
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::thread;

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).guests(true).build().expect("a pool")
}

fn guests(pool: &ThreadPool) -> u64 {
    pool.metrics().total().sleep.guests
}

#[test]
fn a_guest_works_on_its_own_thread_and_has_a_workers_index() {
    watchdog(|| {
        for threads in [1, 2, 8] {
            let pool = pool(threads);
            until_all_sleep(&pool);
            let here = || {
                (
                    thread::current().id(),
                    drowse::current_thread_index(),
                    drowse::current_num_threads(),
                )
            };
            let calls: [&dyn Fn() -> _; 3] =
                [&|| pool.install(here), &|| pool.join(here, || ()).0, &|| pool.scope(|_| here())];
            for (number, call) in calls.into_iter().enumerate() {
                until_all_sleep(&pool);
                let (id, index, width) = call();
                assert_eq!((id, width), (thread::current().id(), threads), "call {number}");
                assert!(index.is_some_and(|index| index < threads), "{index:?}");
            }
            assert_eq!(guests(&pool), 3);
            assert_eq!(drowse::current_thread_index(), None, "it is a guest no more");
            until_all_sleep(&pool);
        }
    });
}

/// More threads than seats come and go. Whoever has an index has it alone.
#[test]
fn nobody_shares_a_seat() {
    watchdog(|| {
        for threads in [1, 2, 4] {
            let (pool, taken) = (pool(threads), Mutex::new(HashSet::new()));
            let with_my_index = |work: &dyn Fn()| {
                let index = pool.current_thread_index().expect("it is a worker, for now");
                assert!(index < threads && taken.lock().unwrap().insert(index), "{index} is taken");
                work();
                assert_eq!(pool.current_thread_index(), Some(index));
                assert!(taken.lock().unwrap().remove(&index));
            };
            thread::scope(|s| {
                for _ in 0..threads + 2 {
                    s.spawn(|| (0..200).for_each(|_| pool.install(|| with_my_index(&|| ()))));
                }
            });
            until_all_sleep(&pool);
            pool.install(|| with_my_index(&|| ()));
            assert!(guests(&pool) > 0);
            assert!(taken.into_inner().unwrap().is_empty());
        }
    });
}

/// One seat is taken by a guest that does not go before another thread's job has run, and the other
/// one's worker is busy.
#[test]
fn where_no_seat_is_free_the_caller_waits() {
    watchdog(|| {
        let (pool, done) = (pool(2), AtomicUsize::new(0));
        let _busy = occupy(&pool, 1);
        until("the other one sleeps", || sleeping(&pool) == 1);
        let sit = || {
            while done.load(Ordering::Acquire) == 0 {
                drowse::join(|| (), || ());
            }
            thread::current().id()
        };
        let visit = || {
            done.store(1, Ordering::Release);
            thread::current().id()
        };
        thread::scope(|s| {
            let first = s.spawn(|| pool.install(sit));
            until("the seat is taken", || guests(&pool) == 1);
            let ran_on = pool.install(visit);
            assert_eq!(first.join().unwrap(), ran_on, "in the middle of the first one's work");
            assert_ne!(ran_on, thread::current().id());
        });
        assert_eq!(guests(&pool), 1);
    });
}

/// The guest goes, and has left jobs behind, its own and letters.
#[test]
fn what_a_guest_leaves_is_done() {
    watchdog(|| {
        for threads in [1, 2] {
            let pool = pool(threads);
            for _ in 0..50 {
                until_all_sleep(&pool);
                let (sender, receiver) = mpsc::channel();
                let letters = sender.clone();
                pool.install(move || {
                    (0..10).for_each(|_| {
                        let sender = sender.clone();
                        drowse::spawn(move || sender.send(0).unwrap());
                    });
                    drowse::spawn_broadcast(move |context| {
                        letters.send(context.index() + 1).unwrap()
                    });
                });
                let sum: usize = receiver.iter().sum();
                assert_eq!(sum, (1..=threads).sum());
            }
        }
    });
}

#[test]
fn a_broadcast_from_within_and_one_from_outside_reach_every_seat() {
    watchdog(|| {
        let pool = pool(3);
        for _ in 0..50 {
            until_all_sleep(&pool);
            assert_eq!(pool.install(|| drowse::broadcast(|context| context.index())), [0, 1, 2]);
            let entered = Barrier::new(2);
            thread::scope(|s| {
                s.spawn(|| pool.install(|| _ = entered.wait()));
                let letters = s.spawn(|| pool.broadcast(|context| context.index()));
                // Whichever seat the guest has, its letter waits for it.
                entered.wait();
                assert_eq!(letters.join().unwrap(), [0, 1, 2]);
            });
        }
    });
}

#[test]
fn a_guest_that_panics_gives_its_seat_back() {
    watchdog(|| {
        let pool = pool(1);
        for _ in 0..20 {
            until_all_sleep(&pool);
            assert_eq!(caught::<&str, _>(|| pool.install(|| panic!("bad guest"))), "bad guest");
            assert_eq!(drowse::current_thread_index(), None);
        }
        assert!(guests(&pool) >= 20);
        assert_works(&pool);
    });
}

/// A guest sleeps in the seat, for a half that another one is at, and is woken.
#[test]
fn a_guest_that_waits_is_woken() {
    watchdog(|| {
        let pool = pool(2);
        for _ in 0..50 {
            until_all_sleep(&pool);
            let taken = Barrier::new(2);
            let (go_on, wait) = mpsc::channel::<()>();
            let wait = Mutex::new(wait);
            let stolen = || {
                taken.wait();
                wait.lock().unwrap().recv().unwrap();
            };
            thread::scope(|s| {
                let caller = s.spawn(|| pool.join(|| _ = taken.wait(), stolen));
                until("the one waits for the other", || sleeping(&pool) == 1);
                go_on.send(()).unwrap();
                caller.join().unwrap();
            });
        }
    });
}

#[test]
fn a_guest_in_one_pool_can_be_one_in_another() {
    watchdog(|| {
        let (outer, inner) = (pool(2), pool(2));
        for _ in 0..100 {
            let nested =
                || outer.install(|| inner.install(|| outer.install(drowse::current_num_threads)));
            assert_eq!(nested(), 2);
        }
        until_all_sleep(&outer);
        until_all_sleep(&inner);
    });
}

#[test]
fn a_thread_that_waits_for_its_own_scope_helps() {
    watchdog(|| {
        let (pool, done) = (pool(2), AtomicUsize::new(0));
        let before = guests(&pool);
        while guests(&pool) == before {
            pool.in_place_scope(|s| {
                (0..100).for_each(|_| s.spawn(|_| _ = done.fetch_add(1, Ordering::Relaxed)));
            });
        }
        assert_eq!(done.into_inner() % 100, 0);
    });
}

#[test]
fn without_being_asked_nobody_is_a_guest() {
    watchdog(|| {
        let pool = ThreadPoolBuilder::new().num_threads(2).guests(false).build().expect("a pool");
        until_all_sleep(&pool);
        assert_ne!(pool.install(|| thread::current().id()), thread::current().id());
        assert_eq!(guests(&pool), 0);
    });
}

/// What is awaited in isolation comes before what was spawned earlier.
#[test]
fn a_guest_is_isolated_if_its_thread_was() {
    watchdog(|| {
        for isolated in [false, true] {
            let (pool, log) = (pool(1), Arc::new(Mutex::new(Vec::new())));
            let add = |log: &Mutex<Vec<usize>>, job| log.lock().unwrap().push(job);
            until_all_sleep(&pool);
            let work = || {
                for job in 0..3 {
                    let log = Arc::clone(&log);
                    drowse::spawn_fifo(move || add(&log, job));
                }
                drowse::broadcast(|_| add(&log, 3));
            };
            if isolated {
                drowse::isolate(|| pool.install(work))
            } else {
                pool.install(work)
            }
            assert_eq!(guests(&pool), 1);
            until("all have run", || log.lock().unwrap().len() == 4);
            assert_eq!(*log.lock().unwrap(), if isolated { [3, 0, 1, 2] } else { [0, 1, 2, 3] });
        }
    });
}
