//! Isolated code that yields, that goes to another pool and back, and that broadcasts.

use crate::common::{assert_works, sleeping, until, until_all_sleep, watchdog};
use drowse::Yield::{Executed, Idle};
use drowse::{ThreadPool, ThreadPoolBuilder, Waiting, Yield};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;

/// A way to yield on a worker.
type YieldOnce = fn() -> Option<Yield>;

const WAYS_TO_YIELD: [YieldOnce; 2] = [drowse::yield_now, drowse::yield_local];

/// Where code is isolated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Where {
    /// In a region, in a pool that helps.
    Region,
    /// Everywhere in the pool.
    Pool,
    /// In a region, in a pool in which every job is isolated.
    Both,
}

impl Where {
    const ALL: [Self; 3] = [Self::Region, Self::Pool, Self::Both];

    /// Builds a pool without spares.
    fn pool(self, threads: usize) -> ThreadPool {
        let waiting = if self == Self::Region { Waiting::Help } else { Waiting::Isolate };
        let builder = ThreadPoolBuilder::new().num_threads(threads).max_spare_threads(0);
        builder.waiting(waiting).build().expect("a pool")
    }

    /// Calls `f` in isolation, on a worker of such a pool.
    fn call<R>(self, f: impl FnOnce() -> R) -> R {
        if self == Self::Pool { f() } else { drowse::isolate(f) }
    }
}

/// Joins two halves of which the first waits for the second. Needs two workers.
fn halves_of_which_one_waits() {
    let (tell, told) = channel();
    drowse::join(move || told.recv().unwrap(), move || tell.send(()).unwrap());
}

/// Joins in isolation on a pool of two. Calls `second` on one worker, when the other one sleeps and
/// waits for that.
fn in_a_stolen_half(isolated: Where, pool: &ThreadPool, second: impl FnOnce() + Send) {
    let is_stolen = AtomicBool::new(false);
    let first = || until("the second half is stolen", || is_stolen.load(Ordering::SeqCst));
    let second = || {
        is_stolen.store(true, Ordering::SeqCst);
        until("the worker of the first half sleeps", || sleeping(pool) == 1);
        second();
    };
    pool.install(|| isolated.call(|| drowse::join(first, second)));
}

/// The worker that waits for the stolen half runs the second half of the inner join, or nothing
/// does.
#[test]
fn a_stolen_half_yields_to_a_job_that_joins_two_halves_of_which_one_waits() {
    watchdog(|| {
        for isolated in Where::ALL {
            for yield_once in WAYS_TO_YIELD {
                let pool = isolated.pool(2);
                in_a_stolen_half(isolated, &pool, || {
                    let thief = thread::current().id();
                    let join_here = move || {
                        let is_here = thread::current().id() == thief;
                        if is_here {
                            halves_of_which_one_waits();
                        }
                        is_here
                    };
                    // The other worker may be quicker, and steal the job before the thief yields.
                    loop {
                        let job = drowse::spawn_handle(join_here);
                        yield_once();
                        if job.join().unwrap() {
                            break;
                        }
                    }
                });
                assert_works(&pool);
            }
        }
    });
}

/// Two pools of one worker. The worker of the first waits in isolation for `there`, which runs in
/// the second, and is told the first.
fn from_pool_to_pool(isolated: Where, there: impl Fn(&Arc<ThreadPool>) + Sync) {
    let pools = [(); 2].map(|()| Arc::new(isolated.pool(1)));
    let [first, second] = &pools;
    first.install(|| isolated.call(|| second.install(|| there(first))));
    pools.iter().for_each(|pool| assert_works(pool));
}

/// Returns a job that goes back to the pool that waits.
fn go_back(first: &Arc<ThreadPool>) -> impl FnOnce() + Send + 'static {
    let first = Arc::clone(first);
    move || first.install(|| ())
}

#[test]
fn a_job_that_a_yield_runs_goes_back_to_the_pool_that_waits() {
    watchdog(|| {
        for isolated in Where::ALL {
            for yield_once in WAYS_TO_YIELD {
                from_pool_to_pool(isolated, |first| {
                    let job = drowse::spawn_handle(go_back(first));
                    assert_eq!(yield_once(), Some(Executed));
                    job.join().unwrap();
                });
                from_pool_to_pool(isolated, |first| {
                    let job = drowse::spawn_handle_fifo(go_back(first));
                    assert_eq!(yield_once(), Some(Executed));
                    job.join().unwrap();
                });
                from_pool_to_pool(isolated, |first| {
                    drowse::scope(|s| {
                        s.spawn(|_| first.install(|| ()));
                        assert_eq!(yield_once(), Some(Executed));
                    });
                });
            }
        }
    });
}

/// Each worker of the first pool runs what is broadcast while it waits for the thread that
/// broadcasts: there is no spare to do so.
#[test]
fn a_broadcast_to_a_pool_that_waits_for_it_needs_no_spare() {
    watchdog(|| {
        for isolated in Where::ALL {
            from_pool_to_pool(isolated, |first| _ = first.broadcast(|_| ()));
            from_pool_to_pool(isolated, |first| {
                drowse::join(|| (), || first.broadcast(|_| ()));
            });
            from_pool_to_pool(isolated, |first| {
                first.in_place_scope(|s| s.spawn_broadcast(|_, _| ()));
            });
        }
    });
}

/// Yields in each way in the middle of a region, and demands that there is nothing to run.
#[track_caller]
fn assert_nothing_to_run() {
    for yield_once in WAYS_TO_YIELD {
        assert_eq!(yield_once(), Some(Idle));
    }
}

#[test]
fn a_yield_in_a_region_runs_no_job_that_is_older_than_the_region() {
    watchdog(|| {
        for isolated in [Where::Region, Where::Both] {
            for yield_once in WAYS_TO_YIELD {
                isolated.pool(1).install(|| {
                    let older = drowse::spawn_handle(|| ());
                    drowse::isolate(|| {
                        assert_nothing_to_run();
                        let newer = drowse::spawn_handle(|| ());
                        assert_eq!(yield_once(), Some(Executed));
                        assert!(newer.is_finished() && !older.is_finished());
                        assert_nothing_to_run();
                    });
                    assert_eq!(yield_once(), Some(Executed));
                    assert!(older.is_finished());
                });
            }
        }
    });
}

#[test]
fn a_yield_in_a_region_runs_nothing_that_comes_from_outside() {
    watchdog(|| {
        for isolated in [Where::Region, Where::Both] {
            let pool = &isolated.pool(1);
            let (ran, runs) = channel();
            let ran_everywhere = Mutex::new(ran.clone());
            pool.install(move || {
                thread::scope(|threads| {
                    threads.spawn(|| {
                        pool.spawn(move || ran.send("spawned").unwrap());
                        pool.spawn_broadcast(move |_| {
                            ran_everywhere.lock().unwrap().send("broadcast").unwrap();
                        });
                    });
                });
                drowse::isolate(assert_nothing_to_run);
            });
            let mut runs: Vec<_> = runs.iter().collect();
            runs.sort_unstable();
            assert_eq!(runs, ["broadcast", "spawned"]);
        }
    });
}

#[test]
fn a_yield_in_a_region_inside_of_another_runs_no_job_of_the_outer_one() {
    watchdog(|| {
        for isolated in Where::ALL {
            for yield_once in WAYS_TO_YIELD {
                let pool = isolated.pool(1);
                let outer = || {
                    let older = drowse::spawn_handle(|| ());
                    drowse::isolate(|| {
                        assert_nothing_to_run();
                        let newer = drowse::spawn_handle(|| ());
                        assert_eq!(yield_once(), Some(Executed));
                        assert!(newer.is_finished() && !older.is_finished());
                    });
                    assert_eq!(yield_once(), Some(Executed));
                    assert!(older.is_finished());
                };
                pool.install(|| isolated.call(outer));
            }
        }
    });
}

/// A job that was spawned in a region is in the region, on whichever worker.
#[test]
fn a_yield_in_a_stolen_job_of_a_region_runs_nothing_that_comes_from_outside() {
    watchdog(|| {
        for isolated in [Where::Region, Where::Both] {
            let pool = &isolated.pool(2);
            let ran = Arc::new(AtomicBool::new(false));
            in_a_stolen_half(isolated, pool, || {
                let ran_there = Arc::clone(&ran);
                thread::scope(|threads| {
                    threads.spawn(|| pool.spawn(move || ran_there.store(true, Ordering::SeqCst)));
                });
                assert_nothing_to_run();
                assert!(!ran.load(Ordering::SeqCst));
            });
            until("the job has run", || ran.load(Ordering::SeqCst));
        }
    });
}

/// A thread outside waits in isolation for a job, while the worker that was woken for the job is
/// held in a handler. Another seat is free: if the thread took it, it would run the job.
#[test]
fn a_thread_outside_that_waits_in_isolation_is_no_guest() {
    watchdog(|| {
        let here = thread::current().id();
        let is_held = Arc::new(AtomicBool::new(false));
        let (held, let_go) = (Arc::clone(&is_held), Arc::clone(&is_held));
        let acquire = move || until("it may go on", || !held.load(Ordering::SeqCst));
        // Called where this thread waits without a seat.
        let release = move || {
            if thread::current().id() == here {
                let_go.store(false, Ordering::SeqCst);
            }
        };
        let builder = ThreadPoolBuilder::new().num_threads(2).guests(true);
        let builder = builder.acquire_thread_handler(acquire).release_thread_handler(release);
        let pool = builder.build().unwrap();
        for _ in 0..10 {
            until_all_sleep(&pool);
            is_held.store(true, Ordering::SeqCst);
            let ran_on =
                drowse::isolate(|| pool.spawn_handle(|| thread::current().id()).join().unwrap());
            assert_ne!(ran_on, here);
            assert!(!is_held.load(Ordering::SeqCst));
        }
    });
}
