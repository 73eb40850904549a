//! The jobs event counter: what it is for, and that it may come round.
#![cfg(drowse_loom)]

use drowse_models::{EAGER, Parcel, SmallJec, assert_nobody_counted, every_interleaving, with_preemptions};
use drowse_sleep::LatchWord;
use drowse_sync::{Arc, Queue, thread};

/// A worker got sleepy; then work was posted, which somebody else has taken. More may come: the worker must not sleep
/// before it has searched again.
#[test]
fn work_posted_since_it_got_sleepy_keeps_a_worker_awake() {
    every_interleaving(|| {
        let jec = Arc::new(SmallJec::new(1, EAGER));
        let latch = LatchWord::new();
        let mut idle = jec.start_looking(0);
        jec.no_work_found(&mut idle, &latch, || unreachable!("not asked yet"));
        let outside = thread::spawn({
            let jec = Arc::clone(&jec);
            move || jec.post_injected(1, || true)
        });
        // Whoever comes first: the worker is kept awake, or stopped, or woken.
        jec.no_work_found(&mut idle, &latch, || false);
        jec.stop_looking(idle, || false);
        outside.join().unwrap();
        assert_nobody_counted(&jec);
    });
}

/// Between the worker's announcement and its commitment, another gets sleepy and posts until the counter holds the same value
/// again. The last look at the queues tells the worker what the counter does not.
#[test]
fn a_counter_that_came_round_hides_no_job() {
    with_preemptions(3, || {
        let pool = Arc::new((SmallJec::new(2, EAGER), Queue::new()));
        let other = thread::spawn({
            let pool = Arc::clone(&pool);
            move || {
                let (jec, injector) = &*pool;
                let latch = LatchWord::new();
                injector.push(Parcel::of(42));
                for _ in 0..2 {
                    jec.post_injected(1, || true);
                    // Gets sleepy, but does not search again: its latch is set, say.
                    let mut idle = jec.start_looking(1);
                    jec.no_work_found(&mut idle, &latch, || unreachable!("not asked yet"));
                    jec.stop_looking(idle, || !injector.is_empty());
                }
            }
        });
        let (jec, injector) = &*pool;
        let latch = LatchWord::new();
        let mut idle = jec.start_looking(0);
        let job = loop {
            if !injector.is_empty() {
                break injector.pop().expect("nobody else takes it");
            }
            jec.no_work_found(&mut idle, &latch, || !injector.is_empty());
        };
        jec.stop_looking(idle, || !injector.is_empty());
        assert_eq!(job.take(), 42);
        other.join().unwrap();
        assert_nobody_counted(jec);
    });
}
