//! `hangs`: programs that end badly, and what cures them.

#![cfg(target_os = "linux")]

mod common;

use common::{flat, lab};
use serde_json::Value;

/// What came of a program: by its runtime, and with a cure or without.
fn outcome<'a>(table: &'a Value, program: &str, runtime: &str, cure: Option<&str>) -> &'a str {
    let programs = table["programs"].as_array().unwrap();
    let row = programs.iter().find(|row| row["program"] == program).unwrap();
    let runs = row["runs"].as_array().unwrap();
    let run =
        runs.iter().find(|run| run["runtime"] == runtime && run["cure"].as_str() == cure).unwrap();
    run["outcome"].as_str().unwrap()
}

#[test]
fn what_ends_badly_is_told_apart_and_cured() {
    let programs = ["-p", "cross_pool_cell", "-p", "panic_in_spawn", "-p", "stacks"];
    let text = lab(&[&["hangs", "--timeout", "60s", "--json"], &programs[..]].concat()).said();
    let table: Value = serde_json::from_str(&text).unwrap();
    for runtime in ["rayon", "drowse"] {
        assert_eq!(outcome(&table, "cross_pool_cell", runtime, None), "wrong", "{text}");
        assert_eq!(outcome(&table, "panic_in_spawn", runtime, None), "aborted", "{text}");
    }
    assert_eq!(outcome(&table, "stacks", "rayon", None), "aborted", "{text}");
    for (program, cure) in [
        ("cross_pool_cell", "install_blocking"),
        ("panic_in_spawn", "spawn_handle"),
        ("stacks", "install_blocking"),
    ] {
        assert_eq!(outcome(&table, program, "drowse", Some(cure)), "finished", "{text}");
    }
}

#[test]
fn what_hangs_is_ended() {
    let args = ["hangs", "--program", "children_by_channel", "--timeout", "8s"];
    let ran = lab(&args);
    let said = ran.said();
    let told = ran.ended_with(0);
    assert!(told.contains("1 of 4: children_by_channel on rayon"), "{told}");
    assert!(
        told.contains("4 of 4: children_by_channel on drowse (spawn_handle, and its join)"),
        "{told}"
    );
    let row = said.lines().find(|line| line.starts_with("children_by_channel  ")).unwrap();
    let row = flat(row);
    let time = row.strip_prefix("children_by_channel hangs hangs ").unwrap();
    let time = time.strip_suffix("s drowse::blocking").unwrap();
    assert!(time.split(' ').next().unwrap().parse::<f64>().unwrap() > 0.0, "{said}");
    assert!(said.starts_with("children_by_channel: 5 tasks on 4 threads"), "{said}");
    assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
}

#[test]
fn help_names_the_programs() {
    let help = lab(&["hangs", "--help"]).went_well();
    for word in ["lock_across_join", "few_threads", "--timeout", "Examples:"] {
        assert!(help.contains(word), "{word} in {help}");
    }
    assert!(lab(&["hangs", "--program", "dance"]).ended_with(2).contains("dance"));
    assert!(
        lab(&["hangs-child", "--program", "fork", "--who", "7"])
            .ended_with(2)
            .contains("no program fork")
    );
}
