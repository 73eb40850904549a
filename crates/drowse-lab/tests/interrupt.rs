//! Ctrl-C, and what becomes of what was measured.

#![cfg(target_os = "linux")]

mod common;

use common::patience::Patience;
use common::running::{Running, is_running};
use common::screen::screen;
use common::{Scratch, flat};
use drowse_lab::report;
use drowse_lab::schema::{NOT_MEASURED, Outcome};
use std::ffi::CString;
use std::path::Path;
use std::thread;
use std::time::Duration;

/// Five cells. In the order of a first round, fork_flood is over soon, however long it may measure;
/// frames is not; the others come after it.
fn one_takes_long(out: &str) -> Vec<&str> {
    let mut args = vec!["compare", "--rounds", "2", "--time", "10min", "--contender", "serial"];
    for workload in ["fib", "tree_sum", "fork_flood", "frames", "bursts"] {
        args.extend(["--workload", workload]);
    }
    args.extend(["--threads", "2", "--out", out]);
    args
}

#[test]
fn ctrl_c_keeps_what_was_measured_and_says_where() {
    let scratch = Scratch::new("ctrl-c");
    let out = scratch.path("");
    let mut lab = Running::on_a_terminal(&one_takes_long(&out));
    lab.until_it_says("frames on serial");
    let child = lab.until_it_has_a_child("frames");
    lab.type_ctrl_c();
    let (code, said, heard) = lab.ended();
    assert_eq!(code, Some(130), "{said}{heard}");
    assert!(!is_running(child), "its child has ended");

    let results = report::read(scratch.path("results.json")).unwrap();
    let missing = Outcome::None { reason: NOT_MEASURED.to_owned() };
    for cell in &results.cells {
        let measured = matches!(cell.outcome, Outcome::Figures(_));
        assert_eq!(measured, cell.workload == "fork_flood", "{cell:?}");
        assert!(measured || cell.outcome == missing, "nobody has failed: {cell:?}");
    }
    let note = "stopped by Ctrl-C in round 1 of 2: 4 of 5 cells were not measured";
    assert!(results.notes.iter().any(|told| told == note), "{:?}", results.notes);
    assert!(scratch.read("report.html").contains(note));

    let told = flat(&said);
    assert!(
        told.contains(note) && told.contains("Not measured: fib, tree_sum, frames, bursts."),
        "{said}"
    );
    assert!(
        told.contains(&scratch.path("report.html")) && told.contains(&scratch.path("results.json"))
    );
    let screen = screen(&heard);
    assert!(heard.contains("=>"), "there was a bar: {heard:?}");
    assert!(
        !screen.iter().any(|line| line.contains("=>") || line.contains(" left ")),
        "{screen:#?}"
    );
    assert!(screen.iter().any(|line| line.starts_with("stopped by Ctrl-C: ")), "{screen:#?}");
    assert!(screen.iter().all(|line| line.chars().count() <= 80), "{screen:#?}");
}

#[test]
fn sigterm_does_too() {
    let scratch = Scratch::new("sigterm");
    let out = scratch.path("");
    let mut args =
        vec!["compare", "--workload", "fib", "--contender", "serial", "--contender", "drowse"];
    args.extend(["--rounds", "5000", "--time", "1ms", "--out", &out]);
    let mut lab = Running::start(&args);
    lab.until_it_says("round 2 of 5000");
    lab.signal(libc::SIGTERM);
    let (code, said, heard) = lab.ended();
    assert_eq!(code, Some(143), "{said}{heard}");
    assert!(
        heard.contains(&format!("the results so far are in {}", scratch.path("results.json"))),
        "{heard}"
    );
    let results = report::read(scratch.path("results.json")).unwrap();
    for cell in &results.cells {
        assert!(
            matches!(&cell.outcome, Outcome::Figures(figures) if figures.processes() > 0),
            "{cell:?}"
        );
    }
    assert!(
        results.notes.iter().any(|note| note.starts_with("stopped by SIGTERM in round ")),
        "{results:?}"
    );
}

#[test]
fn where_nothing_was_measured_nothing_is_written() {
    let scratch = Scratch::new("at-once");
    let (out, before) = (scratch.path(""), scratch.write("results.json", "those from before"));
    let mut args = vec!["compare", "--workload", "frames", "--contender", "serial"];
    args.extend(["--time", "10min", "--out", &out]);
    let mut lab = Running::on_a_terminal(&args);
    lab.until_it_says("frames on serial");
    lab.type_ctrl_c();
    let (code, said, heard) = lab.ended();
    assert_eq!((code, said.as_str()), (Some(130), ""), "{heard}");
    assert!(flat(&heard).contains("stopped by Ctrl-C before anything was measured"), "{heard}");
    assert_eq!(std::fs::read_to_string(before).unwrap(), "those from before");
    assert!(!Path::new(&scratch.path("report.html")).exists());
}

#[test]
fn a_second_one_ends_it_at_once() {
    let scratch = Scratch::new("twice");
    let out = scratch.path("");
    // A page that nobody reads: the program waits for a reader as long as it may.
    let page = CString::new(scratch.path("report.html")).unwrap();
    // SAFETY: the path is a string that ends with a zero, and lives as long as the call.
    assert_eq!(unsafe { libc::mkfifo(page.as_ptr(), 0o600) }, 0);
    let mut lab = Running::on_a_terminal(&one_takes_long(&out));
    lab.until_it_says("frames on serial");
    lab.type_ctrl_c();
    lab.until_it_says("once more ends at once");
    lab.type_ctrl_c();
    let (code, said, heard) = lab.ended();
    assert_eq!((code, said.as_str()), (Some(130), ""), "{heard}");
}

#[test]
fn two_that_come_together_are_one() {
    let scratch = Scratch::new("together");
    let out = scratch.path("");
    let mut lab = Running::on_a_terminal(&one_takes_long(&out));
    lab.until_it_says("frames on serial");
    (0..3).for_each(|_| lab.signal(libc::SIGINT));
    lab.until_it_says("once more ends at once");
    let (code, _, heard) = lab.ended();
    assert_eq!(code, Some(130), "{heard}");
    assert!(std::path::Path::new(&scratch.path("results.json")).exists(), "{heard}");
}

#[test]
fn a_single_cell_is_stopped_with_its_process() {
    let args = ["run", "--workload", "frames", "--contender", "serial", "--time", "10min"];
    let lab = Running::start(&args);
    let child = lab.until_it_has_a_child("frames");
    lab.signal(libc::SIGINT);
    let (code, said, heard) = lab.ended();
    assert_eq!((code, said.as_str()), (Some(130), ""), "{heard}");
    assert!(heard.contains("stopped by Ctrl-C: nothing was measured"), "{heard}");
    assert!(!is_running(child), "its child has ended");
}

/// Left alone, the child would run for twice as long.
const SHORT_OF_ITS_LIFE: Duration = Duration::from_secs(15);

#[test]
fn a_child_does_not_outlive_a_lab_that_was_killed() {
    let args = ["run", "--workload", "frames", "--contender", "serial", "--time", "10min"];
    let lab = Running::start(&args);
    let child = lab.until_it_has_a_child("frames");
    lab.signal(libc::SIGKILL);
    assert_eq!(lab.ended().0, None, "it was killed");
    let mut patience = Patience::of(SHORT_OF_ITS_LIFE);
    while is_running(child) {
        assert!(!patience.is_over(), "its child runs on: {patience}");
        thread::park_timeout(Duration::from_millis(1));
    }
}
