//! The engine itself, with pools of one thread beside the model's own. The other models write in
//! short what it does, to go deeper; here are the real `wait_until`, `inject` and `release`, and
//! the latches.
#![cfg(drowse_loom)]

use drowse::{SleepPolicy, SleepProtocol, ThreadPool, ThreadPoolBuilder};
use drowse_models::{Parcel, some_with_preemptions, with_preemptions};
use drowse_sync::{Arc, thread, without_light_fences};
use std::panic::{self, AssertUnwindSafe};

/// Sleepy after the first empty search, asleep after the second.
const EAGER: SleepPolicy = SleepPolicy {
    rounds_until_sleepy: 0,
    rounds_while_sleepy: 1,
    rounds_on_watch: 0,
    pause: drowse::Pause::Spin(0),
};

/// Explores `model` for each protocol, with up to so many preemptions. Not for `counters`: where
/// nobody knows how many processors there are, as here, `relay` decides the same.
fn for_each_protocol(preemptions: usize, model: fn(SleepProtocol)) {
    for protocol in [SleepProtocol::Sleepy, SleepProtocol::Jec, SleepProtocol::Relay] {
        with_preemptions(preemptions, move || model(protocol));
    }
}

/// Calls `f` with a pool, drops the pool, and waits until its threads have ended.
fn with_pool_of(builder: ThreadPoolBuilder, f: impl FnOnce(&ThreadPool)) {
    let mut handles = Vec::new();
    let pool = builder
        .sleep_policy(EAGER)
        .spawn_handler(|worker| {
            handles.push(thread::Builder::new().spawn(|| worker.run())?);
            Ok(())
        })
        .build()
        .unwrap();
    f(&pool);
    drop(pool);
    for handle in handles {
        handle.join().unwrap();
    }
}

/// A pool of one worker; the model's thread is outside.
fn with_one_worker(protocol: SleepProtocol, f: impl FnOnce(&ThreadPool)) {
    with_pool_of(ThreadPoolBuilder::new().num_threads(1).sleep_protocol(protocol), f);
}

/// A pool of two workers that sleep by one of the protocols. One of them is the model's thread.
fn with_two_workers(f: impl FnOnce(&ThreadPool)) {
    let builder = ThreadPoolBuilder::new().num_threads(2).use_current_thread();
    with_pool_of(builder.sleep_protocol(SleepProtocol::Jec), f);
}

#[test]
fn what_was_done_before_a_pool_was_dropped_comes_before_its_end() {
    for_each_protocol(3, |protocol| {
        let parcel = Arc::new(Parcel::empty());
        let builder =
            ThreadPoolBuilder::new().num_threads(1).sleep_protocol(protocol).exit_handler({
                let parcel = Arc::clone(&parcel);
                move |_| assert_eq!(parcel.take(), 42)
            });
        with_pool_of(builder, |pool| {
            pool.spawn(|| ());
            parcel.put(42);
        });
    });
}

#[test]
fn a_broadcast_reaches_a_worker_that_falls_asleep() {
    for_each_protocol(3, |protocol| {
        with_one_worker(protocol, |pool| {
            let parcel = Arc::new(Parcel::of(42));
            pool.spawn_broadcast(move |_| assert_eq!(parcel.take(), 42));
        });
    });
}

#[test]
fn a_join_brings_the_result_of_its_stolen_half() {
    // All of them take minutes, and gigabytes.
    some_with_preemptions(2, 20_000, || {
        // Fewer steps; other models are about these.
        without_light_fences();
        with_two_workers(|_| {
            let parcel = Parcel::empty();
            drowse::join(|| (), || parcel.put(42));
            assert_eq!(parcel.take(), 42);
        });
    });
}

#[test]
fn a_job_in_another_pool_brings_its_result() {
    for_each_protocol(2, |protocol| {
        let own = ThreadPoolBuilder::new().num_threads(1).use_current_thread();
        with_pool_of(own.sleep_protocol(protocol), |_| {
            with_one_worker(protocol, |other| {
                assert_eq!(other.install(|| Parcel::of(42)).take(), 42)
            });
        });
    });
}

/// The job may have ended when somebody comes to wait for it, or not.
#[test]
fn a_handle_brings_the_result() {
    for_each_protocol(2, |protocol| {
        with_one_worker(protocol, |pool| {
            assert_eq!(pool.spawn_handle(|| Parcel::of(42)).join().unwrap().take(), 42);
        });
    });
}

/// Demands that the scope panics with what a job has put in its panic.
fn panics(scope: impl FnOnce()) {
    let panic = panic::catch_unwind(AssertUnwindSafe(scope)).unwrap_err();
    assert_eq!(panic.downcast::<Parcel>().unwrap().take(), 42);
}

fn panic_with_a_parcel() {
    panic::resume_unwind(Box::new(Parcel::of(42)));
}

#[test]
fn a_scope_brings_the_panic_of_a_job() {
    with_preemptions(1, || {
        // Too much for a slab: the worker of the model's own thread would keep one, and is leaked.
        let large = [1_usize; 8];
        let job = move || {
            assert_eq!(large, [1; 8]);
            panic_with_a_parcel();
        };
        with_two_workers(|pool| panics(|| pool.scope(|s| s.spawn(move |_| job()))));
    });
}

/// Puts something into the parcel when it goes.
struct Farewell<'a>(&'a Parcel);

impl Drop for Farewell<'_> {
    fn drop(&mut self) {
        self.0.put(42);
    }
}

/// Whether it has begun or not, what the job captured is gone, for all to see, when the scope is.
#[test]
fn a_scope_that_is_cancelled_waits_for_what_its_jobs_captured() {
    for_each_protocol(2, |protocol| {
        with_one_worker(protocol, |pool| {
            let parcel = Parcel::empty();
            pool.in_place_scope(|s| {
                let farewell = Farewell(&parcel);
                s.spawn(move |_| drop(farewell));
                s.cancel();
            });
            assert_eq!(parcel.take(), 42);
        });
    });
}

#[test]
fn a_scope_outside_brings_the_panic_of_a_job() {
    for_each_protocol(2, |protocol| {
        with_one_worker(protocol, |pool| {
            panics(|| pool.in_place_scope(|s| s.spawn(|_| panic_with_a_parcel())))
        });
    });
}
