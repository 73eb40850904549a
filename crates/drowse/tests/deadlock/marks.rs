//! Marks of blocked workers: what counts, where, and for how long.

use crate::common::deadlocks::{blocked, listen, with_alarm};
use crate::common::{assert_works, caught, patience, sleeping, until, until_all_sleep, watchdog};
use drowse::{
    Deadlock, SleepProtocol, ThreadPool, ThreadPoolBuilder, mark_blocked, mark_unblocked,
};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::time::Duration;

fn builder(protocol: SleepProtocol, width: usize) -> ThreadPoolBuilder {
    ThreadPoolBuilder::new().num_threads(width).sleep_protocol(protocol)
}

/// A pool of this protocol and width, and where its alarms are heard.
fn pool(protocol: SleepProtocol, width: usize) -> (ThreadPool, Receiver<Deadlock>) {
    with_alarm(builder(protocol, width))
}

#[test]
fn outside_a_pool_a_mark_is_harmless() {
    watchdog(|| {
        let mark = mark_blocked();
        assert!(format!("{mark:?}").contains("worker: None"), "{mark:?}");
        mark_unblocked(mark);
        for protocol in SleepProtocol::ALL {
            // Of a thread that blocks for the pool, but is not one of its workers.
            let (pool, alarms) = pool(protocol, 2);
            let mark = mark_blocked();
            assert_works(&pool);
            until_all_sleep(&pool);
            drop((pool, mark));
            assert_eq!(alarms.iter().count(), 0);
        }
    });
}

#[test]
fn without_a_handler_a_mark_is_harmless() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            let pool = builder(protocol, 1).build().unwrap();
            let mark = pool.install(mark_blocked);
            assert!(format!("{mark:?}").contains("worker: Some(0)"), "{mark:?}");
            assert_works(&pool);
            drop(pool);
            drop(mark);
        }
    });
}

#[test]
fn marks_may_be_nested() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            let (pool, alarms) = pool(protocol, 1);
            let alarms = Mutex::new(alarms);
            let next_alarm = || alarms.lock().unwrap().recv().unwrap();
            pool.install(|| {
                // The worker is marked twice, and no other is active: an alarm each time, the
                // second with the latest place.
                let outer = mark_blocked();
                assert_eq!(blocked(&next_alarm()), (vec![0], vec![line!() - 1]));
                let inner = mark_blocked();
                let line = line!() - 1;
                assert_eq!(blocked(&next_alarm()), (vec![0], vec![line]));
                // It still counts as blocked.
                drop(outer);
                assert_eq!(blocked(&next_alarm()), (vec![0], vec![line]));
                drop(inner);
            });
            assert_works(&pool);
            until_all_sleep(&pool);
            drop(pool);
            assert_eq!(alarms.into_inner().unwrap().iter().count(), 0, "all marks are gone");
        }
    });
}

#[test]
fn a_mark_may_be_dropped_anywhere_and_late() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            let (pool, alarms) = pool(protocol, 2);
            for _ in 0..100 {
                // On a thread outside, and on another worker.
                let (mark, other) = pool.install(|| (mark_blocked(), mark_blocked()));
                std::thread::spawn(|| drop(mark)).join().unwrap();
                pool.install(move || drop(other));
                until_all_sleep(&pool);
            }
            // While there were marks, the one worker was blocked as often as the others slept.
            assert!(alarms.try_iter().all(|alarm| alarm.blocked.len() == 1));
            assert_works(&pool);
            until_all_sleep(&pool);
            assert!(alarms.try_recv().is_err(), "all marks are gone");
            // One that outlives its pool.
            let mark = pool.install(mark_blocked);
            drop(pool);
            drop(mark);
            assert!(alarms.iter().all(|alarm| alarm.blocked.len() == 1));
        }
    });
}

/// Asleep and blocked is blocked: it counts once, and does not become active when it is woken.
#[test]
fn a_marked_worker_that_sleeps_counts_once() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            let (pool, alarms) = pool(protocol, 2);
            let (pool, alarms) = (Arc::new(pool), Arc::new(Mutex::new(alarms)));
            for _ in 0..50 {
                let (inside, heard, (sender, done)) =
                    (Arc::clone(&pool), Arc::clone(&alarms), mpsc::channel());
                pool.spawn(move || {
                    let (started, starts) = mpsc::channel();
                    let joiner = drowse::current_thread_index().unwrap();
                    let (mark, ()) = drowse::join(
                        move || {
                            starts.recv().unwrap();
                            mark_blocked()
                        },
                        move || {
                            started.send(()).unwrap();
                            until("the joiner sleeps", || sleeping(&inside) == 1);
                        },
                    );
                    // Now the other one finds nothing more to do, and we are blocked, as we say.
                    let alarm = heard.lock().unwrap().recv().unwrap();
                    mark_unblocked(mark);
                    sender.send((blocked(&alarm).0, joiner)).unwrap();
                });
                let (workers, joiner) = done.recv().unwrap();
                assert_eq!(workers, [joiner]);
                until_all_sleep(&pool);
            }
            assert!(alarms.lock().unwrap().try_recv().is_err());
        }
    });
}

#[test]
fn a_mark_ends_with_a_panic_of_its_worker() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            // The mark lives until the stack is unwound: no longer than this, on an emulator
            // either.
            let (pool, alarms) =
                listen(builder(protocol, 1).deadlock_after(Duration::from_millis(10) * patience()));
            let payload = caught::<u32, _>(|| {
                pool.install(|| {
                    let _mark = mark_blocked();
                    std::panic::resume_unwind(Box::new(7_u32));
                })
            });
            // Dropped as the stack was unwound.
            assert_eq!(payload, 7);
            assert_works(&pool);
            until_all_sleep(&pool);
            drop(pool);
            assert_eq!(alarms.iter().count(), 0);
        }
    });
}

/// A worker that was marked twice and unmarked once is blocked at the place of the mark that is
/// left.
#[test]
fn the_place_is_that_of_a_mark_that_lives() {
    watchdog(|| {
        let (pool, alarms) = pool(SleepProtocol::default(), 1);
        let alarms = Mutex::new(alarms);
        let next_line = || alarms.lock().unwrap().recv().unwrap().blocked[0].at.line();
        let (outer, place) = pool.install(|| {
            let outer = mark_blocked();
            let place = line!() - 1;
            assert_eq!(next_line(), place);
            let inner = mark_blocked();
            assert_eq!(next_line(), line!() - 1);
            drop(inner);
            assert_eq!(next_line(), place, "the place of a mark that was dropped");
            (outer, place)
        });
        // Raised when the worker falls asleep, with the outer mark alive.
        assert_eq!(next_line(), place);
        drop(outer);
    });
}
