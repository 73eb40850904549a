//! How many threads a pool has that did not say: what rayon-core's variables mean. True of
//! rayon-core itself too.

mod common;

use common::in_child;
use rayon_core::ThreadPoolBuilder;
use std::thread::available_parallelism;

/// Demands this number of a process with these variables, for a pool and for the global one.
#[track_caller]
fn demand(test: &str, variables: &[(&str, &str)], threads: usize) {
    in_child(test, variables, || {
        assert_eq!(
            ThreadPoolBuilder::new().build().unwrap().current_num_threads(),
            threads,
            "{variables:?}"
        );
        assert_eq!(
            ThreadPoolBuilder::new().num_threads(2).build().unwrap().current_num_threads(),
            2
        );
        assert_eq!(rayon_core::current_num_threads(), threads, "{variables:?}");
    });
}

fn default() -> usize {
    available_parallelism().map_or(1, usize::from)
}

#[test]
fn nothing_means_as_many_as_the_process_may_run_at_once() {
    demand("nothing_means_as_many_as_the_process_may_run_at_once", &[], default());
}

#[test]
fn rayon_num_threads_says_how_many() {
    demand("rayon_num_threads_says_how_many", &[("RAYON_NUM_THREADS", "5")], 5);
}

#[test]
fn the_older_name_says_so_too() {
    demand("the_older_name_says_so_too", &[("RAYON_RS_NUM_CPUS", "5")], 5);
}

#[test]
fn the_newer_name_comes_first() {
    demand(
        "the_newer_name_comes_first",
        &[("RAYON_NUM_THREADS", "5"), ("RAYON_RS_NUM_CPUS", "7")],
        5,
    );
}

#[test]
fn zero_means_the_default_whatever_the_older_name_says() {
    let name = "zero_means_the_default_whatever_the_older_name_says";
    demand(name, &[("RAYON_NUM_THREADS", "0"), ("RAYON_RS_NUM_CPUS", "7")], default());
}

#[test]
fn zero_means_the_default_under_the_older_name_too() {
    demand(
        "zero_means_the_default_under_the_older_name_too",
        &[("RAYON_RS_NUM_CPUS", "0")],
        default(),
    );
}

#[test]
fn what_is_no_number_is_as_good_as_nothing() {
    let name = "what_is_no_number_is_as_good_as_nothing";
    demand(name, &[("RAYON_NUM_THREADS", "many"), ("RAYON_RS_NUM_CPUS", "7")], 7);
}

#[test]
fn white_space_makes_no_number() {
    demand(
        "white_space_makes_no_number",
        &[("RAYON_NUM_THREADS", " 5 "), ("RAYON_RS_NUM_CPUS", "7")],
        7,
    );
}

#[test]
fn a_negative_number_is_none() {
    demand("a_negative_number_is_none", &[("RAYON_NUM_THREADS", "-5")], default());
}

#[test]
fn an_empty_value_is_no_number() {
    demand("an_empty_value_is_no_number", &[("RAYON_NUM_THREADS", "")], default());
}

#[test]
fn a_builder_that_asks_for_too_many_gets_the_most() {
    // No thread runs the workers: this is about their number.
    let builder = ThreadPoolBuilder::new().num_threads(usize::MAX).spawn_handler(|_| Ok(()));
    let most = rayon_core::max_num_threads();
    assert_eq!(builder.build().unwrap().current_num_threads(), most);
}
