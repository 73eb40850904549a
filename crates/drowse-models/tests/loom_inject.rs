//! Injected jobs against sleep.
#![cfg(drowse_loom)]

use drowse_models::{
    Board, EAGER, Parcel, SmallJec, assert_nobody_counted, every_interleaving, set_latch, wait_until,
    with_preemptions,
};
use drowse_sleep::LatchWord;
use drowse_sync::atomic::{AtomicUsize, Ordering};
use drowse_sync::{Arc, Queue, thread};

/// A pool whose jobs all come from outside. It ends when it has run them all.
struct Injected {
    jec: SmallJec,
    latches: Vec<LatchWord>,
    injector: Queue<Parcel>,
    left: AtomicUsize,
}

impl Injected {
    fn new(workers: usize, jobs: usize) -> Arc<Self> {
        Arc::new(Self {
            jec: SmallJec::new(workers, EAGER),
            latches: (0..workers).map(|_| LatchWord::new()).collect(),
            injector: Queue::new(),
            left: AtomicUsize::new(jobs),
        })
    }

    fn inject(&self) {
        let queue_was_empty = self.injector.is_empty();
        self.injector.push(Parcel::of(42));
        self.jec.post_injected(1, || queue_was_empty);
    }

    /// Gives up one reason for the pool to live. The last ends it.
    fn release(&self) {
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            for (worker, latch) in self.latches.iter().enumerate() {
                set_latch(&self.jec, worker, latch);
            }
        }
    }

    fn work(&self, worker: usize) {
        wait_until(&self.jec, worker, &self.latches[worker], self);
    }
}

impl Board for Injected {
    type Job = Parcel;

    fn find(&self, _worker: usize) -> Option<Parcel> {
        // The look before the lock is as weak as a look can be: a lock would order more than crossbeam's queue promises.
        if self.injector.is_empty() { None } else { self.injector.pop() }
    }

    fn work_visible(&self) -> bool {
        !self.injector.is_empty()
    }

    fn run(&self, _worker: usize, job: Parcel) {
        assert_eq!(job.take(), 42);
        self.release();
    }
}

#[test]
fn one_worker_runs_an_injected_job() {
    every_interleaving(|| {
        let pool = Injected::new(1, 1);
        let outside = thread::spawn({
            let pool = Arc::clone(&pool);
            move || pool.inject()
        });
        pool.work(0);
        outside.join().unwrap();
        assert_nobody_counted(&pool.jec);
    });
}

#[test]
fn one_worker_runs_two_injected_jobs() {
    with_preemptions(3, || {
        let pool = Injected::new(1, 2);
        let outside = thread::spawn({
            let pool = Arc::clone(&pool);
            move || {
                pool.inject();
                pool.inject();
            }
        });
        pool.work(0);
        outside.join().unwrap();
        assert_nobody_counted(&pool.jec);
    });
}

#[test]
fn two_workers_run_an_injected_job() {
    with_preemptions(2, || {
        let pool = Injected::new(2, 1);
        let worker = thread::spawn({
            let pool = Arc::clone(&pool);
            move || pool.work(1)
        });
        let outside = thread::spawn({
            let pool = Arc::clone(&pool);
            move || pool.inject()
        });
        pool.work(0);
        worker.join().unwrap();
        outside.join().unwrap();
        assert_nobody_counted(&pool.jec);
    });
}

/// A pool is dropped right after a job was spawned into it: both are reasons for it to live, and the last to go sets the
/// latch that the worker's main loop waits for.
#[test]
fn the_end_of_a_pool_comes_after_its_last_job() {
    with_preemptions(3, || {
        let pool = Injected::new(1, 2);
        let outside = thread::spawn({
            let pool = Arc::clone(&pool);
            move || {
                pool.inject();
                pool.release();
            }
        });
        pool.work(0);
        outside.join().unwrap();
        assert!(pool.injector.is_empty(), "the pool ended before its last job");
        assert_nobody_counted(&pool.jec);
    });
}
