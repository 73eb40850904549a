//! The baton: a post counts on a worker that searches, and the worker stops searching.
#![cfg(drowse_loom)]

use drowse_models::{
    Board, MakeSleep, Parcel, assert_nobody_counted, for_each_protocol, post_pushed, set_latch,
    wait_until, with_preemptions,
};
use drowse_sleep::{LatchWord, Sleep};
use drowse_sync::atomic::{AtomicU32, Ordering};
use drowse_sync::{Arc, LightFences, thread};

/// Worker 0 searches, worker 1 sleeps; worker 2, if there is one, posts a job. The job sets the
/// latch that worker 1 waits for.
struct Pool {
    sleep: Sleep,
    latches: [LatchWord; 2],
    job: Parcel,
    /// 1 while the job is to be had. As weak as a deque: publishing is a release, looking orders
    /// nothing.
    jobs: AtomicU32,
}

impl Pool {
    fn new(make: MakeSleep, workers: usize) -> Arc<Self> {
        Arc::new(Self {
            sleep: make(workers),
            latches: [LatchWord::new(), LatchWord::new()],
            job: Parcel::empty(),
            jobs: AtomicU32::new(0),
        })
    }

    fn start(self: &Arc<Self>, worker: usize) -> thread::JoinHandle<()> {
        let pool = Arc::clone(self);
        thread::spawn(move || wait_until(&pool.sleep, worker, &pool.latches[worker], &*pool))
    }

    /// Starts a worker that searches, for a moment only.
    fn start_searcher(self: &Arc<Self>) -> thread::JoinHandle<()> {
        let pool = Arc::clone(self);
        thread::spawn(move || {
            let idle = pool.sleep.start_looking(0);
            pool.sleep.stop_looking(idle, || pool.work_visible());
        })
    }

    fn publish(&self) {
        self.job.put(42);
        self.jobs.store(1, Ordering::Release);
    }

    fn end_wait_of(&self, worker: usize) {
        set_latch(&self.sleep, worker, &self.latches[worker]);
    }
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
        self.end_wait_of(1);
    }
}

fn a_searcher_whose_latch_is_set_passes_the_baton(make: MakeSleep) {
    with_preemptions(2, move || {
        // A worker that posts has light fences: its deque sees to that.
        let _light = LightFences::get();
        let pool = Pool::new(make, 3);
        let (searcher, sleeper) = (pool.start(0), pool.start(1));
        pool.end_wait_of(0);
        pool.publish();
        post_pushed(&pool.sleep);
        searcher.join().unwrap();
        sleeper.join().unwrap();
        assert_nobody_counted(&pool.sleep);
    });
}

/// There are two posts. The second finds the counter odd already, and worker 0 searching: it has
/// nothing to write that worker 0 could acquire. Only the fences on both sides show worker 0 the
/// job as it leaves.
fn a_searcher_sees_the_second_job(make: MakeSleep, workers: usize, post: fn(&Sleep)) {
    with_preemptions(2, move || {
        // A worker that posts has light fences: its deque sees to that. A thread outside has none.
        let _light = (workers > 2).then(LightFences::get);
        let pool = Pool::new(make, workers);
        let (searcher, sleeper) = (pool.start_searcher(), pool.start(1));
        // For a job that somebody took at once.
        post(&pool.sleep);
        pool.publish();
        post(&pool.sleep);
        searcher.join().unwrap();
        sleeper.join().unwrap();
        assert_nobody_counted(&pool.sleep);
    });
}

/// A light fence in the post, a heavy one where the baton is passed.
fn a_searcher_sees_the_second_job_of_a_worker(make: MakeSleep) {
    a_searcher_sees_the_second_job(make, 3, post_pushed);
}

/// Full fences on both sides.
fn a_searcher_sees_the_second_job_from_outside(make: MakeSleep) {
    a_searcher_sees_the_second_job(make, 2, |sleep| sleep.post_injected(1, &|| true));
}

for_each_protocol!(
    a_searcher_whose_latch_is_set_passes_the_baton,
    a_searcher_sees_the_second_job_of_a_worker,
    a_searcher_sees_the_second_job_from_outside
);
