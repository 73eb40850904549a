//! The jobs event counter: what it is for, and that it may come round.
#![cfg(drowse_loom)]

use drowse_models::{
    MakeSleep, Parcel, assert_nobody_counted, every_interleaving, for_protocols, jec, with_preemptions,
};
use drowse_sleep::LatchWord;
use drowse_sync::{Arc, Queue, thread};

/// A worker got sleepy; then work was posted, which somebody else has taken. More may come: the worker must not sleep
/// before it has searched again.
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

for_protocols!([sleepy, jec] work_posted_since_it_got_sleepy_keeps_a_worker_awake);

/// Between the worker's announcement and its commitment, another gets sleepy and posts until the counter holds the same value
/// again. The last look at the queues tells the worker what the counter does not.
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
