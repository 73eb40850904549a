//! What a deadlock handler may do: whatever a thread outside may. It runs on a thread of its own,
//! with nothing locked.

use crate::common::deadlocks::{SOON, Stuck, block, rescue};
use crate::common::{assert_works, until_all_sleep, watchdog};
use drowse::{Deadlock, SleepProtocol, ThreadPool, ThreadPoolBuilder, mark_blocked};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, Weak};

/// A pool with this deadlock handler, which is given the pool, and what its panic handler hears.
fn with_handler(
    protocol: SleepProtocol,
    width: usize,
    handler: impl Fn(&ThreadPool, &Deadlock) + Send + Sync + 'static,
) -> (Arc<ThreadPool>, Receiver<String>) {
    let (sender, panics) = mpsc::channel();
    let sender = Mutex::new(sender);
    let place = Arc::new(Mutex::new(Weak::<ThreadPool>::new()));
    let own = Arc::clone(&place);
    let builder =
        ThreadPoolBuilder::new().num_threads(width).sleep_protocol(protocol).deadlock_after(SOON);
    let builder = builder
        .deadlock_handler(move |deadlock| {
            let pool = own.lock().unwrap().upgrade();
            handler(&pool.expect("the test has it"), deadlock);
        })
        .panic_handler(move |payload| {
            let message = (*payload.downcast::<&str>().expect("a message")).to_owned();
            // Nobody listens any more if the test has failed.
            let _ = sender.lock().unwrap().send(message);
        });
    let pool = Arc::new(builder.build().unwrap());
    *place.lock().unwrap() = Arc::downgrade(&pool);
    (pool, panics)
}

/// Has a worker wait, marked, until somebody answers; `rounds` times. What the handler does leads
/// to the answer.
fn come_to_a_stand(
    protocol: SleepProtocol,
    width: usize,
    rounds: u32,
    handler: impl Fn(&ThreadPool, &dyn Fn() -> Stuck) + Send + Sync + 'static,
) {
    let (stuck, all_stuck) = mpsc::channel::<Stuck>();
    let all_stuck = Mutex::new(all_stuck);
    let (pool, panics) = with_handler(protocol, width, move |pool, deadlock| {
        assert_eq!((deadlock.num_threads, deadlock.blocked.len()), (width, 1), "{deadlock}");
        handler(pool, &|| all_stuck.lock().unwrap().recv().expect("somebody is stuck"));
    });
    let (sender, answers) = mpsc::channel();
    for _ in 0..rounds {
        let (stuck, sender) = (stuck.clone(), sender.clone());
        pool.spawn(move || sender.send(block(&stuck)).unwrap());
        assert_eq!(answers.recv(), Ok(42));
    }
    assert_works(&pool);
    assert!(panics.try_recv().is_err());
}

#[test]
fn it_may_unblock_workers() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            for width in [1, 2, 4] {
                come_to_a_stand(protocol, width, 20, |_, next| rescue([next()]));
            }
        }
    });
}

/// What it spawns is run by one that sleeps.
#[test]
fn it_may_have_its_pool_break_the_deadlock() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            for width in [2, 4] {
                come_to_a_stand(protocol, width, 20, |pool, next| {
                    let stuck = next();
                    pool.spawn(move || rescue([stuck]));
                });
            }
        }
    });
}

/// Those who wait for the pool, which has a worker to spare, or for another pool.
#[test]
fn it_may_wait_for_pools() {
    type Way = fn(&ThreadPool, &str) -> bool;
    let ways: [Way; 6] = [
        |pool, text| pool.install(|| !text.is_empty()),
        |pool, text| pool.join(|| (), || !text.is_empty()).1,
        |pool, text| {
            let mut seen = false;
            pool.scope(|s| s.spawn(|_| seen = !text.is_empty()));
            seen
        },
        |pool, text| {
            let mut seen = false;
            pool.in_place_scope(|s| s.spawn(|_| seen = !text.is_empty()));
            seen
        },
        |pool, _| pool.install(|| drowse::spawn_handle(|| true)).join().unwrap(),
        |_, _| crate::common::pool(2).broadcast(|_| ()).len() == 2,
    ];
    watchdog(move || {
        for protocol in SleepProtocol::ALL {
            for way in ways {
                come_to_a_stand(protocol, 2, 3, move |pool, next| {
                    assert!(way(pool, "a text"));
                    rescue([next()]);
                });
            }
        }
    });
}

/// Two pools with handlers, each of which gives the other work.
#[test]
fn it_may_give_work_to_another_pool_with_a_handler() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            let (other, _panics) = with_handler(protocol, 2, |_, _| ());
            come_to_a_stand(protocol, 2, 5, move |_, next| {
                let stuck = next();
                other.install(move || rescue([stuck]));
            });
        }
    });
}

#[test]
fn it_may_mark_which_does_nothing() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            come_to_a_stand(protocol, 1, 5, |pool, next| {
                assert_eq!(
                    (drowse::current_thread_index(), pool.current_thread_index()),
                    (None, None)
                );
                let mark = mark_blocked();
                assert!(format!("{mark:?}").contains("worker: None"), "{mark:?}");
                rescue([next()]);
            });
        }
    });
}

/// It may keep the pool: the pool ends when both are done with it.
#[test]
fn it_may_outlive_the_handle() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            let (begun, begins) = mpsc::channel();
            let (end, ends) = mpsc::channel();
            let (begun, ends) = (Mutex::new(begun), Mutex::new(ends));
            let builder = ThreadPoolBuilder::new().num_threads(1).sleep_protocol(protocol);
            let pool = builder.deadlock_after(SOON).deadlock_handler(move |_| {
                begun.lock().unwrap().send(()).unwrap();
                ends.lock().unwrap().recv().unwrap();
            });
            let pool = pool.build().unwrap();
            let mark = pool.install(mark_blocked);
            begins.recv().unwrap();
            drop((pool, mark));
            end.send(()).unwrap();
            // The handler is dropped with the pool.
            assert!(begins.recv().is_err());
        }
    });
}

#[test]
fn its_panic_goes_to_the_panic_handler() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            let (pool, panics) =
                with_handler(protocol, 1, |_, _| std::panic::resume_unwind(Box::new("its own")));
            for _ in 0..5 {
                let mark = pool.install(mark_blocked);
                assert_eq!(panics.recv().unwrap(), "its own");
                drop(mark);
            }
            until_all_sleep(&pool);
            assert_works(&pool);
        }
    });
}
