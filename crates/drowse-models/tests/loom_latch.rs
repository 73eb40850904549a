//! The latch word: set against sleep.
#![cfg(drowse_loom)]

use drowse_models::{
    Board, MakeSleep, Parcel, assert_nobody_counted, every_interleaving, for_each_protocol,
    for_protocols, set_latch, wait_until,
};
use drowse_sleep::{LatchWord, Reason, Sleep, Waker};
use drowse_sync::{Arc, thread};
use std::cell::UnsafeCell;

/// No jobs anywhere: the worker has nothing to do but to wait.
struct NoJobs;

impl Board for NoJobs {
    type Job = std::convert::Infallible;

    fn find(&self, _worker: usize) -> Option<Self::Job> {
        None
    }

    fn work_visible(&self) -> bool {
        false
    }

    fn run(&self, _worker: usize, job: Self::Job) {
        match job {}
    }
}

/// What the owner waits for.
struct Event {
    sleep: Sleep,
    latch: LatchWord,
    result: Parcel,
}

fn a_set_wakes_the_owner_and_brings_the_result(make: MakeSleep) {
    every_interleaving(move || {
        let event =
            Arc::new(Event { sleep: make(1), latch: LatchWord::new(), result: Parcel::empty() });
        let setter = thread::spawn({
            let event = Arc::clone(&event);
            move || {
                event.result.put(42);
                set_latch(&event.sleep, 0, &event.latch);
            }
        });
        wait_until(&event.sleep, 0, &event.latch, &NoJobs);
        assert_eq!(event.result.take(), 42);
        setter.join().unwrap();
        assert_nobody_counted(&event.sleep);
    });
}

fn nobody_touches_a_latch_that_its_owner_has_seen_set(make: MakeSleep) {
    every_interleaving(move || {
        let event = Arc::new(Frame { sleep: make(1), latch: UnsafeCell::new(LatchWord::new()) });
        let setter = thread::spawn({
            let event = Arc::clone(&event);
            move || {
                // SAFETY: the owner frees the latch only once it is set.
                let slept = unsafe { LatchWord::set(event.latch.get()) };
                event.sleep.latch_set(0, slept, Reason::Latch, || Waker::MayStop);
            }
        });
        // SAFETY: the owner frees it below, and not before.
        wait_until(&event.sleep, 0, unsafe { &*event.latch.get() }, &NoJobs);
        // SAFETY: the owner is done with it, and so, as loom shows, is the setter.
        unsafe { LatchWord::free(event.latch.get()) };
        setter.join().unwrap();
        assert_nobody_counted(&event.sleep);
    });
}

/// A latch in its owner's stack frame, as it were.
struct Frame {
    sleep: Sleep,
    latch: UnsafeCell<LatchWord>,
}

// SAFETY: the latch is made to be shared, and the model shows that it is not when it is freed.
unsafe impl Sync for Frame {}

for_each_protocol!(
    a_set_wakes_the_owner_and_brings_the_result,
    nobody_touches_a_latch_that_its_owner_has_seen_set
);

for_protocols!([sleepy_at_once] a_set_wakes_the_owner_and_brings_the_result);
