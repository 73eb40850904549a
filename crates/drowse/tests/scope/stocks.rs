//! A worker that has run a job of a scope does not keep the scope waiting while it does something
//! else: counts that it holds are given back before.
//!
//! In each test the worker goes on, after a job of the scope, with something that waits for the
//! scope's end. The scope's own closure waits for the job, so that the job is not the last.

use crate::common::{caught, occupy, pool, until, until_all_sleep, watchdog, watchdog_for_life};
use drowse::{Scope, ThreadPool, ThreadPoolBuilder, Yield};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};

/// Something that happens once, and can be waited for.
#[derive(Clone, Default)]
struct Event(Arc<AtomicBool>);

impl Event {
    fn happen(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    fn has_happened(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    #[track_caller]
    fn wait(&self, what: &str) {
        until(what, || self.has_happened());
    }
}

/// A scope that a thread outside has opened, with one job.
struct Opened {
    /// The job is in the queue.
    spawned: Event,
    /// The job has run, or what it has left to others has.
    ran: Event,
    ended: Event,
    thread: JoinHandle<()>,
}

/// Opens a scope with one job, which calls `body`. Its closure returns when `body` or what it has
/// spawned tells that it has run.
fn open(
    pool: &Arc<ThreadPool>,
    body: impl for<'s> FnOnce(&Scope<'s>, Event) + Send + 'static,
) -> Opened {
    let (spawned, ran, ended) = (Event::default(), Event::default(), Event::default());
    let thread = thread::spawn({
        let (pool, spawned, ran, ended) =
            (Arc::clone(pool), spawned.clone(), ran.clone(), ended.clone());
        move || {
            pool.in_place_scope(|s| {
                let told = ran.clone();
                s.spawn(move |s| body(s, told));
                spawned.happen();
                ran.wait("the job of the scope has run");
            });
            ended.happen();
        }
    });
    Opened { spawned, ran, ended, thread }
}

fn simply_tell(_: &Scope<'_>, ran: Event) {
    ran.happen();
}

impl Opened {
    /// To be called on a worker that holds a count of the scope, or did.
    #[track_caller]
    fn wait_for_end(&self) {
        assert!(self.ran.has_happened(), "the worker has run the job");
        self.ended.wait("the scope has ended");
    }

    fn join(self) {
        self.thread.join().expect("the scope ends well");
    }
}

#[test]
fn while_it_goes_on_with_a_job_that_has_yielded() {
    watchdog(|| {
        let pool = Arc::new(pool(1));
        let opened = pool.clone().install(|| {
            let opened = open(&pool, simply_tell);
            opened.spawned.wait("there is a job to run");
            until("the job was run", || drowse::yield_now() == Some(Yield::Executed));
            opened.wait_for_end();
            opened
        });
        opened.join();
    });
}

#[test]
fn while_it_goes_on_with_a_job_that_has_waited() {
    watchdog(|| {
        let (pool, other) = (Arc::new(pool(1)), Arc::new(pool(1)));
        let opened = pool.clone().install(|| {
            let (awaited, begun) = (Arc::clone(&other), Event::default());
            let begins = begun.clone();
            // When the job ends, what its worker waits for is there already.
            let opened = open(&pool, move |_, _| {
                begins.happen();
                until_all_sleep(&awaited);
            });
            other.install(|| begun.wait("the job has begun, meanwhile"));
            opened.ran.happen();
            opened.wait_for_end();
            opened
        });
        opened.join();
    });
}

/// Runs a job from outside on a worker that has jobs of its own: so many of these are run in a row
/// before it is the other's turn.
fn run_one_from_outside() {
    for _ in 0..64 {
        drowse::spawn(|| ());
        assert_eq!(drowse::yield_now(), Some(Yield::Executed));
    }
    assert_eq!(drowse::yield_now(), Some(Yield::Executed));
}

#[test]
fn while_it_runs_the_second_half_of_a_join() {
    watchdog(|| {
        let pool = Arc::new(pool(1));
        // What the job spawns lies on top of the second half, and is run first.
        let leave_a_job = |s: &Scope<'_>, ran: Event| s.spawn(move |_| ran.happen());
        let opened = pool.clone().install(|| {
            let opened = open(&pool, leave_a_job);
            opened.spawned.wait("there is a job to run");
            drowse::join(run_one_from_outside, || opened.wait_for_end());
            opened
        });
        opened.join();
    });
}

#[test]
fn while_it_runs_the_second_half_of_a_join_as_somebody_who_waits() {
    watchdog(|| {
        let (pool, other) = (Arc::new(pool(1)), pool(1));
        let leave_a_job = |s: &Scope<'_>, ran: Event| s.spawn(move |_| ran.happen());
        let opened = pool.clone().install(|| {
            let opened = open(&pool, leave_a_job);
            opened.spawned.wait("there is a job to run");
            let first = || {
                run_one_from_outside();
                // It runs what the job has left, and the second half, which lies below.
                other.install(|| opened.ended.wait("the scope has ended"));
            };
            drowse::join(first, || opened.wait_for_end());
            opened
        });
        opened.join();
    });
}

#[test]
fn while_it_runs_a_job_that_nobody_waits_for() {
    watchdog(|| {
        let pool = Arc::new(pool(1));
        let busy = occupy(&pool, 1);
        let opened = Arc::new(open(&pool, simply_tell));
        opened.spawned.wait("the job is in the queue");
        let (behind, over) = (Arc::clone(&opened), Event::default());
        let tell = over.clone();
        pool.spawn(move || {
            behind.wait_for_end();
            drop(behind);
            tell.happen();
        });
        drop(busy);
        over.wait("the job behind is over");
        Arc::into_inner(opened).expect("nobody else has it").join();
    });
}

/// Spawns a task that calls this, in one way of several.
type SpawnTask = fn(&ThreadPool, Box<dyn FnOnce() + Send>) -> drowse::JoinHandle<()>;

#[test]
fn while_it_runs_a_task() {
    const WAYS: [SpawnTask; 3] = [
        |pool, body| pool.spawn_handle(body),
        |pool, body| pool.spawn_handle_fifo(body),
        |pool, body| pool.spawn_future(async { body() }),
    ];
    watchdog(|| {
        for spawn in WAYS {
            let pool = Arc::new(pool(1));
            let busy = occupy(&pool, 1);
            let opened = Arc::new(open(&pool, simply_tell));
            opened.spawned.wait("the job is in the queue");
            let behind = Arc::clone(&opened);
            let task = spawn(
                &pool,
                Box::new(move || {
                    behind.wait_for_end();
                    drop(behind);
                }),
            );
            drop(busy);
            task.join().unwrap();
            Arc::into_inner(opened).expect("the task has dropped its own").join();
        }
    });
}

#[test]
fn while_it_runs_a_job_of_another_scope() {
    watchdog(|| {
        let pool = Arc::new(pool(1));
        let busy = occupy(&pool, 1);
        let opened = Arc::new(open(&pool, simply_tell));
        opened.spawned.wait("the job is in the queue");
        let behind = Arc::clone(&opened);
        let another = open(&pool, move |_, ran| {
            behind.wait_for_end();
            drop(behind);
            ran.happen();
        });
        another.spawned.wait("the job of the other scope is behind it");
        drop(busy);
        another.join();
        Arc::into_inner(opened).expect("nobody else has it").join();
    });
}

#[test]
fn when_it_runs_its_last_job_its_own_scope_is_over_and_no_other_job_begins() {
    watchdog(|| {
        for jobs in [1, 2, 3, 100] {
            let in_scope = AtomicBool::new(false);
            let first = || {
                in_scope.store(true, Ordering::SeqCst);
                drowse::scope(|s| (0..jobs).for_each(|_| s.spawn(|_| ())));
                in_scope.store(false, Ordering::SeqCst);
            };
            pool(1).join(first, || assert!(!in_scope.load(Ordering::SeqCst), "with {jobs} jobs"));
        }
    });
}

#[test]
fn though_it_has_taken_counts_ahead_for_somebody_elses_scope() {
    watchdog(|| {
        for width in [1, 2, 8] {
            let (pool, count) = (pool(width), AtomicUsize::new(0));
            for _ in 0..300 {
                let add = |_: &Scope<'_>| {
                    count.fetch_add(1, Ordering::Relaxed);
                };
                pool.scope(|outer| {
                    let spawn_some = || (0..9).for_each(|_| outer.spawn(add));
                    drowse::join(spawn_some, spawn_some);
                    drowse::scope(|inner| {
                        for _ in 0..3 {
                            inner.spawn(|inner| {
                                outer.spawn(add);
                                inner.spawn(|_| outer.spawn(add));
                                spawn_some();
                            });
                        }
                    });
                });
                assert_eq!(count.swap(0, Ordering::Relaxed), 2 * 9 + 3 * (2 + 9));
            }
        }
    });
}

#[test]
fn though_its_jobs_panic() {
    watchdog(|| {
        let (pool, count) = (pool(2), AtomicUsize::new(0));
        for _ in 0..100 {
            let payload: &str = caught(|| {
                pool.scope(|s| {
                    for i in 0..20 {
                        let count = &count;
                        s.spawn(move |s| {
                            s.spawn(|_| {
                                count.fetch_add(1, Ordering::Relaxed);
                            });
                            if i % 3 == 0 {
                                resume_unwind(Box::new("on purpose"));
                            }
                        });
                    }
                    resume_unwind(Box::new("on purpose"));
                });
            });
            assert_eq!((payload, count.swap(0, Ordering::Relaxed)), ("on purpose", 20));
        }
    });
}

#[test]
fn though_a_thread_that_was_adopted_has_spawned_and_gone() {
    watchdog(|| {
        let (pool, count) = (pool(1), AtomicUsize::new(0));
        pool.in_place_scope(|s| {
            thread::scope(|threads| {
                threads.spawn(|| {
                    let own = ThreadPoolBuilder::new()
                        .num_threads(1)
                        .use_current_thread()
                        .build()
                        .unwrap();
                    for _ in 0..5 {
                        s.spawn(|_| {
                            count.fetch_add(1, Ordering::Relaxed);
                        });
                    }
                    assert_eq!(own.current_thread_index(), Some(0), "it has spawned as a worker");
                });
            });
        });
        assert_eq!(count.into_inner(), 5);
    });
}

#[test]
fn though_it_has_opened_the_scope_on_a_thread_that_was_adopted() {
    watchdog_for_life(|| {
        let pool = ThreadPoolBuilder::new().num_threads(2).use_current_thread().build().unwrap();
        for jobs in [1, 2, 50, 500] {
            let count = AtomicUsize::new(0);
            let add = |_: &Scope<'_>| {
                count.fetch_add(1, Ordering::Relaxed);
            };
            pool.scope(|outer| {
                (0..jobs).for_each(|_| outer.spawn(add));
                drowse::scope(|inner| (0..jobs).for_each(|_| inner.spawn(|_| outer.spawn(add))));
                (0..jobs).for_each(|_| outer.spawn(add));
            });
            assert_eq!(count.into_inner(), 3 * jobs);
        }
    });
}
