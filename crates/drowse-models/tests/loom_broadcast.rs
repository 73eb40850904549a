//! Jobs that one worker alone can run, against its sleep.
#![cfg(drowse_loom)]

use drowse_models::{
    Board, EAGER, Parcel, SmallJec, assert_nobody_counted, every_interleaving, set_latch, wait_until,
};
use drowse_sleep::LatchWord;
use drowse_sync::{Arc, Queue, full_fence, thread};

/// A worker with a letter box.
struct Addressed {
    jec: SmallJec,
    latch: LatchWord,
    letters: Queue<Parcel>,
}

impl Board for Addressed {
    type Job = Parcel;

    fn find(&self, _worker: usize) -> Option<Parcel> {
        // The look before the lock: a lock would order more than crossbeam's queue promises.
        if self.letters.is_empty() { None } else { self.letters.pop() }
    }

    fn work_visible(&self) -> bool {
        false
    }

    fn has_letter(&self, _worker: usize) -> bool {
        !self.letters.is_empty()
    }

    fn run(&self, worker: usize, job: Parcel) {
        assert_eq!(job.take(), 42);
        set_latch(&self.jec, worker, &self.latch);
    }
}

#[test]
fn a_worker_runs_the_job_left_for_it() {
    every_interleaving(|| {
        let pool = Arc::new(Addressed {
            jec: SmallJec::new(1, EAGER),
            latch: LatchWord::new(),
            letters: Queue::new(),
        });
        let outside = thread::spawn({
            let pool = Arc::clone(&pool);
            move || {
                // What `Registry::inject_broadcast` does.
                pool.letters.push(Parcel::of(42));
                full_fence();
                pool.jec.wake_worker(0);
            }
        });
        wait_until(&pool.jec, 0, &pool.latch, &*pool);
        outside.join().unwrap();
        assert_nobody_counted(&pool.jec);
    });
}
