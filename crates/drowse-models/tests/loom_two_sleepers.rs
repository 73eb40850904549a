//! Two workers fall asleep side by side while a third one posts a job: whoever is the last must not
//! overlook it.
#![cfg(drowse_loom)]

use drowse_models::{
    Board, MakeSleep, Parcel, assert_nobody_counted, for_protocols, post_pushed, set_latch,
    wait_until, with_preemptions,
};
use drowse_sleep::{LatchWord, Sleep};
use drowse_sync::atomic::{AtomicU32, Ordering};
use drowse_sync::{Arc, LightFences, thread};

struct Pool {
    sleep: Sleep,
    /// Of workers 0 and 1. The job sets both.
    latches: [LatchWord; 2],
    job: Parcel,
    /// 1 while the job is to be had. As weak as a deque: publishing is a release, looking orders
    /// nothing.
    jobs: AtomicU32,
}

impl Board for Pool {
    type Job = ();

    fn find(&self, _worker: usize) -> Option<()> {
        let found = self.work_visible()
            && self.jobs.compare_exchange(1, 0, Ordering::Acquire, Ordering::Relaxed).is_ok();
        found.then_some(())
    }

    fn work_visible(&self) -> bool {
        self.jobs.load(Ordering::Relaxed) == 1
    }

    fn run(&self, _worker: usize, _job: ()) {
        assert_eq!(self.job.take(), 42);
        (0..2).for_each(|worker| set_latch(&self.sleep, worker, &self.latches[worker]));
    }
}

fn one_of_them_runs_the_job(make: MakeSleep) {
    with_preemptions(2, move || {
        // A worker that posts has light fences: its deque sees to that.
        let _light = LightFences::get();
        let pool = Arc::new(Pool {
            sleep: make(3),
            latches: [LatchWord::new(), LatchWord::new()],
            job: Parcel::empty(),
            jobs: AtomicU32::new(0),
        });
        let sleepers = [0, 1].map(|worker| {
            let pool = Arc::clone(&pool);
            thread::spawn(move || wait_until(&pool.sleep, worker, &pool.latches[worker], &*pool))
        });
        pool.job.put(42);
        pool.jobs.store(1, Ordering::Release);
        post_pushed(&pool.sleep);
        for sleeper in sleepers {
            sleeper.join().unwrap();
        }
        assert_nobody_counted(&pool.sleep);
    });
}

// `relay` has the same fences and the same looks as `counters`.
for_protocols!([sleepy, counters, jec] one_of_them_runs_the_job);
