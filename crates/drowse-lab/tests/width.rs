//! What is printed fits a terminal of 80 columns.

mod common;
mod fixtures;

use common::{Scratch, lab};
use drowse_lab::schema::Results;

/// Says which line does not fit. What has no space to be broken at, such as a long path, may be
/// longer.
fn fits(what: &[&str], text: &str) {
    for line in text.lines() {
        let columns = line.chars().count();
        assert!(
            columns <= 80 || !line.trim().contains(' '),
            "{columns} columns of {what:?}: {line}"
        );
        assert_eq!(line, line.trim_end(), "{what:?}");
    }
    assert!(text.lines().any(|line| line.chars().count() > 40), "{what:?} says much: {text}");
}

#[test]
fn lists_and_help_fit() {
    fits(&["list"], &lab(&["list"]).went_well());
    fits(&["--help"], &lab(&["--help"]).went_well());
    fits(&["-h"], &lab(&["-h"]).went_well());
    for command in ["list", "run", "compare", "trace", "report", "diff", "hangs"] {
        fits(&[command, "--help"], &lab(&[command, "--help"]).went_well());
    }
    fits(&["a mistake"], &lab(&["run", "-w", "fob"]).ended_with(2));
}

#[test]
fn measured_figures_fit() {
    let scratch = Scratch::new("width");
    let out = scratch.path("");
    let mut args = vec![
        "compare",
        "--workload",
        "bursts",
        "--workload",
        "heavy_pair",
        "--contender",
        "channel",
    ];
    args.extend([
        "--contender",
        "serial",
        "--contender",
        "drowse-counters",
        "--contender",
        "rayon-on-drowse",
    ]);
    args.extend([
        "--threads",
        "1",
        "--threads",
        "32",
        "--rounds",
        "1",
        "--time",
        "1ms",
        "--out",
        &out,
    ]);
    fits(&args, &lab(&args).went_well());
    for workload in ["bursts", "skewed"] {
        let args = ["run", "-w", workload, "-t", "2", "--time", "1ms"];
        fits(&args, &lab(&args).went_well());
    }
}

#[test]
fn reports_and_differences_fit() {
    let scratch = Scratch::new("width-report");
    let write = |name: &str, results: &Results| {
        scratch.write(name, &serde_json::to_string(results).unwrap())
    };
    let mut results = fixtures::results();
    let before = write("before.json", &results);
    fits(&["report"], &lab(&["report", &before]).went_well());
    for cell in &mut results.cells {
        if let drowse_lab::schema::Outcome::Figures(figures) = &mut cell.outcome {
            figures.samples.values_mut().flatten().for_each(|sample| *sample *= 3.0);
        }
    }
    results.host.cpu = "another processor with quite a long name @ 3.14 GHz".to_owned();
    let after = write("after.json", &results);
    let args = ["diff", before.as_str(), &after];
    fits(&args, &lab(&args).said());
}
