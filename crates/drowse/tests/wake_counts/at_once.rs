//! Jobs that are posted at once: whom that wakes, against the same jobs one by one.
//!
//! All of it is exact. Those who are woken are held back until the last of them is: otherwise the
//! first may have found its job before the second is counted as awake, and passes the baton.

use crate::common::books::{assert_wakes, at_rest, since};
use crate::common::watchdog;
use crate::{FRUGAL, IN_BLOCKS, WIDTH, builder, everything};
use drowse::{Counters, Metrics, Reason, Scope, SleepProtocol, ThreadPool};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Barrier, RwLock, RwLockWriteGuard};

const JOBS: usize = 3;
/// More than one batch, and not a multiple of one.
const MANY: usize = 100;

/// A pool that sleeps, and a gate that whoever wakes must pass before it searches.
struct Gated {
    pool: ThreadPool,
    gate: Arc<RwLock<()>>,
}

impl Gated {
    #[track_caller]
    fn new(protocol: SleepProtocol) -> Arc<Self> {
        let gate = Arc::new(RwLock::new(()));
        let pass = Arc::clone(&gate);
        let builder = builder(protocol).acquire_thread_handler(move || drop(pass.read().unwrap()));
        let pool = builder.build().unwrap();
        at_rest(&pool, WIDTH);
        Arc::new(Self { pool, gate })
    }

    /// From outside: what the jobs did to the pool. Nobody gets through the gate while they are
    /// posted.
    #[track_caller]
    fn post_from_outside(&self, jobs: Jobs, post: impl FnOnce(&ThreadPool, Vec<Body>)) -> Metrics {
        let (before, count) = (at_rest(&self.pool, WIDTH), jobs.bodies.len());
        let closed = self.gate.write().unwrap();
        post(&self.pool, jobs.bodies);
        drop(closed);
        assert_eq!(jobs.done.iter().count(), count, "each runs once");
        since(&self.pool, &before)
    }

    /// From a worker that does not help, unless `post` does: what the jobs did to the rest of the
    /// pool. `post` opens the gate.
    #[track_caller]
    fn post_from_a_worker(
        self: &Arc<Self>,
        jobs: Jobs,
        post: fn(Vec<Body>, Closed<'_>),
    ) -> Metrics {
        let ((go, gone), (report, reports)) = (mpsc::channel::<()>(), mpsc::channel());
        let this = Arc::clone(self);
        self.pool.spawn(move || {
            // Until the thread outside has counted the one it woke for us.
            gone.recv().unwrap();
            let (before, count) = (at_rest(&this.pool, WIDTH - 1), jobs.bodies.len());
            post(jobs.bodies, this.gate.write().unwrap());
            assert_eq!(jobs.done.iter().count(), count, "each runs once");
            report.send(since(&this.pool, &before)).unwrap();
        });
        go.send(()).unwrap();
        let work = reports.recv().unwrap();
        at_rest(&self.pool, WIDTH);
        work
    }
}

type Closed<'a> = RwLockWriteGuard<'a, ()>;
type Body = Box<dyn FnOnce() + Send>;

/// Jobs, and what they send when they are done.
struct Jobs {
    bodies: Vec<Body>,
    done: Receiver<()>,
}

impl Jobs {
    /// The first `meeting` to start wait until so many have. So none of these is run by a worker
    /// that has run another.
    fn new(count: usize, meeting: usize) -> Self {
        let (all_here, (sender, done)) = (Arc::new(Barrier::new(meeting)), mpsc::channel());
        let started = Arc::new(AtomicUsize::new(0));
        let bodies = (0..count).map(|_| {
            let (started, all_here, sender) =
                (Arc::clone(&started), Arc::clone(&all_here), sender.clone());
            Box::new(move || {
                if started.fetch_add(1, Ordering::SeqCst) < meeting {
                    all_here.wait();
                }
                sender.send(()).unwrap();
            }) as Body
        });
        Self { bodies: bodies.collect(), done }
    }
}

fn three() -> Jobs {
    Jobs::new(JOBS, JOBS)
}

/// One for each job, since nobody searches. None of them for nothing, and none by way of another.
#[test]
fn from_outside_they_wake_one_each() {
    watchdog(|| {
        for protocol in FRUGAL {
            let gated = Gated::new(protocol);
            for _ in 0..20 {
                let work = gated.post_from_outside(three(), |pool, jobs| pool.spawn_all(jobs));
                assert_wakes(&work, &[(Reason::Job, 3)]);
                let all = work.total();
                assert_eq!((all.injected, all.steals, all.sleep.sleeps), (3, 0, 3), "{work}");
                assert_eq!((all.sleep.kept_awake, all.sleep.fruitless), (0, 0), "{work}");
            }
        }
    });
}

/// Likewise: nobody knows that the worker which posts them may take one itself later on.
#[test]
fn from_a_worker_they_wake_one_each() {
    watchdog(|| {
        for protocol in FRUGAL {
            let gated = Gated::new(protocol);
            for _ in 0..20 {
                let work =
                    gated.post_from_a_worker(three(), |jobs, _closed| drowse::spawn_all(jobs));
                assert_wakes(&work, &[(Reason::Job, 3)]);
                let all = work.total();
                assert_eq!((all.injected, all.steals, all.sleep.sleeps), (0, 3, 3), "{work}");
                assert_eq!((all.sleep.kept_awake, all.sleep.fruitless), (0, 0), "{work}");
            }
        }
    });
}

/// A scope helps while it waits: it takes one of the three, and one was woken for nothing; or all
/// are stolen, and it may sleep until its latch is set.
#[test]
fn from_a_scope_that_helps_they_wake_one_each() {
    watchdog(|| {
        for protocol in FRUGAL {
            let gated = Gated::new(protocol);
            let work = gated.post_from_a_worker(three(), |jobs, closed| {
                drowse::in_place_scope(|s| {
                    s.spawn_all(jobs.into_iter().map(|job| move |_: &Scope<'_>| job()));
                    drop(closed);
                });
            });
            let latches = work.total().sleep.wakes(Reason::Latch);
            assert!(latches <= 1, "{work}");
            assert_wakes(&work, &[(Reason::Job, 3), (Reason::Latch, latches)]);
        }
    });
}

/// One by one it is another matter: the first one is as good as searching when the next job comes,
/// and each that finds a job wakes the next.
#[test]
fn one_by_one_they_wake_one_that_wakes_the_others() {
    watchdog(|| {
        let gated = Gated::new(SleepProtocol::Counters(Counters::default()));
        for _ in 0..20 {
            let work = gated.post_from_outside(three(), |pool, jobs| {
                jobs.into_iter().for_each(|job| pool.spawn(job));
            });
            assert_wakes(&work, &[(Reason::Job, 1), (Reason::Baton, 2)]);
        }
    });
}

/// Four in either case: from a worker, that one is awake already.
#[test]
fn in_blocks_they_wake_up_to_the_next_power_of_two() {
    watchdog(|| {
        for protocol in IN_BLOCKS {
            let gated = Gated::new(protocol);
            let work = gated.post_from_outside(three(), |pool, jobs| pool.spawn_all(jobs));
            assert_wakes(&work, &[(Reason::Job, 4)]);
            assert_eq!(work.total().sleep.fruitless, 1, "{work}");
            let work = gated.post_from_a_worker(three(), |jobs, _closed| drowse::spawn_all(jobs));
            assert_wakes(&work, &[(Reason::Job, 3)]);
        }
    });
}

/// More jobs than workers: everybody once, and they stay awake until all is done.
#[test]
fn more_than_there_are_workers_wake_everybody_once() {
    watchdog(|| {
        for protocol in everything() {
            let gated = Gated::new(protocol);
            let jobs = Jobs::new(MANY, WIDTH);
            let work = gated.post_from_outside(jobs, |pool, jobs| pool.spawn_all(jobs));
            assert_wakes(&work, &[(Reason::Job, WIDTH as u64)]);
            assert_eq!(work.total().injected, MANY as u64, "{work}");
            let work = gated.post_from_a_worker(Jobs::new(MANY, WIDTH - 1), |jobs, _closed| {
                drowse::spawn_all(jobs)
            });
            assert_wakes(&work, &[(Reason::Job, WIDTH as u64 - 1)]);
            assert_eq!(work.total().steals, MANY as u64, "{work}");
        }
    });
}

/// Nothing is posted, nobody is woken.
#[test]
fn none_at_all_wake_nobody() {
    watchdog(|| {
        for protocol in everything() {
            let gated = Gated::new(protocol);
            let none = || Jobs::new(0, 1);
            let outside = gated.post_from_outside(none(), |pool, jobs| pool.spawn_all(jobs));
            assert_wakes(&outside, &[]);
            assert_wakes(
                &gated.post_from_a_worker(none(), |jobs, _closed| drowse::spawn_all(jobs)),
                &[],
            );
        }
    });
}
