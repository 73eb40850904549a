//! A working worker wakes another and sends it elsewhere: it holds the sleeper while it does
//! something to it.
#![cfg(drowse_loom)]

use drowse_models::{
    Board, Parcel, assert_nobody_counted, every_interleaving, post_pushed, set_latch, wait_until,
};
use drowse_sleep::{LatchWord, Policy, Sleep, SleepProtocol, Steering};
use drowse_sync::atomic::{AtomicU32, Ordering};
use drowse_sync::{Arc, LightFences, thread};

/// Worker 1 waits for a job, worker 0 posts it. The job sets the latch that worker 1 waits for.
struct Pool {
    sleep: Sleep,
    latch: LatchWord,
    job: Parcel,
    /// 1 while the job is to be had.
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

    fn run(&self, worker: usize, _job: ()) {
        assert_eq!(self.job.take(), 42);
        set_latch(&self.sleep, worker, &self.latch);
    }
}

/// Loom watches what the waker does to the sleeper, and the sleeper with it when it arrives: a cell
/// of their own.
#[test]
fn a_sleeper_arrives_when_it_was_let_go_and_not_before() {
    every_interleaving(|| {
        // A worker that posts has light fences: its deque sees to that.
        let _light = LightFences::get();
        let policy = Policy { rounds_until_sleepy: 0, ..Policy::default() };
        let pool = Arc::new(Pool {
            sleep: Sleep::new(2, SleepProtocol::default(), policy).with_steering(Steering::Always),
            latch: LatchWord::new(),
            job: Parcel::empty(),
            jobs: AtomicU32::new(0),
        });
        let sleeper = thread::spawn({
            let pool = Arc::clone(&pool);
            move || wait_until(&pool.sleep, 1, &pool.latch, &*pool)
        });
        pool.job.put(42);
        pool.jobs.store(1, Ordering::Release);
        post_pushed(&pool.sleep);
        sleeper.join().unwrap();
        assert_nobody_counted(&pool.sleep);
    });
}
