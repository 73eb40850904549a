//! The jobs event counter: what it is for, and that it may come round.
#![cfg(drowse_loom)]

use drowse_models::{
    MakeSleep, Parcel, assert_nobody_counted, every_interleaving, for_protocols, jec, set_latch,
    with_preemptions,
};
use drowse_sleep::{Host, LatchWord, Sleep};
use drowse_sync::{Arc, Queue, thread};
use std::cell::Cell;

/// A worker got sleepy; then work was posted, which somebody else has taken. More may come: the
/// worker must not sleep before it has searched again.
fn work_posted_since_it_got_sleepy_keeps_a_worker_awake(make: MakeSleep) {
    every_interleaving(move || {
        let sleep = Arc::new(make(1));
        let latch = LatchWord::new();
        let mut idle = sleep.start_looking(0);
        sleep.no_work_found(&mut idle, &latch, &|| unreachable!("not asked yet"));
        let outside = thread::spawn({
            let sleep = Arc::clone(&sleep);
            move || sleep.post_injected(1, &|| true)
        });
        // Whoever comes first: the worker is kept awake, or stopped, or woken.
        sleep.no_work_found(&mut idle, &latch, &|| false);
        sleep.stop_looking(idle, || false);
        outside.join().unwrap();
        assert_nobody_counted(&sleep);
    });
}

/// The same where work is posted in the very moment in which the worker gets sleepy, too.
fn work_posted_twice_keeps_a_worker_awake(make: MakeSleep) {
    every_interleaving(move || {
        let sleep = Arc::new(make(1));
        let latch = LatchWord::new();
        let post = || {
            let sleep = Arc::clone(&sleep);
            thread::spawn(move || sleep.post_injected(1, &|| true))
        };
        let first = post();
        let mut idle = sleep.start_looking(0);
        sleep.no_work_found(&mut idle, &latch, &|| unreachable!("not asked yet"));
        first.join().unwrap();
        let second = post();
        sleep.no_work_found(&mut idle, &latch, &|| false);
        sleep.stop_looking(idle, || false);
        second.join().unwrap();
        assert_nobody_counted(&sleep);
    });
}

/// A worker that is woken the moment it sleeps.
struct Sleeper<'a> {
    sleep: &'a Sleep,
    latch: &'a LatchWord,
    slept: Cell<bool>,
}

impl Host for Sleeper<'_> {
    fn work_visible(&self) -> bool {
        false
    }

    fn before_sleep(&self) {
        self.slept.set(true);
        set_latch(self.sleep, 0, self.latch);
    }
}

/// Nothing was posted since a worker got sleepy: it sleeps, and does not search for ever.
fn a_worker_that_nobody_disturbs_sleeps(make: MakeSleep) {
    every_interleaving(move || {
        let (sleep, latch) = (make(1), LatchWord::new());
        let sleeper = Sleeper { sleep: &sleep, latch: &latch, slept: Cell::new(false) };
        let mut idle = sleep.start_looking(0);
        sleep.no_work_found(&mut idle, &latch, &sleeper);
        assert!(!sleeper.slept.get(), "it is sleepy");
        sleep.no_work_found(&mut idle, &latch, &sleeper);
        assert!(sleeper.slept.get(), "it sleeps");
        sleep.stop_looking(idle, || false);
        assert_nobody_counted(&sleep);
    });
}

for_protocols!(
    [sleepy, jec] work_posted_since_it_got_sleepy_keeps_a_worker_awake, work_posted_twice_keeps_a_worker_awake,
    a_worker_that_nobody_disturbs_sleeps
);

/// Between the worker's announcement and its commitment, another gets sleepy and posts until the
/// counter holds the same value again. The last look at the queues tells the worker what the
/// counter does not.
#[test]
fn a_counter_that_came_round_hides_no_job() {
    with_preemptions(3, || {
        let pool = Arc::new((jec(2), Queue::new()));
        let other = thread::spawn({
            let pool = Arc::clone(&pool);
            move || {
                let (sleep, injector) = &*pool;
                let latch = LatchWord::new();
                injector.push(Parcel::of(42));
                for _ in 0..2 {
                    sleep.post_injected(1, &|| true);
                    // Gets sleepy, but does not search again: its latch is set, say.
                    let mut idle = sleep.start_looking(1);
                    sleep.no_work_found(&mut idle, &latch, &|| unreachable!("not asked yet"));
                    sleep.stop_looking(idle, || !injector.is_empty());
                }
            }
        });
        let (sleep, injector) = &*pool;
        let latch = LatchWord::new();
        let mut idle = sleep.start_looking(0);
        let job = loop {
            if !injector.is_empty() {
                break injector.pop().expect("nobody else takes it");
            }
            sleep.no_work_found(&mut idle, &latch, &|| !injector.is_empty());
        };
        sleep.stop_looking(idle, || !injector.is_empty());
        assert_eq!(job.take(), 42);
        other.join().unwrap();
        assert_nobody_counted(sleep);
    });
}
