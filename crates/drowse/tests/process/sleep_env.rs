//! `DROWSE_SLEEP`. Each test is a process of its own.

use crate::common::child::{Ended, in_child, this_test};
use crate::common::{assert_works, fib};
use drowse::{SleepProtocol, ThreadPool, ThreadPoolBuilder};
use std::thread;

const SLEEP: &str = "DROWSE_SLEEP";

/// Pools that leave their protocol open, from several threads at once; and the global one.
#[track_caller]
fn assert_chosen(protocol: &str) {
    thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| {
                let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
                assert_sleeps_by(&pool, protocol);
                assert_eq!(fib(12), 144);
            });
        }
    });
    assert!(drowse::current_num_threads() > 0);
}

#[track_caller]
fn assert_sleeps_by(pool: &ThreadPool, protocol: &str) {
    assert_eq!(pool.metrics().protocol, protocol);
    assert!(format!("{pool:?}").contains(&format!("protocol: {protocol:?}")), "{pool:?}");
    assert_works(pool);
}

#[track_caller]
fn assert_silent(ended: &Ended) {
    ended.assert_done();
    assert_eq!(ended.complaints(), [""; 0]);
}

/// One line, which says what was wrong, what there is, and what is used instead.
#[track_caller]
fn assert_one_complaint(ended: &Ended, value: &str) {
    ended.assert_done();
    let complaints = ended.complaints();
    assert_eq!(complaints.len(), 1, "{complaints:?}");
    for part in [SLEEP, &format!("{value:?}"), "sleepy, counters, jec", "using relay"] {
        assert!(complaints[0].contains(part), "{part} in {}", complaints[0]);
    }
    assert_eq!(
        ended.stderr.lines().filter(|line| line.contains(SLEEP)).count(),
        1,
        "{}",
        ended.stderr
    );
}

#[test]
fn without_the_variable_it_is_the_default() {
    assert_silent(&in_child(this_test!(), &[], || assert_chosen("relay")));
}

#[test]
fn sleepy_is_chosen() {
    assert_silent(&in_child(this_test!(), &[(SLEEP, "sleepy")], || assert_chosen("sleepy")));
}

#[test]
fn relay_is_chosen() {
    assert_silent(&in_child(this_test!(), &[(SLEEP, "relay")], || assert_chosen("relay")));
}

#[test]
fn counters_is_chosen() {
    assert_silent(&in_child(this_test!(), &[(SLEEP, "counters")], || assert_chosen("counters")));
}

#[test]
fn jec_is_chosen() {
    assert_silent(&in_child(this_test!(), &[(SLEEP, "jec")], || assert_chosen("jec")));
}

#[test]
fn blanks_around_it_do_not_matter() {
    assert_silent(&in_child(this_test!(), &[(SLEEP, " sleepy ")], || assert_chosen("sleepy")));
}

#[test]
fn an_unknown_name_is_complained_about_once() {
    assert_one_complaint(
        &in_child(this_test!(), &[(SLEEP, "snooze")], || assert_chosen("relay")),
        "snooze",
    );
}

#[test]
fn capitals_do_not_matter() {
    assert_silent(&in_child(this_test!(), &[(SLEEP, "Sleepy")], || assert_chosen("sleepy")));
}

#[test]
fn an_empty_value_counts_as_not_set() {
    assert_silent(&in_child(this_test!(), &[(SLEEP, "")], || assert_chosen("relay")));
}

#[test]
fn the_global_pool_reads_it_too() {
    assert_one_complaint(
        &in_child(this_test!(), &[(SLEEP, "snooze")], || assert_eq!(fib(12), 144)),
        "snooze",
    );
}

#[test]
fn a_protocol_in_the_program_counts_more() {
    let ended = in_child(this_test!(), &[(SLEEP, "sleepy")], || {
        for protocol in SleepProtocol::ALL {
            let builder = ThreadPoolBuilder::new().num_threads(2).sleep_protocol(protocol);
            assert_sleeps_by(&builder.build().unwrap(), protocol.name());
        }
        assert_chosen("sleepy");
    });
    assert_silent(&ended);
}

#[test]
fn where_the_program_says_the_variable_is_not_even_read() {
    let ended = in_child(this_test!(), &[(SLEEP, "snooze")], || {
        let builder =
            || ThreadPoolBuilder::new().num_threads(2).sleep_protocol(SleepProtocol::Sleepy);
        assert_sleeps_by(&builder().build().unwrap(), "sleepy");
        builder().build_global().unwrap();
        assert_eq!(fib(12), 144);
    });
    assert_silent(&ended);
}
