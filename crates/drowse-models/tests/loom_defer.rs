//! Wakes that are deferred, and the threads that resume them.
#![cfg(drowse_loom)]

use drowse_models::{
    Board, Jobs, MakeSleep, Parcel, assert_nobody_counted, for_protocols, post_pushed, roomy_relay,
    set_latch, some_with_preemptions, wait_until, with_preemptions,
};
use drowse_sleep::{LatchWord, Pause, Policy, Relay, Sleep};
use drowse_sync::atomic::{AtomicU32, Ordering};
use drowse_sync::{Arc, LightFences, hint, thread};

/// Worker 0 is active, posts a job, and does not run it. Worker 1 does.
struct Pool {
    sleep: Sleep,
    over: LatchWord,
    jobs: Jobs,
    /// Set by the job, where worker 0 waits for it.
    of_poster: Option<LatchWord>,
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
        if let Some(latch) = &self.of_poster {
            set_latch(&self.sleep, 0, latch);
        }
        set_latch(&self.sleep, worker, &self.over);
    }
}

impl Pool {
    fn new(sleep: Sleep) -> Arc<Self> {
        Arc::new(Self { sleep, over: LatchWord::new(), jobs: Jobs::new(), of_poster: None })
    }

    fn with_poster_that_waits(sleep: Sleep) -> Arc<Self> {
        let of_poster = Some(LatchWord::new());
        Arc::new(Self { sleep, over: LatchWord::new(), jobs: Jobs::new(), of_poster })
    }

    fn start(self: &Arc<Self>, work: fn(&Self)) -> thread::JoinHandle<()> {
        let pool = Arc::clone(self);
        thread::spawn(move || work(&pool))
    }
}

/// A thread outside defers the wakes, and resumes them at some time or other.
fn what_is_posted_meanwhile_is_looked_after(make: MakeSleep) {
    with_preemptions(3, move || {
        let pool = Pool::new(make(2));
        let worker = pool.start(|pool| wait_until(&pool.sleep, 1, &pool.over, pool));
        let caller = pool.start(|pool| {
            if pool.sleep.defer_wakes() {
                pool.sleep.resume_wakes(|| pool.work_visible());
            }
        });
        pool.jobs.post_as_worker(&pool.sleep);
        caller.join().unwrap();
        worker.join().unwrap();
        assert_nobody_counted(&pool.sleep);
    });
}

/// The thread outside that defers the wakes does not look before worker 0 is done, which waits,
/// alone, for the job that it has posted.
fn a_worker_that_sleeps_alone_resumes_wakes_first(make: MakeSleep) {
    with_preemptions(3, move || {
        let pool = Pool::with_poster_that_waits(make(2));
        let worker = pool.start(|pool| wait_until(&pool.sleep, 1, &pool.over, pool));
        let caller = pool.start(|pool| _ = pool.sleep.defer_wakes());
        pool.jobs.post_as_worker(&pool.sleep);
        let latch = pool.of_poster.as_ref().unwrap();
        while !latch.probe() {
            pool.sleep.sleep_alone(0, latch, &|| false, &|| pool.work_visible());
        }
        caller.join().unwrap();
        worker.join().unwrap();
        pool.sleep.resume_wakes(|| pool.work_visible());
        assert_nobody_counted(&pool.sleep);
    });
}

/// The worker that sleeps keeps the door, for a while.
fn a_doorkeeper_sees_what_is_posted(make: MakeSleep) {
    with_preemptions(3, move || {
        let pool = Pool::new(make(2).with_guests());
        pool.sleep.note_guest();
        let worker = pool.start(|pool| wait_until(&pool.sleep, 1, &pool.over, pool));
        pool.jobs.post_as_worker(&pool.sleep);
        worker.join().unwrap();
        assert_nobody_counted(&pool.sleep);
    });
}

/// The change of the word alone shows the guarantor what was written before the post. (The poster's
/// fence would hide that. It is left out here, as a light fence is none to a processor.)
#[test]
fn a_post_that_relies_needs_no_fence() {
    with_preemptions(3, || {
        let (pool, job) = (Pool::new(roomy_relay(2)), Arc::new(AtomicU32::new(0)));
        let worker = pool.start(|pool| wait_until(&pool.sleep, 1, &pool.over, pool));
        while pool.sleep.sleeping() == 0 {
            hint::spin_loop();
        }
        assert!(pool.sleep.defer_wakes());
        let guarantor = thread::spawn({
            let (pool, job) = (Arc::clone(&pool), Arc::clone(&job));
            move || {
                if pool.sleep.resume_wakes(|| false) {
                    // ORDERING: relaxed; `Word::rely` has released it.
                    assert_eq!(job.load(Ordering::Relaxed), 1, "a post has relied on this thread");
                }
            }
        });
        // ORDERING: relaxed; as above.
        job.store(1, Ordering::Relaxed);
        pool.sleep.post(1, &|| false);
        guarantor.join().unwrap();
        set_latch(&pool.sleep, 1, &pool.over);
        worker.join().unwrap();
        assert_nobody_counted(&pool.sleep);
    });
}

/// As the protocol is, but with room for two.
mod with_room {
    #[test]
    fn what_is_posted_meanwhile_is_looked_after() {
        super::what_is_posted_meanwhile_is_looked_after(super::roomy_relay);
    }

    #[test]
    fn a_worker_that_sleeps_alone_resumes_wakes_first() {
        super::a_worker_that_sleeps_alone_resumes_wakes_first(super::roomy_relay);
    }

    #[test]
    fn a_doorkeeper_sees_what_is_posted() {
        super::a_doorkeeper_sees_what_is_posted(super::roomy_relay);
    }
}

const EAGER: Policy = Policy {
    rounds_until_sleepy: 0,
    rounds_while_sleepy: 0,
    rounds_on_watch: 0,
    pause: Pause::Spin(0),
};

/// A pool of three with a deque of one item: a job that its owner takes back, or one that worker 1
/// is to run.
struct Deque {
    sleep: Sleep,
    over: LatchWord,
    job: Parcel,
    item: AtomicU32,
}

const EMPTY: u32 = 0;
const TAKEN_BACK: u32 = 1;
const WANTED: u32 = 2;

impl Board for Deque {
    type Job = u32;

    fn find(&self, _worker: usize) -> Option<u32> {
        let item = self.item.load(Ordering::Relaxed);
        let take = || self.item.compare_exchange(item, EMPTY, Ordering::Acquire, Ordering::Relaxed);
        (item != EMPTY && take().is_ok()).then_some(item)
    }

    fn work_visible(&self) -> bool {
        self.item.load(Ordering::Relaxed) != EMPTY
    }

    fn run(&self, _worker: usize, job: u32) {
        if job == WANTED {
            assert_eq!(self.job.take(), 42);
            set_latch(&self.sleep, 1, &self.over);
        }
    }
}

/// A worker pushes a job, takes it back, and pushes another. Meanwhile worker 1 falls asleep, and
/// worker 0, the last one that searches, sees the first job and relies on the guarantor.
/// Some of the schedules: all of them take minutes.
#[test]
fn a_job_behind_another_is_looked_after() {
    some_with_preemptions(2, 60_000, || {
        let _light = LightFences::get();
        let pool = Arc::new(Deque {
            sleep: Sleep::with(3, Box::new(Relay), EAGER).with_room(3),
            over: LatchWord::new(),
            job: Parcel::empty(),
            item: AtomicU32::new(EMPTY),
        });
        assert!(pool.sleep.defer_wakes());
        let start = |work: fn(&Deque)| {
            let pool = Arc::clone(&pool);
            thread::spawn(move || work(&pool))
        };
        let threads = [
            start(|pool| {
                let idle = pool.sleep.start_looking(0);
                pool.sleep.stop_looking(idle, || pool.work_visible());
            }),
            start(|pool| wait_until(&pool.sleep, 1, &pool.over, pool)),
            start(|pool| _ = pool.sleep.resume_wakes(|| pool.work_visible())),
        ];
        pool.item.store(TAKEN_BACK, Ordering::Release);
        post_pushed(&pool.sleep);
        let _ = pool.item.compare_exchange(TAKEN_BACK, EMPTY, Ordering::Release, Ordering::Relaxed);
        pool.job.put(42);
        pool.item.store(WANTED, Ordering::Release);
        post_pushed(&pool.sleep);
        for thread in threads {
            thread.join().unwrap();
        }
        assert_nobody_counted(&pool.sleep);
    });
}

for_protocols!(
    [relay] what_is_posted_meanwhile_is_looked_after, a_worker_that_sleeps_alone_resumes_wakes_first
);
