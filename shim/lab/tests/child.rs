//! What this program says when the lab asks it.

#[path = "../../rayon-core/tests/common/mod.rs"]
mod common;

use serde_json::Value;
use std::process::Command;

fn ask(contender: &str, more: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_drowse-lab-on-drowse"));
    command.args([
        "child",
        "--workload",
        "fib",
        "--contender",
        contender,
        "--threads",
        "2",
        "--time-us",
        "1000",
    ]);
    let output = common::output(contender, command.args(more));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn rayon_runs_on_drowse_here() {
    let answer = ask("rayon-on-drowse", &[]);
    let samples = answer["figures"]["samples"]["join"].as_array().unwrap();
    assert!(
        samples.len() >= 5 && samples.iter().all(|sample| sample.as_f64().unwrap() > 0.0),
        "{answer}"
    );
    assert_eq!(answer["figures"]["counts"]["join"][0].as_u64(), Some(samples.len() as u64));
}

#[test]
fn rayon_as_it_is_published_is_not_to_be_had_here() {
    let answer = ask("rayon", &[]);
    assert_eq!(answer["none"]["reason"], "rayon's core is drowse in this program, not its own");
}

#[test]
fn it_does_not_answer_a_lab_of_other_sources() {
    let answer = ask("rayon-on-drowse", &["--sources", "0123"]);
    let reason = answer["none"]["reason"].as_str().unwrap();
    assert!(reason.contains("other sources") && reason.contains("cargo build"), "{reason}");
}
