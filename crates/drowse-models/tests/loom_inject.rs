//! Injected jobs against sleep.
#![cfg(drowse_loom)]

use drowse_models::{
    Board, MakeSleep, Parcel, assert_nobody_counted, every_interleaving, for_each_protocol,
    for_protocols, set_latch, wait_until, with_preemptions,
};
use drowse_sleep::{LatchWord, Sleep};
use drowse_sync::atomic::{AtomicUsize, Ordering};
use drowse_sync::{Arc, Queue, thread};

/// A pool whose jobs all come from outside. It ends when it has run them all.
struct Injected {
    sleep: Sleep,
    latches: Vec<LatchWord>,
    injector: Queue<Parcel>,
    left: AtomicUsize,
}

impl Injected {
    fn new(make: MakeSleep, workers: usize, jobs: usize) -> Arc<Self> {
        Arc::new(Self {
            sleep: make(workers),
            latches: (0..workers).map(|_| LatchWord::new()).collect(),
            injector: Queue::new(),
            left: AtomicUsize::new(jobs),
        })
    }

    fn inject(&self) {
        let queue_was_empty = self.injector.is_empty();
        self.injector.push(Parcel::of(42));
        self.sleep.post_injected(1, &|| queue_was_empty);
    }

    /// Gives up one reason for the pool to live. The last ends it.
    fn release(&self) {
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            for (worker, latch) in self.latches.iter().enumerate() {
                set_latch(&self.sleep, worker, latch);
            }
        }
    }

    fn work(&self, worker: usize) {
        wait_until(&self.sleep, worker, &self.latches[worker], self);
    }
}

impl Board for Injected {
    type Job = Parcel;

    fn find(&self, _worker: usize) -> Option<Parcel> {
        // The look before the lock is as weak as a look can be: a lock would order more than
        // crossbeam's queue promises.
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

fn one_worker_runs_an_injected_job(make: MakeSleep) {
    every_interleaving(move || {
        let pool = Injected::new(make, 1, 1);
        let outside = thread::spawn({
            let pool = Arc::clone(&pool);
            move || pool.inject()
        });
        pool.work(0);
        outside.join().unwrap();
        assert_nobody_counted(&pool.sleep);
    });
}

fn one_worker_runs_two_injected_jobs(make: MakeSleep) {
    with_preemptions(3, move || {
        let pool = Injected::new(make, 1, 2);
        let outside = thread::spawn({
            let pool = Arc::clone(&pool);
            move || {
                pool.inject();
                pool.inject();
            }
        });
        pool.work(0);
        outside.join().unwrap();
        assert_nobody_counted(&pool.sleep);
    });
}

fn two_workers_run_an_injected_job(make: MakeSleep) {
    with_preemptions(2, move || {
        let pool = Injected::new(make, 2, 1);
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
        assert_nobody_counted(&pool.sleep);
    });
}

/// A pool is dropped right after a job was spawned into it: both are reasons for it to live, and
/// the last to go sets the latch that the worker's main loop waits for.
fn the_end_of_a_pool_comes_after_its_last_job(make: MakeSleep) {
    with_preemptions(3, move || {
        let pool = Injected::new(make, 1, 2);
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
        assert_nobody_counted(&pool.sleep);
    });
}

for_each_protocol!(
    one_worker_runs_an_injected_job,
    one_worker_runs_two_injected_jobs,
    two_workers_run_an_injected_job,
    the_end_of_a_pool_comes_after_its_last_job
);

for_protocols!([sleepy_at_once] one_worker_runs_an_injected_job);
