//! The baton: a post counts on a worker that searches, and the worker stops searching.
#![cfg(drowse_loom)]

use drowse_models::{
    Board, EAGER, Parcel, SmallJec, assert_nobody_counted, set_latch, wait_until, with_preemptions,
};
use drowse_sleep::LatchWord;
use drowse_sync::atomic::{AtomicU32, Ordering};
use drowse_sync::{Arc, thread};

/// A place for one job. As weak as a deque: publishing it is a release, looking for it orders nothing.
struct Slot {
    state: AtomicU32,
    job: Parcel,
}

impl Slot {
    fn new() -> Self {
        Self { state: AtomicU32::new(0), job: Parcel::empty() }
    }

    fn publish(&self) {
        self.job.put(42);
        self.state.store(1, Ordering::Release);
    }

    fn is_empty(&self) -> bool {
        self.state.load(Ordering::Relaxed) != 1
    }

    fn take(&self) -> bool {
        let taken = !self.is_empty()
            && self.state.compare_exchange(1, 2, Ordering::Acquire, Ordering::Relaxed).is_ok();
        if taken {
            assert_eq!(self.job.take(), 42);
        }
        taken
    }
}

/// Worker 0, or a thread of no pool, posts. Worker 1 waits for the first job, worker 2 for the second.
struct Pool {
    jec: SmallJec,
    latches: [LatchWord; 3],
    jobs: [Slot; 2],
}

impl Pool {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            jec: SmallJec::new(3, EAGER),
            latches: [LatchWord::new(), LatchWord::new(), LatchWord::new()],
            jobs: [Slot::new(), Slot::new()],
        })
    }

    fn start(self: &Arc<Self>, worker: usize) -> thread::JoinHandle<()> {
        let pool = Arc::clone(self);
        thread::spawn(move || wait_until(&pool.jec, worker, &pool.latches[worker], &*pool))
    }

    fn end_wait_of(&self, worker: usize) {
        set_latch(&self.jec, worker, &self.latches[worker]);
    }
}

impl Board for Pool {
    /// Which of the two.
    type Job = usize;

    fn find(&self, _worker: usize) -> Option<usize> {
        self.jobs.iter().position(Slot::take)
    }

    fn work_visible(&self) -> bool {
        self.jobs.iter().any(|job| !job.is_empty())
    }

    fn run(&self, _worker: usize, job: usize) {
        self.end_wait_of(job + 1);
    }
}

/// Worker 0 posts the second job when worker 1, which searches, has no reason to go on: its latch is set.
#[test]
fn a_searcher_whose_latch_is_set_passes_the_baton() {
    with_preemptions(2, || {
        let pool = Pool::new();
        let workers = [pool.start(1), pool.start(2)];
        pool.end_wait_of(1);
        pool.jobs[1].publish();
        pool.jec.post(1, || true);
        for worker in workers {
            worker.join().unwrap();
        }
        assert_nobody_counted(&pool.jec);
    });
}

/// Worker 0 posts two jobs. The second post finds the counter odd already, and worker 1 searching: it has
/// nothing to write that worker 1 could acquire. Only the fences on both sides show worker 1 the second job as
/// it leaves with the first.
#[test]
fn a_searcher_that_finds_one_job_sees_the_next() {
    with_preemptions(2, || {
        let pool = Pool::new();
        let searcher = thread::spawn({
            let pool = Arc::clone(&pool);
            move || {
                let idle = pool.jec.start_looking(1);
                let found = pool.find(1);
                pool.jec.stop_looking(idle, || pool.work_visible());
                if let Some(job) = found {
                    pool.run(1, job);
                }
            }
        });
        let sleeper = pool.start(2);
        for job in &pool.jobs {
            job.publish();
            pool.jec.post(1, || true);
        }
        searcher.join().unwrap();
        sleeper.join().unwrap();
        assert_nobody_counted(&pool.jec);
    });
}
