//! A worker that sleeps alone: until its latch is set, or somebody calls it.
#![cfg(drowse_loom)]

use drowse_models::{
    Board, Jobs, MakeSleep, Parcel, assert_nobody_counted, every_interleaving, for_protocols, set_latch,
    wait_until, with_preemptions,
};
use drowse_sleep::{LatchWord, Sleep};
use drowse_sync::{Arc, thread};

/// A pool of one worker that waits alone, or of two, where the other one does not. What is done for
/// the first one is in the parcel.
struct Pool {
    sleep: Sleep,
    latch: LatchWord,
    result: Parcel,
    /// For the first worker only.
    news: Jobs,
    /// For the other one.
    jobs: Jobs,
    home: LatchWord,
}

impl Board for Pool {
    type Job = ();

    fn find(&self, _worker: usize) -> Option<()> {
        self.jobs.take().then_some(())
    }

    fn work_visible(&self) -> bool {
        self.jobs.visible()
    }

    fn run(&self, worker: usize, _job: ()) {
        self.finish();
        set_latch(&self.sleep, worker, &self.home);
    }
}

impl Pool {
    fn new(make: MakeSleep, workers: usize) -> Arc<Self> {
        Arc::new(Self {
            sleep: make(workers),
            latch: LatchWord::new(),
            result: Parcel::empty(),
            news: Jobs::new(),
            jobs: Jobs::new(),
            home: LatchWord::new(),
        })
    }

    fn start(self: &Arc<Self>, work: fn(&Self)) -> thread::JoinHandle<()> {
        let pool = Arc::clone(self);
        thread::spawn(move || work(&pool))
    }

    /// Sets the latch that the first worker waits for.
    fn finish(&self) {
        self.result.put(42);
        set_latch(&self.sleep, 0, &self.latch);
    }

    /// Leaves something that the first worker alone may do.
    fn call(&self) {
        self.news.publish();
        self.sleep.call(0);
    }

    /// What `WorkerThread::wait_isolated` does, in short. `run` is told that there was news.
    fn wait_alone(&self, run: impl Fn()) {
        while !self.latch.probe() {
            if self.news.take() {
                run();
            } else {
                self.sleep.sleep_alone(0, &self.latch, &|| self.news.visible(), &|| false);
            }
        }
        assert_eq!(self.result.take(), 42);
    }
}

fn a_latch_that_is_set_wakes_it(make: MakeSleep) {
    every_interleaving(move || {
        let pool = Pool::new(make, 1);
        let setter = pool.start(Pool::finish);
        pool.wait_alone(|| unreachable!("there is no news"));
        setter.join().unwrap();
        assert!(!pool.sleep.sleeps_alone(0));
        assert_nobody_counted(&pool.sleep);
    });
}

fn a_call_wakes_it(make: MakeSleep) {
    every_interleaving(move || {
        let pool = Pool::new(make, 1);
        let caller = pool.start(Pool::call);
        pool.wait_alone(|| pool.finish());
        caller.join().unwrap();
        assert!(!pool.sleep.sleeps_alone(0));
        assert_nobody_counted(&pool.sleep);
    });
}

/// One that was called wakes for its latch all the same.
fn a_call_does_not_hide_the_latch(make: MakeSleep) {
    with_preemptions(3, move || {
        let pool = Pool::new(make, 1);
        let (caller, setter) = (pool.start(Pool::call), pool.start(Pool::finish));
        pool.wait_alone(|| ());
        caller.join().unwrap();
        setter.join().unwrap();
        assert_nobody_counted(&pool.sleep);
    });
}

/// No post relies on it: the other one is woken.
fn a_job_for_anybody_is_not_left_to_it(make: MakeSleep) {
    with_preemptions(2, move || {
        let pool = Pool::new(make, 2);
        let other = pool.start(|pool| wait_until(&pool.sleep, 1, &pool.home, pool));
        let poster = pool.start(|pool| pool.jobs.post(&pool.sleep));
        pool.wait_alone(|| unreachable!("there is no news"));
        poster.join().unwrap();
        other.join().unwrap();
        assert_nobody_counted(&pool.sleep);
    });
}

// To sleep alone has to do with the protocol only in what its latches are told otherwise.
for_protocols!(
    [sleepy, counters] a_latch_that_is_set_wakes_it,
    a_call_wakes_it,
    a_call_does_not_hide_the_latch,
    a_job_for_anybody_is_not_left_to_it
);
