//! The global pool that starts by itself, and `DROWSE_NUM_THREADS`. Each test is a process of its
//! own.

use crate::common::child::{Ended, in_child, this_test};
use crate::common::fib;
use drowse::ThreadPoolBuilder;
use std::thread;

const NUM_THREADS: &str = "DROWSE_NUM_THREADS";

fn cores() -> usize {
    thread::available_parallelism().map_or(1, |cores| cores.get())
}

/// Uses the global pool, from several threads at once, as its first use; and pools that leave their
/// width open.
#[track_caller]
fn use_pools(width: usize) {
    thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| {
                assert_eq!(drowse::current_num_threads(), width);
                assert_eq!(fib(12), 144);
            });
        }
    });
    assert_eq!(drowse::broadcast(|_| ()).len(), width);
    assert_eq!(ThreadPoolBuilder::new().build().unwrap().current_num_threads(), width);
}

/// No word of complaint.
#[track_caller]
fn assert_silent(ended: &Ended) {
    ended.assert_done();
    assert_eq!(ended.complaints(), [""; 0]);
}

/// One line, which says what was wrong and what is used instead.
#[track_caller]
fn assert_one_complaint(ended: &Ended, value: &str) {
    ended.assert_done();
    let complaints = ended.complaints();
    assert_eq!(complaints.len(), 1, "{complaints:?}");
    for part in [NUM_THREADS, &format!("{value:?}"), &format!("using {}", cores())] {
        assert!(complaints[0].contains(part), "{part} in {}", complaints[0]);
    }
}

#[test]
fn without_the_variable_there_is_a_thread_for_each_core() {
    assert_silent(&in_child(this_test!(), &[], || use_pools(cores())));
}

#[test]
fn the_variable_says_how_many() {
    assert_silent(&in_child(this_test!(), &[(NUM_THREADS, "3")], || use_pools(3)));
}

#[test]
fn there_may_be_one_thread() {
    assert_silent(&in_child(this_test!(), &[(NUM_THREADS, "1")], || use_pools(1)));
}

#[test]
fn there_may_be_many_threads() {
    assert_silent(&in_child(this_test!(), &[(NUM_THREADS, "64")], || use_pools(64)));
}

#[test]
fn zero_means_one_for_each_core() {
    assert_silent(&in_child(this_test!(), &[(NUM_THREADS, "0")], || use_pools(cores())));
}

#[test]
fn a_word_is_complained_about_once() {
    assert_one_complaint(
        &in_child(this_test!(), &[(NUM_THREADS, "many")], || use_pools(cores())),
        "many",
    );
}

#[test]
fn a_negative_number_is_complained_about_once() {
    assert_one_complaint(
        &in_child(this_test!(), &[(NUM_THREADS, "-1")], || use_pools(cores())),
        "-1",
    );
}

#[test]
fn an_empty_value_counts_as_not_set() {
    assert_silent(&in_child(this_test!(), &[(NUM_THREADS, "")], || use_pools(cores())));
}

#[test]
fn a_number_in_the_program_counts_more_and_the_variable_is_not_even_read() {
    let ended = in_child(this_test!(), &[(NUM_THREADS, "many")], || {
        ThreadPoolBuilder::new().num_threads(5).build_global().unwrap();
        assert_eq!(drowse::current_num_threads(), 5);
        assert_eq!(
            ThreadPoolBuilder::new().num_threads(2).build().unwrap().current_num_threads(),
            2
        );
    });
    assert_silent(&ended);
}

#[test]
fn the_variable_counts_for_a_global_pool_that_leaves_its_width_open() {
    let ended = in_child(this_test!(), &[(NUM_THREADS, "3")], || {
        ThreadPoolBuilder::new().build_global().unwrap();
        use_pools(3);
    });
    assert_silent(&ended);
}

#[test]
fn asking_who_one_is_does_not_start_it() {
    let ended = in_child(this_test!(), &[], || {
        assert_eq!(drowse::current_thread_index(), None);
        assert_eq!(drowse::current_thread_has_pending_tasks(), None);
        assert_eq!((drowse::yield_now(), drowse::yield_local()), (None, None));
        // Too late if it had started.
        ThreadPoolBuilder::new().num_threads(2).build_global().unwrap();
    });
    assert_silent(&ended);
}
