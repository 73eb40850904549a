//! Where results go, and that they get there no matter who listens.

#![cfg(target_os = "linux")]

mod common;

use common::{Scratch, lab, lab_heard_by};
use drowse_lab::report;
use std::fs::{self, OpenOptions};
use std::path::Path;
use std::process::{Command, Stdio};

/// A comparison of one cell.
fn compare(out: &str) -> [&str; 13] {
    let [a, b] = ["--threads", "1"];
    ["compare", "-w", "fib", "-c", "serial", a, b, "--rounds", "2", "--time", "1ms", "--out", out]
}

#[test]
fn an_out_that_cannot_be_written_is_refused_before_measuring() {
    let scratch = Scratch::new("refused");
    let file = scratch.write("file", "in the way");
    let below = format!("{file}/below");
    fs::create_dir_all(scratch.path("taken/results.json")).unwrap();
    let taken = scratch.path("taken");
    // Nobody can write there, not even root.
    let cases = [
        (file.as_str(), "it is no directory"),
        (&below, "Not a directory"),
        (&taken, "results.json is a directory"),
        ("/proc/self", "cannot write to /proc/self: "),
        ("/proc/no/such/place", "cannot write to /proc/no/such/place: "),
    ];
    for (out, why) in cases {
        let told = lab(&compare(out)).ended_with(2);
        assert!(told.contains(&format!("error: cannot write to {out}: ")), "{told}");
        assert!(told.contains(why) && !told.contains("round 1"), "{told}");
    }
    let told = lab(&["trace", "--workload", "fib", "--out", &file]).ended_with(2);
    assert!(told.contains(&format!("error: cannot write to {file}: it is no directory")), "{told}");
    assert_eq!(scratch.read("file"), "in the way");
}

#[test]
fn a_place_without_room_is_refused_too() {
    let scratch = Scratch::new("room");
    let out = scratch.path("");
    let mut shell = Command::new("sh");
    // No file may be larger than some kilobytes: what a full device does, without one.
    shell.args([
        "-c",
        "trap '' XFSZ; ulimit -f 8; exec \"$@\"",
        "sh",
        env!("CARGO_BIN_EXE_drowse-lab"),
    ]);
    let output = shell.args(compare(&out)).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("error: cannot write to ") && !told.contains("round 1"), "{told}");
    assert_eq!(fs::read_dir(&out).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn what_was_there_is_kept_and_nothing_else_is_left() {
    let scratch = Scratch::new("left");
    let out = scratch.path("deep/er");
    lab(&compare(&out)).went_well();
    lab(&compare(&out)).went_well();
    let mut names: Vec<_> = fs::read_dir(&out)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["report.html", "results.json", "results.previous.json"]);
}

/// A pipe whose reader has gone.
fn closed() -> Stdio {
    let mut reader = Command::new("true").stdin(Stdio::piped()).spawn().unwrap();
    let writer = reader.stdin.take().unwrap();
    reader.wait().unwrap();
    writer.into()
}

/// A device on which everything fails.
fn full() -> Stdio {
    OpenOptions::new().write(true).open("/dev/full").unwrap().into()
}

#[test]
fn whoever_does_not_listen_loses_no_results() {
    type End = fn() -> Stdio;
    let ends: [(&str, End, End, i32); 6] = [
        ("both closed", closed, closed, 0),
        ("output closed", closed, Stdio::null, 0),
        ("errors closed", Stdio::null, closed, 0),
        ("errors full", Stdio::null, full, 0),
        ("output full", full, Stdio::null, 2),
        ("both full", full, full, 2),
    ];
    for (name, output, errors, code) in ends {
        let scratch = Scratch::new(&name.replace(' ', "-"));
        let out = scratch.path("");
        assert_eq!(lab_heard_by(output(), errors(), &compare(&out)), Some(code), "{name}");
        let results =
            report::read(scratch.path("results.json")).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(results.cells.len(), 1, "{name}");
        assert!(Path::new(&scratch.path("report.html")).exists(), "{name}");
    }
}

#[test]
fn nothing_that_is_said_to_nobody_panics() {
    let (missing, none) = ("no/such/results.json", ["--help"].as_slice());
    let cases: [(&[&str], i32); 6] = [
        (none, 0),
        (&["list"], 0),
        (&["dance"], 2),
        (&["report", missing], 2),
        (&["run", "-w", "ticks", "-c", "serial"], 1),
        (&["run", "-w", "fib", "-c", "serial", "--time", "1ms"], 0),
    ];
    for (args, code) in cases {
        assert_eq!(lab_heard_by(closed(), closed(), args), Some(code), "{args:?}");
        let code = if code == 0 || code == 1 { 2 } else { code };
        assert_eq!(lab_heard_by(full(), full(), args), Some(code), "{args:?}");
    }
}
