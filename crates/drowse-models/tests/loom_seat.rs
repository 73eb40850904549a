//! A worker's seat, and a guest that takes it.
#![cfg(drowse_loom)]

use drowse_models::{
    Board, Jobs, MakeSleep, Parcel, assert_nobody_counted, for_each_protocol, set_latch,
    wait_until, with_preemptions,
};
use drowse_sleep::{LatchWord, Reason, Sleep, Starter};
use drowse_sync::{Arc, hint, thread};
use std::time::Duration;

/// A pool of one worker. What lies in its seat is for whoever sits there.
struct Pool {
    sleep: Sleep,
    home: LatchWord,
    seat: Parcel,
    jobs: Jobs,
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
        self.use_seat();
        set_latch(&self.sleep, worker, &self.home);
    }
}

impl Pool {
    fn new(make: MakeSleep) -> Arc<Self> {
        Arc::new(Self {
            sleep: make(1).with_guests(),
            home: LatchWord::new(),
            seat: Parcel::of(0),
            jobs: Jobs::new(),
        })
    }

    fn start(self: &Arc<Self>, work: fn(&Self)) -> thread::JoinHandle<()> {
        let pool = Arc::clone(self);
        thread::spawn(move || work(&pool))
    }

    fn work(&self) {
        self.use_seat();
        wait_until(&self.sleep, 0, &self.home, self);
    }

    fn use_seat(&self) {
        self.seat.put(self.seat.take() + 1);
    }

    /// Takes the seat, if it is free, does something there, and gives it back.
    fn visit(&self, work: impl FnOnce()) {
        if self.sleep.take_seat(|_| &self.home).is_some() {
            self.use_seat();
            work();
            self.sleep.give_seat_back(0, &self.home, &|| self.work_visible());
        }
    }
}

/// It may be posted before the guest comes, while it is there, and after it has gone.
fn a_job_that_comes_while_a_guest_does_is_run(make: MakeSleep) {
    with_preemptions(3, move || {
        let pool = Pool::new(make);
        let worker = pool.start(Pool::work);
        let guest = pool.start(|pool| pool.visit(|| ()));
        pool.jobs.post(&pool.sleep);
        guest.join().unwrap();
        worker.join().unwrap();
        assert_nobody_counted(&pool.sleep);
    });
}

/// The end of the pool, likewise.
fn a_latch_that_is_set_while_a_guest_is_there_wakes_the_worker(make: MakeSleep) {
    with_preemptions(3, move || {
        let pool = Pool::new(make);
        let worker = pool.start(Pool::work);
        let guest = pool.start(|pool| pool.visit(|| ()));
        set_latch(&pool.sleep, 0, &pool.home);
        guest.join().unwrap();
        worker.join().unwrap();
        assert_nobody_counted(&pool.sleep);
    });
}

fn a_guest_that_sleeps_is_woken_and_not_the_worker(make: MakeSleep) {
    with_preemptions(2, move || {
        let (pool, latch) = (Pool::new(make), Arc::new(LatchWord::new()));
        let worker = pool.start(Pool::work);
        while pool.sleep.sleeping() == 0 {
            hint::spin_loop();
        }
        let setter = thread::spawn({
            let (pool, latch) = (Arc::clone(&pool), Arc::clone(&latch));
            move || set_latch(&pool.sleep, 0, &latch)
        });
        pool.visit(|| wait_until(&pool.sleep, 0, &latch, &*pool));
        setter.join().unwrap();
        set_latch(&pool.sleep, 0, &pool.home);
        worker.join().unwrap();
        assert_nobody_counted(&pool.sleep);
    });
}

fn what_one_guest_leaves(make: MakeSleep) {
    with_preemptions(3, move || {
        let pool = Pool::new(make);
        let worker = pool.start(Pool::work);
        while pool.sleep.sleeping() == 0 {
            hint::spin_loop();
        }
        let guest = pool.start(|pool| pool.visit(|| ()));
        pool.visit(|| ());
        guest.join().unwrap();
        set_latch(&pool.sleep, 0, &pool.home);
        worker.join().unwrap();
        assert_nobody_counted(&pool.sleep);
    });
}

for_each_protocol!(
    a_job_that_comes_while_a_guest_does_is_run,
    a_latch_that_is_set_while_a_guest_is_there_wakes_the_worker,
    a_guest_that_sleeps_is_woken_and_not_the_worker
);

/// The way in and out is the same for all of them.
#[test]
fn what_one_guest_leaves_in_the_seat_the_next_one_finds() {
    what_one_guest_leaves(drowse_models::counters);
}

/// A pool that starts no threads.
#[derive(Debug)]
struct NoThreads;

impl Starter for NoThreads {
    fn start(&self, _worker: usize, _reason: Reason) {}
}

/// A worker that gets up by itself, because it has slept for long, has the seat again.
#[test]
fn what_a_guest_leaves_in_the_seat_a_bored_worker_finds() {
    with_preemptions(3, || {
        let sleep = drowse_models::counters(1).with_guests();
        let sleep = sleep.with_absence(Arc::new(NoThreads), 0, Some(Duration::from_nanos(1)));
        let (home, seat, jobs) = (LatchWord::new(), Parcel::of(0), Jobs::new());
        let pool = Arc::new(Pool { sleep, home, seat, jobs });
        let worker = pool.start(|pool| {
            pool.use_seat();
            let mut idle = pool.sleep.start_looking(0);
            // Each time that a guest has the seat, the worker may begin its sleep anew.
            for _ in 0..3 {
                if !idle.is_bored() {
                    pool.sleep.no_work_found(&mut idle, &pool.home, &|| pool.work_visible());
                }
            }
            pool.use_seat();
            pool.sleep.stop_looking(idle, || false);
        });
        let guest = pool.start(|pool| pool.visit(|| ()));
        guest.join().unwrap();
        worker.join().unwrap();
        assert_nobody_counted(&pool.sleep);
    });
}
