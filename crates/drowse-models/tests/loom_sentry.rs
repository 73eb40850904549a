//! Whoever asks for a sentry, and finds nobody to make it of, wakes somebody after all.
#![cfg(drowse_loom)]

use drowse_models::with_preemptions;
use drowse_models::{
    Board, Jobs, MakeSleep, assert_nobody_counted, for_protocols, set_latch, wait_until,
};
use drowse_sleep::{LatchWord, Sleep};
use drowse_sync::atomic::{AtomicU32, Ordering};
use drowse_sync::{Arc, thread};

/// Worker 0 is active, and does not care; there is no room for another one. Worker 1 runs two jobs.
struct Pool {
    sleep: Sleep,
    over: LatchWord,
    jobs: Jobs,
    done: AtomicU32,
}

impl Board for Pool {
    type Job = ();

    fn find(&self, _worker: usize) -> Option<()> {
        self.jobs.take().then_some(())
    }

    fn work_visible(&self) -> bool {
        self.jobs.visible()
    }

    fn run(&self, _worker: usize, _job: ()) {
        if self.done.fetch_add(1, Ordering::Relaxed) == 1 {
            set_latch(&self.sleep, 1, &self.over);
        }
    }
}

/// The first one to post finds the worker on its way to sleep, takes it for nobody, and is slow to
/// say so. The worker runs the job, and falls asleep. Whoever posts the second job relies on the
/// first one.
fn a_post_that_relied_on_one_who_found_no_sentry_is_not_lost(make: MakeSleep) {
    with_preemptions(3, move || {
        let pool = Arc::new(Pool {
            sleep: make(2),
            over: LatchWord::new(),
            jobs: Jobs::new(),
            done: AtomicU32::new(0),
        });
        let start = |work: fn(&Pool)| {
            let pool = Arc::clone(&pool);
            thread::spawn(move || work(&pool))
        };
        let worker = start(|pool| wait_until(&pool.sleep, 1, &pool.over, pool));
        let other = start(|pool| pool.jobs.post(&pool.sleep));
        pool.jobs.post(&pool.sleep);
        other.join().unwrap();
        worker.join().unwrap();
        assert_nobody_counted(&pool.sleep);
    });
}

for_protocols!([relay] a_post_that_relied_on_one_who_found_no_sentry_is_not_lost);
