//! Every contender does every workload, or says why not.

mod common;

use common::watchdog::watchdog;
use drowse_lab::child::{self, Order};
use drowse_lab::schema::Outcome;
use drowse_lab::{contender, workload};
use std::time::Duration;

/// The figures that may be nothing at all.
const MAY_BE_ZERO: [(&str, &str); 7] = [
    ("idle", "cpu"),
    ("idle", "switches"),
    ("inside_wake", "elsewhere"),
    ("flood_memory", "growth"),
    ("mutual_wait", "slow"),
    ("mutual_wait_busy1", "slow"),
    ("mutual_wait_busy2", "slow"),
];

/// Whether the system tells what this workload wants to know.
fn can_be_measured(workload: &str) -> bool {
    workload != "flood_memory" || cfg!(target_os = "linux")
}

fn run(workload: &str, contender: &str) -> Outcome {
    let order = Order {
        workload: workload.to_owned(),
        contender: contender.to_owned(),
        threads: 2,
        time: Duration::from_millis(1),
    };
    println!("{workload} on {contender}");
    let outcome = watchdog(move || child::run(&order));
    outcome.unwrap_or_else(|| panic!("{workload} or {contender} is listed, but is not there"))
}

fn check(workload: &workload::Spec, contender: &str, outcome: Outcome) {
    let name = workload.name;
    match outcome {
        Outcome::Figures(figures) => {
            let mut expected: Vec<_> =
                workload.measures.iter().map(|measure| measure.name).collect();
            expected.sort_unstable();
            assert!(
                figures.samples.keys().eq(expected),
                "{name}, {contender}: {:?}",
                figures.samples.keys()
            );
            for (measure, samples) in &figures.samples {
                let fewest =
                    if MAY_BE_ZERO.contains(&(name, measure)) { 0.0 } else { f64::MIN_POSITIVE };
                let is_fine = |sample: &f64| sample.is_finite() && *sample >= fewest;
                assert!(samples.len() >= 5, "{name}, {contender}, {measure}: {samples:?}");
                assert!(samples.iter().all(is_fine), "{name}, {contender}, {measure}: {samples:?}");
            }
        }
        Outcome::None { reason } => {
            assert!(
                !reason.is_empty() && !reason.contains("panicked"),
                "{name}, {contender}: {reason}"
            );
            let has_none = !contender.starts_with("drowse") || !can_be_measured(name);
            assert!(has_none, "{contender} has no figures for {name}: {reason}");
        }
    }
}

/// Runs the workload on those contenders that are drowse, or on the others.
fn check_cells(workload: &str, of_drowse: bool) {
    let workload = workload::ALL.iter().find(|spec| spec.name == workload).expect("it is listed");
    for contender in contender::ALL.iter().filter(|c| c.name.starts_with("drowse") == of_drowse) {
        let outcome = run(workload.name, contender.name);
        check(workload, contender.name, outcome);
    }
}

/// Two tests for each of these workloads.
macro_rules! cells {
    ($($workload:ident)+) => {
        mod has_figures_of_drowse {
            $(#[test]
            fn $workload() {
                super::check_cells(stringify!($workload), true);
            })+
        }

        mod has_figures_of_others_or_a_reason {
            $(#[test]
            fn $workload() {
                super::check_cells(stringify!($workload), false);
            })+
        }

        #[test]
        fn each_workload_has_its_tests() {
            let names: Vec<_> = workload::ALL.iter().map(|workload| workload.name).collect();
            assert_eq!(names, [$(stringify!($workload)),+], "see the list in this file");
        }
    };
}

cells! {
    fib
    tree_sum
    tree_sum_large
    tree_sum_children_first
    fork_flood
    heavy_pair
    skewed
    quicksort
    matmul
    nbody
    mandelbrot
    sieve
    ticks
    frames
    bursts
    idle
    cold_entry
    hot_entry
    region_chain
    inside_wake
    ramp_up
    flood_outside
    flood_inside
    flood_memory
    small_tree
    submitters
    two_submitters
    oversubscription
    gang
    mutual_wait
    mutual_wait_busy1
    mutual_wait_busy2
    await_job
    ping_pong
    yield_storm
}

#[test]
fn names_are_unique_and_each_workload_says_what_it_is() {
    let mut names: Vec<_> = workload::ALL.iter().map(|workload| workload.name).collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    for workload in workload::ALL {
        assert!(!workload.about.is_empty() && !workload.measures.is_empty(), "{}", workload.name);
        for measure in workload.measures {
            assert!(
                !measure.label.is_empty() && measure.unit.len() < 8,
                "{}: {measure:?}",
                workload.name
            );
        }
    }
}
