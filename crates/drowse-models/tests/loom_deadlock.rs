//! The census of a pool, against its workers' sleep. That the pool is suspect is told at once, here
//! as in a pool: somebody must start the lookout. What the lookout makes of it is in
//! `loom_lookout`.
#![cfg(drowse_loom)]

use drowse_models::{
    MakeSleep, assert_nobody_counted, for_each_protocol, post_pushed, set_latch, with_preemptions,
};
use drowse_sleep::{Host, LatchWord, Mark, Sleep};
use drowse_sync::atomic::{AtomicBool, Ordering};
use drowse_sync::{Arc, Condvar, LightFences, Mutex, thread};
use std::time::Duration;

/// Worker 0 has nothing to do; worker 1 blocks.
struct Pool {
    sleep: Sleep,
    latch: LatchWord,
    suspicion: Arc<Suspicion>,
}

struct Suspicion {
    raised: Mutex<bool>,
    news: Condvar,
}

impl Pool {
    fn new(make: MakeSleep) -> Self {
        let suspicion = Arc::new(Suspicion { raised: Mutex::new(false), news: Condvar::new() });
        let raise = {
            let suspicion = Arc::clone(&suspicion);
            move |_| {
                *suspicion.raised.lock() = true;
                suspicion.news.notify_one();
                true
            }
        };
        Self {
            sleep: make(2).with_deadlock_detection(Duration::ZERO, raise),
            latch: LatchWord::new(),
            suspicion,
        }
    }
}

/// Worker 1 posts a job, which somebody else takes at once; then it blocks. Whatever becomes of
/// worker 0 meanwhile, which may be woken and sleep again: as soon as it sleeps for good, the pool
/// is suspect.
fn the_alarm_is_raised_once_the_other_sleeps(make: MakeSleep) {
    with_preemptions(3, move || {
        // A worker that posts has light fences: its deque sees to that.
        let _light = LightFences::get();
        let pool = Arc::new(Pool::new(make));
        let worker = thread::spawn({
            let pool = Arc::clone(&pool);
            move || {
                let mut idle = pool.sleep.start_looking(0);
                while !pool.latch.probe() {
                    pool.sleep.no_work_found(&mut idle, &pool.latch, &|| false);
                }
                pool.sleep.stop_looking(idle, || false);
            }
        });
        post_pushed(&pool.sleep);
        let mark = Mark::here(None);
        pool.sleep.mark_blocked(1, mark);
        let mut raised = pool.suspicion.raised.lock();
        while !*raised {
            raised = pool.suspicion.news.wait(raised);
        }
        drop(raised);
        pool.sleep.mark_unblocked(1, &mark);
        set_latch(&pool.sleep, 0, &pool.latch);
        worker.join().unwrap();
        assert_nobody_counted(&pool.sleep);
    });
}

/// Worker 1 blocks until worker 0 has run its job. Worker 0, asleep or about to be, is woken for it
/// before worker 1 blocks: there is always one who is active.
struct Halves {
    sleep: Sleep,
    latch: LatchWord,
    job: AtomicBool,
    done: Mutex<bool>,
    finished: Condvar,
}

impl Host for Halves {
    fn work_visible(&self) -> bool {
        self.job.load(Ordering::Relaxed)
    }
}

impl Halves {
    fn worker_0(&self) {
        let mut idle = self.sleep.start_looking(0);
        while !self.job.load(Ordering::Acquire) {
            self.sleep.no_work_found(&mut idle, &self.latch, self);
        }
        self.sleep.stop_looking(idle, || false);
        *self.done.lock() = true;
        self.finished.notify_one();
    }

    fn worker_1(&self) {
        self.job.store(true, Ordering::Release);
        post_pushed(&self.sleep);
        let mark = Mark::here(None);
        self.sleep.mark_blocked(1, mark);
        let mut done = self.done.lock();
        while !*done {
            done = self.finished.wait(done);
        }
        drop(done);
        self.sleep.mark_unblocked(1, &mark);
    }

    /// Runs both workers, and what a thread outside does meanwhile.
    fn run(make: MakeSleep, outside: impl FnOnce(&Sleep) + Send + 'static) {
        // A worker that posts has light fences: its deque sees to that.
        let _light = LightFences::get();
        let pool = Arc::new(Self {
            sleep: make(2).with_deadlock_detection(Duration::ZERO, |_| panic!("a false suspicion")),
            latch: LatchWord::new(),
            job: AtomicBool::new(false),
            done: Mutex::new(false),
            finished: Condvar::new(),
        });
        let worker = thread::spawn({
            let pool = Arc::clone(&pool);
            move || pool.worker_0()
        });
        let outsider = thread::spawn({
            let pool = Arc::clone(&pool);
            move || outside(&pool.sleep)
        });
        pool.worker_1();
        outsider.join().unwrap();
        worker.join().unwrap();
        assert_nobody_counted(&pool.sleep);
    }
}

fn there_is_no_alarm_while_the_other_is_being_woken(make: MakeSleep) {
    with_preemptions(3, move || Halves::run(make, |_| {}));
}

/// The one that worker 1 counts on is woken by somebody else: for a job that the pool was given
/// from outside, and that is gone already.
fn there_is_no_alarm_while_somebody_else_wakes_the_other(make: MakeSleep) {
    with_preemptions(2, move || Halves::run(make, |sleep| sleep.post_injected(1, &|| true)));
}

for_each_protocol!(
    the_alarm_is_raised_once_the_other_sleeps,
    there_is_no_alarm_while_the_other_is_being_woken,
    there_is_no_alarm_while_somebody_else_wakes_the_other
);
