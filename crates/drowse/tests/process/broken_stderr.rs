//! Nobody reads the standard error, or it is full: what drowse has to say is lost, and nothing
//! else.
//!
//! Each test is a process of its own, with a pipe that nobody reads, or a full device, as its
//! standard error.
#![cfg(target_os = "linux")]

use crate::common::child::{Ended, in_child, this_test};
use crate::common::tasks;
use crate::common::{self, assert_works, pool};
use drowse::ThreadPoolBuilder;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;

/// Makes the standard error a pipe without a reader.
fn break_stderr() {
    let mut ends = [0; 2];
    // SAFETY: room for two descriptors; then plain calls on descriptors of our own.
    unsafe {
        assert_eq!(libc::pipe(ends.as_mut_ptr()), 0);
        assert_eq!(libc::dup2(ends[1], 2), 2);
        assert_eq!(libc::close(ends[0]), 0);
        assert_eq!(
            libc::write(2, c"x".as_ptr().cast(), 1),
            -1,
            "somebody reads the standard error"
        );
    }
}

/// Makes the standard error a device without room.
fn fill_stderr() {
    // SAFETY: a path that ends in a null, and descriptors of our own.
    unsafe {
        let full = libc::open(c"/dev/full".as_ptr(), libc::O_WRONLY);
        assert!(full >= 0, "no /dev/full here");
        assert_eq!(libc::dup2(full, 2), 2);
    }
}

/// Runs `body` in a child whose standard error takes nothing, once for each way of doing so.
fn unheard(test: &str, variables: &[(&str, &str)], body: fn()) -> [Ended; 2] {
    const WAY: &str = "DROWSE_TEST_STDERR";
    ["broken", "full"].map(|way| {
        in_child(test, &[variables, &[(WAY, way)]].concat(), || {
            if std::env::var(WAY).as_deref() == Ok("full") {
                fill_stderr()
            } else {
                break_stderr()
            }
            body();
        })
    })
}

/// Runs a body that must abort: to unwind would end the test.
#[track_caller]
fn assert_aborts_unheard(test: &str, body: fn()) {
    unheard(test, &[], body).iter().for_each(Ended::assert_aborted);
}

#[track_caller]
fn assert_works_unheard(test: &str, variables: &[(&str, &str)], body: fn()) {
    unheard(test, variables, body).iter().for_each(Ended::assert_done);
}

/// What lends a part of this frame to a worker, with handlers that panic while it is lent.
fn with_bad_release_handler(lend: impl FnOnce(&drowse::ThreadPool)) {
    let outside = std::thread::current().id();
    let bad = move || assert_ne!(std::thread::current().id(), outside, "a bad handler");
    let pool = ThreadPoolBuilder::new().num_threads(1).release_thread_handler(bad).build().unwrap();
    let _ = catch_unwind(AssertUnwindSafe(|| lend(&pool)));
}

#[test]
fn a_bad_release_handler_does_not_let_go_of_an_install() {
    assert_aborts_unheard(this_test!(), || {
        with_bad_release_handler(|pool| {
            let mut lent = [0_u64; 64];
            pool.install(|| lent = [1; 64]);
        });
    });
}

#[test]
fn a_bad_release_handler_does_not_let_go_of_a_scope() {
    assert_aborts_unheard(this_test!(), || {
        with_bad_release_handler(|pool| {
            let mut lent = [0_u64; 64];
            pool.in_place_scope(|s| s.spawn(|_| lent = [1; 64]));
        });
    });
}

#[test]
fn a_bad_release_handler_does_not_let_go_of_a_broadcast() {
    assert_aborts_unheard(this_test!(), || {
        with_bad_release_handler(|pool| {
            let lent = [1_u64; 64];
            pool.broadcast(|_| lent[3]);
        });
    });
}

#[test]
fn a_spawned_panic_without_a_handler_aborts() {
    assert_aborts_unheard(this_test!(), || {
        let (keep, wait) = mpsc::channel::<()>();
        pool(1).spawn(|| panic!("boom"));
        let _ = wait.recv();
        drop(keep);
    });
}

#[test]
fn a_bad_deadlock_handler_aborts() {
    assert_aborts_unheard(this_test!(), || {
        let builder = ThreadPoolBuilder::new().num_threads(1);
        let pool = builder.deadlock_handler(|_| panic!("a bad handler")).build().unwrap();
        let (keep, wait) = mpsc::channel::<()>();
        pool.install(move || {
            let _blocked = drowse::mark_blocked();
            let _ = wait.recv();
        });
        drop(keep);
    });
}

#[test]
fn a_pool_that_is_to_say_that_it_starts_starts() {
    assert_works_unheard(this_test!(), &[("DROWSE_LOG", "1")], || {
        let before = tasks::count();
        for _ in 0..10 {
            assert_works(&pool(3));
        }
        common::until("the threads are gone", || tasks::count() == before);
        assert_eq!(drowse::join(|| 1, || 2), (1, 2));
    });
}

#[test]
fn variables_that_cannot_be_read_are_complained_about_in_vain() {
    let variables = [("DROWSE_NUM_THREADS", "many"), ("DROWSE_SLEEP", "snooze")];
    assert_works_unheard(this_test!(), &variables, || {
        assert_eq!(drowse::join(|| 1, || 2), (1, 2));
        assert_works(&ThreadPoolBuilder::new().build().unwrap());
    });
}

#[test]
fn the_caller_does_the_work_where_no_thread_can_be_started() {
    assert_works_unheard(this_test!(), &[("RUST_MIN_STACK", "1152921504606846976")], || {
        assert_eq!(drowse::join(|| 1, || 2), (1, 2));
    });
}
