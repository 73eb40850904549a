//! Panics that nobody can hear of: they end the process. Each test is a process of its own.

use crate::common::child::{in_child, this_test};
use crate::common::{self, pool};
use drowse::ThreadPoolBuilder;
use std::sync::mpsc;

/// Blocks for as long as the process lives.
fn wait_for_the_end() -> ! {
    let (_sender, receiver) = mpsc::channel::<()>();
    let _ = receiver.recv();
    unreachable!("the sender is alive");
}

/// Runs `body` in a child that must abort, with the panic's message and a word from us.
#[track_caller]
fn assert_aborts(test: &str, message: &str, body: impl FnOnce()) {
    let ended = in_child(test, &[], || {
        body();
        wait_for_the_end();
    });
    ended.assert_aborted();
    assert!(ended.stderr.contains(message), "{message} in {}", ended.stderr);
    assert!(ended.complaints().iter().any(|line| line.contains("abort")), "{}", ended.stderr);
}

#[test]
fn a_spawned_panic_without_a_handler() {
    assert_aborts(this_test!(), "boom", || pool(2).spawn(|| panic!("boom")));
}

#[test]
fn a_spawned_panic_without_a_handler_in_the_global_pool() {
    assert_aborts(this_test!(), "boom", || {
        drowse::spawn(|| panic!("boom"));
    });
}

#[test]
fn a_spawned_fifo_panic_without_a_handler() {
    assert_aborts(this_test!(), "boom", || {
        pool(2).install(|| drowse::spawn_fifo(|| panic!("boom")));
    });
}

#[test]
fn a_broadcast_panic_without_a_handler() {
    assert_aborts(this_test!(), "boom", || {
        pool(2).spawn_broadcast(|context| assert_eq!(context.index(), 1, "boom"));
    });
}

#[test]
fn a_panic_of_the_panic_handler() {
    assert_aborts(this_test!(), "the handler too", || {
        let builder =
            ThreadPoolBuilder::new().num_threads(1).panic_handler(|_| panic!("the handler too"));
        builder.build().unwrap().spawn(|| panic!("boom"));
    });
}

#[test]
fn a_panic_of_the_start_handler_without_a_panic_handler() {
    assert_aborts(this_test!(), "bad start", || {
        let builder =
            ThreadPoolBuilder::new().num_threads(1).start_handler(|_| panic!("bad start"));
        drop(builder.build());
    });
}

#[test]
fn a_panic_of_the_exit_handler_without_a_panic_handler() {
    assert_aborts(this_test!(), "bad end", || {
        let builder = ThreadPoolBuilder::new().num_threads(1).exit_handler(|_| panic!("bad end"));
        drop(builder.build());
    });
}

#[test]
fn a_panic_that_somebody_waits_for_does_not_end_the_process() {
    let ended = in_child(this_test!(), &[], || {
        let pool = pool(2);
        let message = common::caught::<&str, _>(|| {
            pool.join(|| (), || panic!("heard"));
        });
        assert_eq!(message, "heard");
        common::assert_works(&pool);
    });
    ended.assert_done();
    assert_eq!(ended.complaints(), [""; 0]);
}
