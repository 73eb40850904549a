//! Jobs that one worker alone can run, against its sleep.
#![cfg(drowse_loom)]

use drowse_models::{
    Board, MakeSleep, Parcel, assert_nobody_counted, every_interleaving, for_each_protocol,
    set_latch, wait_until,
};
use drowse_sleep::{LatchWord, Sleep};
use drowse_sync::{Arc, Queue, thread};

/// A worker with a letter box.
struct Addressed {
    sleep: Sleep,
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
        set_latch(&self.sleep, worker, &self.latch);
    }
}

fn a_worker_runs_the_job_left_for_it(make: MakeSleep) {
    every_interleaving(move || {
        let pool =
            Arc::new(Addressed { sleep: make(1), latch: LatchWord::new(), letters: Queue::new() });
        let outside = thread::spawn({
            let pool = Arc::clone(&pool);
            move || {
                // What `Registry::inject_broadcast` does.
                pool.letters.push(Parcel::of(42));
                pool.sleep.post_broadcast();
            }
        });
        wait_until(&pool.sleep, 0, &pool.latch, &*pool);
        outside.join().unwrap();
        assert_nobody_counted(&pool.sleep);
    });
}

for_each_protocol!(a_worker_runs_the_job_left_for_it);
