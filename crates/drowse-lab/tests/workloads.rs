//! Every contender does every workload, or says why not.

use drowse_lab::child::{self, Order};
use drowse_lab::schema::Outcome;
use drowse_lab::{contender, workload};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

/// Longer than any cell takes, even where other programs want the processors.
const WATCHDOG: Duration = Duration::from_secs(60);

/// The figures that may be nothing at all.
const MAY_BE_ZERO: [(&str, &str); 4] =
    [("idle", "cpu"), ("idle", "switches"), ("inside_wake", "elsewhere"), ("flood_memory", "growth")];

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
    let (done, outcome) = channel();
    thread::spawn(move || done.send(child::run(&order)));
    let outcome =
        outcome.recv_timeout(WATCHDOG).unwrap_or_else(|_| panic!("{contender} hangs in {workload}"));
    outcome.unwrap_or_else(|| panic!("{workload} or {contender} is listed, but is not there"))
}

fn check(workload: &workload::Spec, contender: &str, outcome: Outcome) {
    let name = workload.name;
    match outcome {
        Outcome::Figures(figures) => {
            let mut expected: Vec<_> = workload.measures.iter().map(|measure| measure.name).collect();
            expected.sort_unstable();
            assert!(figures.samples.keys().eq(expected), "{name}, {contender}: {:?}", figures.samples.keys());
            for (measure, samples) in &figures.samples {
                let fewest = if MAY_BE_ZERO.contains(&(name, measure)) { 0.0 } else { f64::MIN_POSITIVE };
                let is_fine = |sample: &f64| sample.is_finite() && *sample >= fewest;
                assert!(samples.len() >= 5, "{name}, {contender}, {measure}: {samples:?}");
                assert!(samples.iter().all(is_fine), "{name}, {contender}, {measure}: {samples:?}");
            }
        }
        Outcome::None { reason } => {
            assert!(!reason.is_empty() && !reason.contains("panicked"), "{name}, {contender}: {reason}");
            let has_none = !contender.starts_with("drowse") || !can_be_measured(name);
            assert!(has_none, "{contender} has no figures for {name}: {reason}");
        }
    }
}

/// Runs each workload on those contenders that are drowse, or on the others.
fn check_cells(of_drowse: bool) {
    for workload in workload::ALL {
        for contender in contender::ALL.iter().filter(|c| c.name.starts_with("drowse") == of_drowse) {
            let outcome = run(workload.name, contender.name);
            check(workload, contender.name, outcome);
        }
    }
}

#[test]
fn each_cell_of_drowse_has_figures() {
    check_cells(true);
}

#[test]
fn each_cell_of_others_has_figures_or_a_reason() {
    check_cells(false);
}

#[test]
fn names_are_unique_and_each_workload_says_what_it_is() {
    let mut names: Vec<_> = workload::ALL.iter().map(|workload| workload.name).collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    for workload in workload::ALL {
        assert!(!workload.about.is_empty() && !workload.measures.is_empty(), "{}", workload.name);
        for measure in workload.measures {
            assert!(!measure.label.is_empty() && measure.unit.len() < 8, "{}: {measure:?}", workload.name);
        }
    }
}
