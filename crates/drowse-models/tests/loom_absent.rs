//! A worker whose thread leaves, and another thread that is started in its place.
#![cfg(drowse_loom)]

use drowse_models::{
    Jobs, MakeSleep, Parcel, assert_nobody_counted, for_each_protocol, set_latch, with_preemptions,
};
use drowse_sleep::{Idle, LatchWord, Reason, Sleep, Starter};
use drowse_sync::atomic::Ordering;
use drowse_sync::{Arc, WaitWord, thread};
use std::time::Duration;

/// The second thread is not needed yet.
const NOT_NEEDED: u32 = 0;
/// It was started.
const STARTED: u32 = 1;
/// It will not be.
const NEVER_NEEDED: u32 = 2;

/// The second thread. (It is there from the beginning, and waits.)
#[derive(Debug)]
struct Second(WaitWord);

impl Starter for Second {
    fn start(&self, _worker: usize, _reason: Reason) {
        assert!(self.0.replace(NOT_NEEDED, STARTED, Ordering::Release), "it was started twice");
        self.0.wake();
    }
}

/// A pool of one worker, whose thread leaves as soon as it has slept. What lies in its seat is for
/// whoever sits there.
struct Pool {
    sleep: Sleep,
    home: LatchWord,
    seat: Parcel,
    jobs: Jobs,
    second: Arc<Second>,
}

impl Pool {
    fn new(make: MakeSleep) -> Arc<Self> {
        let second = Arc::new(Second(WaitWord::new(NOT_NEEDED)));
        let starter = Arc::clone(&second) as Arc<dyn Starter>;
        Arc::new(Self {
            sleep: make(1).with_absence(starter, 0, Some(Duration::from_nanos(1))),
            home: LatchWord::new(),
            seat: Parcel::of(0),
            jobs: Jobs::new(),
            second,
        })
    }

    fn spawn<R: Send + 'static>(self: &Arc<Self>, work: fn(&Self) -> R) -> thread::JoinHandle<R> {
        let pool = Arc::clone(self);
        thread::spawn(move || work(&pool))
    }

    fn use_seat(&self) {
        self.seat.put(self.seat.take() + 1);
    }

    /// The first thread: whether it has left before the end.
    fn first(&self) -> bool {
        self.use_seat();
        let mut searching = None;
        while !self.home.probe() {
            if self.search(searching.take()) {
                self.use_seat();
                if self.sleep.leave(0, &self.home, &|| self.jobs.visible()) {
                    return true;
                }
                searching = Some(self.sleep.arrive(0, &self.home));
                self.use_seat();
            }
        }
        searching.into_iter().for_each(|idle| self.sleep.stop_looking(idle, || false));
        false
    }

    /// The second one, which does not leave.
    fn second(&self) {
        self.second.0.wait_while(NOT_NEEDED);
        if self.second.0.load(Ordering::Acquire) == STARTED {
            self.use_seat();
            let mut searching = Some(self.sleep.arrive(0, &self.home));
            while !self.home.probe() {
                self.search(searching.take());
            }
            searching.into_iter().for_each(|idle| self.sleep.stop_looking(idle, || false));
        }
    }

    /// Searches for a job and runs it, until the end, or until the worker is bored: whether it is.
    fn search(&self, searching: Option<Idle>) -> bool {
        let mut idle = searching.unwrap_or_else(|| self.sleep.start_looking(0));
        let (mut found, mut is_bored) = (false, false);
        while !found && !is_bored && !self.home.probe() {
            is_bored = idle.is_bored();
            found = self.jobs.take();
            if !found && !is_bored {
                self.sleep.no_work_found(&mut idle, &self.home, &|| self.jobs.visible());
            }
        }
        self.sleep.stop_looking(idle, || self.jobs.visible());
        if found {
            self.use_seat();
            set_latch(&self.sleep, 0, &self.home);
        }
        is_bored && !found
    }

    /// `news` comes while the first thread sleeps, leaves, or has left.
    fn run(make: MakeSleep, news: fn(&Self)) {
        with_preemptions(3, move || {
            let pool = Self::new(make);
            let first = pool.spawn(Self::first);
            let second = pool.spawn(Self::second);
            news(&pool);
            // If the first one has left, somebody must have the second one started.
            if !first.join().unwrap() {
                let never = pool.second.0.replace(NOT_NEEDED, NEVER_NEEDED, Ordering::Release);
                assert!(never, "it was started though the first one was there");
                pool.second.0.wake();
            }
            second.join().unwrap();
            assert_nobody_counted(&pool.sleep);
        });
    }
}

fn a_job_that_comes_while_a_worker_leaves_is_run(make: MakeSleep) {
    Pool::run(make, |pool| pool.jobs.post(&pool.sleep));
}

fn a_pool_that_ends_while_a_worker_leaves_ends(make: MakeSleep) {
    Pool::run(make, |pool| set_latch(&pool.sleep, 0, &pool.home));
}

for_each_protocol!(
    a_job_that_comes_while_a_worker_leaves_is_run,
    a_pool_that_ends_while_a_worker_leaves_ends
);
