//! A worker whose last look shows it a job leaves its slot: nobody takes it for a sleeper any more.
#![cfg(drowse_loom)]

use drowse_models::{Jobs, MakeSleep, for_protocols, set_latch, with_preemptions};
use drowse_sleep::{LatchWord, Sleep};
use drowse_sync::atomic::{AtomicU32, Ordering};
use drowse_sync::{Arc, thread};

/// Two workers and two jobs, one after the other.
struct Pool {
    sleep: Sleep,
    latches: [LatchWord; 2],
    jobs: Jobs,
    done: AtomicU32,
}

impl Pool {
    /// Searches, and sleeps, until there is one job or the latch is set. The second job ends it
    /// all.
    fn run_one(&self, worker: usize) {
        let latch = &self.latches[worker];
        let mut idle = self.sleep.start_looking(worker);
        let mut found = false;
        while !found && !latch.probe() {
            found = self.jobs.take();
            if !found {
                self.sleep.no_work_found(&mut idle, latch, &|| self.jobs.visible());
            }
        }
        self.sleep.stop_looking(idle, || self.jobs.visible());
        if found && self.done.fetch_add(1, Ordering::Relaxed) == 1 {
            set_latch(&self.sleep, 1, &self.latches[1]);
        }
    }
}

/// Worker 0 comes and goes, with the first job or without. The second job is for worker 1, asleep
/// or not.
fn the_next_post_wakes_who_sleeps(make: MakeSleep) {
    with_preemptions(2, move || {
        let pool = Arc::new(Pool {
            sleep: make(2),
            latches: [LatchWord::new(), LatchWord::new()],
            jobs: Jobs::new(),
            done: AtomicU32::new(0),
        });
        let start = |work: fn(&Pool)| {
            let pool = Arc::clone(&pool);
            thread::spawn(move || work(&pool))
        };
        let comes_and_goes = start(|pool| pool.run_one(0));
        let stays = start(|pool| {
            while !pool.latches[1].probe() {
                pool.run_one(1);
            }
        });
        pool.jobs.post(&pool.sleep);
        set_latch(&pool.sleep, 0, &pool.latches[0]);
        comes_and_goes.join().unwrap();
        pool.jobs.post(&pool.sleep);
        stays.join().unwrap();
        assert_eq!(pool.done.load(Ordering::Relaxed), 2);
    });
}

for_protocols!([counters] the_next_post_wakes_who_sleeps);
