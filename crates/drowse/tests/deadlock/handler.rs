//! What a deadlock handler may do, and what it must not: then it gets a panic that says so, and the
//! pool lives on.

use crate::common::deadlocks::{Stuck, block, rescue, spawn_calmly};
use crate::common::{self, assert_works, sleeping, until, until_all_sleep, watchdog};
use drowse::{Blocked, Deadlock, SleepProtocol, ThreadPool, ThreadPoolBuilder, mark_blocked, mark_unblocked};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, OnceLock};

/// A pool with this deadlock handler, which is given the pool, and what its panic handler hears.
fn with_handler(
    protocol: SleepProtocol,
    width: usize,
    handler: impl Fn(&ThreadPool, &Deadlock) + Send + Sync + 'static,
) -> (Arc<ThreadPool>, Receiver<String>) {
    let (sender, panics) = mpsc::channel();
    let sender = Mutex::new(sender);
    let place = Arc::new(OnceLock::<Arc<ThreadPool>>::new());
    let own = Arc::clone(&place);
    let builder = ThreadPoolBuilder::new().num_threads(width).sleep_protocol(protocol);
    let builder = builder
        .deadlock_handler(move |deadlock| handler(own.get().unwrap(), deadlock))
        .panic_handler(move |payload| {
            let message = match payload.downcast::<String>() {
                Ok(message) => *message,
                Err(payload) => (*payload.downcast::<&str>().expect("a message")).to_owned(),
            };
            // Nobody listens any more if the test has failed.
            let _ = sender.lock().unwrap().send(message);
        });
    let pool = Arc::new(builder.build().unwrap());
    // A circle: these pools never end.
    assert!(place.set(Arc::clone(&pool)).is_ok());
    (pool, panics)
}

/// Has a worker mark itself when all others sleep, and waits until it has unmarked itself.
fn come_to_a_stand(pool: &Arc<ThreadPool>) {
    let (inside, (sender, unmarked)) = (Arc::clone(pool), mpsc::channel());
    spawn_calmly(pool, move || {
        until("the others sleep", || sleeping(&inside) == inside.current_num_threads() - 1);
        drop(mark_blocked());
        sender.send(()).unwrap();
    });
    unmarked.recv().unwrap();
}

/// Said by the panic of a handler that did what it must not.
#[track_caller]
fn assert_says(message: &str, what: &str) {
    for part in ["deadlock handler", "must not", "locked", what] {
        assert!(message.contains(part), "{part} in {message}");
    }
}

#[test]
fn it_must_not_mark() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            let (pool, panics) = with_handler(protocol, 1, |_, _| drop(mark_blocked()));
            for _ in 0..10 {
                pool.install(|| drop(mark_blocked()));
                assert_says(&panics.recv().unwrap(), "mark workers");
                assert_works(&pool);
                until_all_sleep(&pool);
            }
            assert!(panics.try_recv().is_err(), "no alarm but for the marks");
        }
    });
}

/// The mark is gone nevertheless, so the worker does not count as blocked from then on.
#[test]
fn it_must_not_unmark() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            let (slot, alarms) = (Arc::new(Mutex::new(None::<Blocked>)), Arc::new(Mutex::new(0)));
            let (in_handler, counted) = (Arc::clone(&slot), Arc::clone(&alarms));
            let (pool, panics) = with_handler(protocol, 1, move |_, _| {
                *counted.lock().unwrap() += 1;
                let mark = in_handler.lock().unwrap().take();
                mark.into_iter().for_each(mark_unblocked);
            });
            pool.install(|| {
                // The first alarm finds no mark to drop, the second does.
                let mark = mark_blocked();
                *slot.lock().unwrap() = Some(mark);
                drop(mark_blocked());
            });
            assert_says(&panics.recv().unwrap(), "unblocked");
            until_all_sleep(&pool);
            assert_works(&pool);
            until_all_sleep(&pool);
            assert_eq!(*alarms.lock().unwrap(), 2, "one for each mark");
        }
    });
}

/// Those who wait for the pool, and so would wait for themselves. None leaves a job behind that is
/// gone.
#[test]
fn it_must_not_wait_for_its_pool() {
    type Way = fn(&ThreadPool, &str);
    let ways: [(&str, Way); 6] = [
        ("install", |pool, text| pool.install(|| assert!(!text.is_empty()))),
        ("join", |pool, text| _ = pool.join(|| (), || assert!(!text.is_empty()))),
        ("scope", |pool, text| pool.scope(|s| s.spawn(|_| assert!(!text.is_empty())))),
        ("in_place_scope", |pool, text| pool.in_place_scope(|s| s.spawn(|_| assert!(!text.is_empty())))),
        ("in_place_scope_fifo", |pool, text| {
            pool.in_place_scope_fifo(|s| s.spawn_fifo(|_| assert!(!text.is_empty())));
        }),
        ("broadcast", |pool, text| _ = pool.broadcast(|_| assert!(!text.is_empty()))),
    ];
    watchdog(move || {
        for protocol in SleepProtocol::ALL {
            for (name, way) in ways {
                for width in [1, 2] {
                    let (pool, panics) = with_handler(protocol, width, move |pool, deadlock| {
                        way(pool, &deadlock.to_string());
                    });
                    come_to_a_stand(&pool);
                    assert_says(&panics.recv().unwrap(), "wait for a pool");
                    assert_works(&pool);
                    until_all_sleep(&pool);
                    assert_works(&pool);
                    assert!(panics.try_recv().is_err(), "{name}");
                }
            }
        }
    });
}

/// What it spawns is run by one that slept, or by the very one that was about to sleep; else when
/// there is somebody again.
#[test]
fn it_may_spawn_into_its_pool() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            for width in [1, 2, 4] {
                let (sender, spawned) = mpsc::channel();
                let sender = Mutex::new(sender);
                let (pool, panics) = with_handler(protocol, width, move |pool, _| {
                    for _ in 0..3 {
                        let sender = sender.lock().unwrap().clone();
                        pool.spawn(move || sender.send(()).unwrap());
                    }
                });
                for _ in 0..50 {
                    come_to_a_stand(&pool);
                    assert_eq!(spawned.iter().take(3).count(), 3);
                    until_all_sleep(&pool);
                }
                assert!(panics.try_recv().is_err());
                assert_works(&pool);
            }
        }
    });
}

/// A worker blocks, and the last of the others is about to sleep, or sleeps. It is woken to the
/// rescue.
#[test]
fn it_may_have_its_pool_break_the_deadlock() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            for width in [2, 4] {
                let (stuck, all_stuck) = mpsc::channel::<Stuck>();
                let all_stuck = Arc::new(Mutex::new(all_stuck));
                let (pool, panics) = with_handler(protocol, width, move |pool, _| {
                    let all_stuck = Arc::clone(&all_stuck);
                    pool.spawn(move || rescue(all_stuck.lock().unwrap().recv()));
                });
                let (sender, answers) = mpsc::channel();
                for _ in 0..200 {
                    let (stuck, sender) = (stuck.clone(), sender.clone());
                    spawn_calmly(&pool, move || sender.send(block(&stuck)).unwrap());
                    assert_eq!(answers.recv(), Ok(42));
                }
                assert!(panics.try_recv().is_err());
                assert_works(&pool);
            }
        }
    });
}

/// The worker it would wait for may need its own pool: to wake one of its workers with a result,
/// say.
#[test]
fn it_must_not_wait_for_another_pool() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            let other = common::pool(2);
            let (pool, panics) = with_handler(protocol, 2, move |_, _| _ = other.join(|| 1, || 2));
            for _ in 0..20 {
                come_to_a_stand(&pool);
                assert_says(&panics.recv().unwrap(), "wait for a pool");
                until_all_sleep(&pool);
            }
            assert_works(&pool);
        }
    });
}

#[test]
fn it_may_spawn_into_a_pool_without_a_handler() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            let (other, (sender, spawned)) = (common::pool(2), mpsc::channel());
            let sender = Mutex::new(sender);
            let (pool, panics) = with_handler(protocol, 2, move |_, _| {
                let sender = sender.lock().unwrap().clone();
                other.spawn(move || sender.send(7).unwrap());
            });
            for _ in 0..20 {
                come_to_a_stand(&pool);
                assert_eq!(spawned.recv(), Ok(7));
                until_all_sleep(&pool);
            }
            assert!(panics.try_recv().is_err());
        }
    });
}

/// Two handlers that gave each other's pools work would each wait for the lock that the other one
/// holds.
#[test]
fn it_must_not_give_work_to_another_pool_with_a_handler() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            let (other, _) = with_handler(protocol, 2, |_, _| ());
            let given = Arc::clone(&other);
            let (pool, panics) = with_handler(protocol, 2, move |_, _| given.spawn(|| ()));
            come_to_a_stand(&pool);
            assert_says(&panics.recv().unwrap(), "another pool");
            let injected = other.metrics().total().injected;
            assert_works(&other);
            assert!(injected == 0, "it left a job there");
            assert_works(&pool);
        }
    });
}

/// The thread is a worker, though it does not look like one during the call.
#[test]
fn it_cannot_become_another_worker() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            let (sender, built) = mpsc::channel();
            let sender = Mutex::new(sender);
            let (pool, _panics) = with_handler(protocol, 1, move |_, _| {
                let builder = ThreadPoolBuilder::new().num_threads(1).use_current_thread();
                sender
                    .lock()
                    .unwrap()
                    .send(builder.build().map(drop).map_err(|error| error.to_string()))
                    .unwrap();
            });
            come_to_a_stand(&pool);
            assert!(built.recv().unwrap().is_err());
            assert_works(&pool);
        }
    });
}

/// What it runs on is a worker, but not for it.
#[test]
fn it_runs_on_no_worker() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            let (sender, places) = mpsc::channel();
            let sender = Mutex::new(sender);
            let (pool, _panics) = with_handler(protocol, 1, move |pool, _| {
                let place = (drowse::current_thread_index(), pool.current_thread_index());
                sender.lock().unwrap().send(place).unwrap();
            });
            let index = pool.install(|| {
                drop(mark_blocked());
                drowse::current_thread_index()
            });
            assert_eq!((places.recv(), index), (Ok((None, None)), Some(0)));
        }
    });
}

#[test]
fn its_panic_goes_to_the_panic_handler() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            let (pool, panics) =
                with_handler(protocol, 1, |_, _| std::panic::resume_unwind(Box::new("its own")));
            for _ in 0..10 {
                pool.install(|| {
                    drop(mark_blocked());
                    assert_eq!(drowse::current_thread_index(), Some(0), "a worker again");
                });
                assert_eq!(panics.recv().unwrap(), "its own");
            }
            assert_works(&pool);
        }
    });
}
