//! Blocking: the word a thread sleeps on, and the latch made of it.
#![cfg(drowse_loom)]

use drowse::model::LockLatch;
use drowse_models::{Parcel, every_interleaving, with_preemptions};
use drowse_sync::atomic::Ordering;
use drowse_sync::{Arc, WaitWord, thread};

#[test]
fn a_thread_asleep_on_a_word_wakes_when_it_changes() {
    every_interleaving(|| {
        let word = Arc::new((WaitWord::new(0), Parcel::empty()));
        let waker = thread::spawn({
            let word = Arc::clone(&word);
            move || {
                word.1.put(42);
                word.0.store(1, Ordering::Release);
                word.0.wake();
            }
        });
        word.0.wait_while(0);
        assert_eq!(word.1.take(), 42);
        waker.join().unwrap();
    });
}

/// One who has waited for a while, and has seen nothing, waits again.
#[test]
fn a_lock_latch_brings_the_result_to_one_who_waits_again() {
    with_preemptions(3, || {
        let shared = Arc::new((LockLatch::new(), Parcel::empty()));
        let setter = thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                shared.1.put(42);
                // SAFETY: the latch is in the `Arc` that we hold.
                unsafe { LockLatch::set(&shared.0) };
            }
        });
        if !shared.0.wait_for_a_while() {
            shared.0.wait();
        }
        assert_eq!(shared.1.take(), 42);
        setter.join().unwrap();
    });
}

/// The setter may still be about to wake us when we have gone on.
#[test]
fn a_lock_latch_brings_the_result() {
    with_preemptions(3, || {
        let shared = Arc::new((LockLatch::new(), Parcel::empty()));
        let setter = thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                shared.1.put(42);
                // SAFETY: the latch is in the `Arc` that we hold.
                unsafe { LockLatch::set(&shared.0) };
            }
        });
        shared.0.wait();
        assert_eq!(shared.1.take(), 42);
        // Not joined: the thread may take its time.
        drop(setter);
    });
}
