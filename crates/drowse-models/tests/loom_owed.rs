//! Wakes that are owed, and who pays for them.
#![cfg(drowse_loom)]

use drowse_models::{
    Board, Jobs, MakeSleep, assert_nobody_counted, for_protocols, roomy_relay, set_latch,
    wait_until, with_preemptions,
};
use drowse_sleep::{LatchWord, Sleep};
use drowse_sync::{Arc, thread};

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

/// Somebody outside owes, and pays at some time or other.
fn what_is_posted_meanwhile_is_paid_for(make: MakeSleep) {
    with_preemptions(3, move || {
        let pool = Pool::new(make(2));
        let worker = pool.start(|pool| wait_until(&pool.sleep, 1, &pool.over, pool));
        let caller = pool.start(|pool| {
            if pool.sleep.owe() {
                pool.sleep.pay(|| pool.work_visible());
            }
        });
        pool.jobs.post_as_worker(&pool.sleep);
        caller.join().unwrap();
        worker.join().unwrap();
        assert_nobody_counted(&pool.sleep);
    });
}

/// The thread outside that owes does not pay before worker 0 is done, which waits, alone, for the
/// job that it has posted.
fn a_worker_that_sleeps_alone_pays_first(make: MakeSleep) {
    with_preemptions(3, move || {
        let pool = Pool::with_poster_that_waits(make(2));
        let worker = pool.start(|pool| wait_until(&pool.sleep, 1, &pool.over, pool));
        let caller = pool.start(|pool| _ = pool.sleep.owe());
        pool.jobs.post_as_worker(&pool.sleep);
        let latch = pool.of_poster.as_ref().unwrap();
        while !latch.probe() {
            pool.sleep.sleep_alone(0, latch, &|| false, &|| pool.work_visible());
        }
        caller.join().unwrap();
        worker.join().unwrap();
        pool.sleep.pay(|| pool.work_visible());
        assert_nobody_counted(&pool.sleep);
    });
}

/// The worker that sleeps keeps the door, for a while.
fn whoever_keeps_the_door_sees_what_is_posted(make: MakeSleep) {
    with_preemptions(3, move || {
        let pool = Pool::new(make(2).with_guests());
        pool.sleep.note_guest();
        let worker = pool.start(|pool| wait_until(&pool.sleep, 1, &pool.over, pool));
        pool.jobs.post_as_worker(&pool.sleep);
        worker.join().unwrap();
        assert_nobody_counted(&pool.sleep);
    });
}

/// As the protocol is, but with room for two.
mod with_room {
    #[test]
    fn what_is_posted_meanwhile_is_paid_for() {
        super::what_is_posted_meanwhile_is_paid_for(super::roomy_relay);
    }

    #[test]
    fn a_worker_that_sleeps_alone_pays_first() {
        super::a_worker_that_sleeps_alone_pays_first(super::roomy_relay);
    }

    #[test]
    fn whoever_keeps_the_door_sees_what_is_posted() {
        super::whoever_keeps_the_door_sees_what_is_posted(super::roomy_relay);
    }
}

for_protocols!([relay] what_is_posted_meanwhile_is_paid_for, a_worker_that_sleeps_alone_pays_first);
