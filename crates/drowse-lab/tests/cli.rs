//! The program as its users see it.

mod common;

use common::{Ran, Scratch, flat, lab, lab_into};
use drowse_lab::schema::NOT_MEASURED;
use serde_json::Value;

/// Short, so that these tests are.
const TIME: [&str; 2] = ["--time", "1ms"];

/// One small comparison, written to the directory.
fn compare(scratch: &Scratch) -> Ran {
    let out = scratch.path("");
    let mut args =
        vec!["compare", "--workload", "fib", "--contender", "serial", "--contender", "channel"];
    args.extend(["--threads", "2", "--rounds", "2", "--out", out.as_str()]);
    args.extend(TIME);
    lab(&args)
}

#[test]
fn list_names_everything() {
    let text = lab(&["list"]).went_well();
    for word in
        ["fib", "time a join (ns; less is better)", "drowse-sleepy", "rayon-on-drowse", "jec"]
    {
        assert!(text.contains(word), "{word} in {text}");
    }
    assert!(text.contains("(µs; ") && !text.contains("(us; "), "{text}");
    let value: Value = serde_json::from_str(&lab(&["list", "--json"]).went_well()).unwrap();
    let fib = value["workloads"]
        .as_array()
        .unwrap()
        .iter()
        .find(|workload| workload["name"] == "fib")
        .unwrap();
    assert_eq!(fib["measures"][0]["unit"], "ns");
    assert!(
        value["contenders"]
            .as_array()
            .unwrap()
            .iter()
            .any(|contender| contender["name"] == "rayon")
    );
}

#[test]
fn help_has_examples_and_exit_codes() {
    let text = lab(&["--help"]).went_well();
    assert!(text.contains("Examples:") && text.contains("Exit codes:"), "{text}");
    for command in ["list", "run", "compare", "trace", "report", "diff", "hangs"] {
        assert!(text.contains(command), "{command}");
        lab(&[command, "--help"]).went_well();
    }
    assert!(!text.contains("child"), "the hidden command is hidden");
}

#[test]
fn run_measures_one_cell() {
    let [time, short] = TIME;
    let args = ["run", "--workload", "fib", "--contender", "serial", "--threads", "1", time, short];
    let text = lab(&args).went_well();
    assert!(text.starts_with("fib on serial, 1 thread: time a join "), "{text}");
    let text = lab(&[&args[..], &["--json"]].concat()).went_well();
    let cell: Value = serde_json::from_str(&text).unwrap();
    assert!(cell["outcome"]["figures"]["samples"]["join"][0].as_f64().unwrap() > 0.0, "{text}");
}

#[test]
fn run_takes_a_protocol() {
    let [time, short] = TIME;
    let text =
        lab(&["run", "-w", "fib", "-t", "2", "--protocol", "counters", time, short]).went_well();
    assert!(text.starts_with("fib on drowse-counters, 2 threads: "), "{text}");
    let told = lab(&["run", "-w", "fib", "-c", "rayon", "--protocol", "jec"]).ended_with(2);
    assert!(told.contains("--protocol is for --contender drowse"), "{told}");
}

#[test]
fn run_says_why_there_is_no_figure() {
    let ran = lab(&["run", "-w", "ticks", "-c", "serial"]);
    let text = ran.said();
    ran.ended_with(1);
    assert!(text.contains("no figure: there is no pool to give a job to"), "{text}");
    let ran = lab(&["run", "-w", "fib", "-c", "serial", "--timeout", "1us"]);
    let text = ran.said();
    ran.ended_with(1);
    assert!(text.contains("no answer within 0.000001 s"), "{text}");
}

#[test]
fn a_contender_for_other_workloads_is_left_out_unless_it_is_named() {
    let scratch = Scratch::new("left-out");
    let out = scratch.path("");
    let [time, short] = TIME;
    let args =
        ["compare", "-w", "fib", "--threads", "2", "--rounds", "1", time, short, "--out", &out];
    let text = flat(&lab(&args).went_well());
    let (table, notes) = text.split_once("Note: not measured, because no workload").unwrap();
    assert!(!table.contains("tokio"), "{text}");
    assert!(
        notes.contains("tokio, async-executor (run idle, await_job, ping_pong, yield_storm)"),
        "{text}"
    );
    assert!(notes.contains("tokio-rayon (runs idle, await_job)"), "{text}");
    assert!(!scratch.read("report.html").contains("<dt>tokio</dt>"), "nor is it in the page");
    let text = flat(&lab(&[&args[..], &["-c", "drowse", "-c", "tokio"]].concat()).went_well());
    assert!(
        text.contains("no figures: tokio [1]")
            && text.contains("[1] tokio: it is here for jobs that are awaited, and runs only"),
        "{text}"
    );
    assert!(!text.contains("not measured, because"), "{text}");
}

#[test]
fn what_is_wrong_is_answered_with_what_is_right() {
    let wrong: [(&[&str], &[&str]); 10] = [
        (&["run", "--workload", "fob"], &["fib", "ticks", "tree_sum"]),
        (&["run", "-w", "fib", "-c", "ryon"], &["rayon", "chili", "drowse-sleepy"]),
        (&["run", "-w", "fib", "-p", "jac"], &["jec", "counters", "sleepy"]),
        (&["run", "-w", "fib", "-t", "0"], &["from 1 to 1024"]),
        (&["run", "-w", "fib", "--time", "3h"], &["500ms, 2s or 1min"]),
        (&["compare", "--quick", "--full"], &["--quick", "--full"]),
        (&["trace"], &["--workload"]),
        (&["dance"], &["unrecognized subcommand"]),
        (&["--rounds", "5"], &["tip: ", "drowse-lab compare --rounds 5"]),
        (&["-w", "fib", "--full"], &["tip: ", "drowse-lab compare -w fib --full"]),
    ];
    for (args, words) in wrong {
        let told = lab(args).ended_with(2);
        words.iter().for_each(|word| assert!(told.contains(word), "{args:?} answers {told}"));
    }
}

#[test]
fn a_comparison_leaves_a_page_and_results_that_are_read_back() {
    let scratch = Scratch::new("compare");
    let text = compare(&scratch).went_well();
    let (page, results) = (scratch.path("report.html"), scratch.path("results.json"));
    assert!(text.contains(&page) && text.contains(&results), "{text}");
    assert!(scratch.read("report.html").contains("<html"), "a page");

    let value: Value = serde_json::from_str(&scratch.read("results.json")).unwrap();
    assert_eq!(value["format"], "drowse-lab/2");
    let plan = "quick --workload fib --contender serial --contender channel --threads 2 --rounds 2 --time 1ms";
    assert_eq!(value["plan"], plan);
    assert_eq!(value["cells"].as_array().unwrap().len(), 2);
    let serial = &value["cells"][0]["outcome"]["figures"];
    assert_eq!(serial["cpu_percent"].as_array().unwrap().len(), 2, "a process a round");
    let counts: Vec<_> =
        serial["counts"]["join"].as_array().unwrap().iter().filter_map(Value::as_u64).collect();
    assert!(counts.len() == 2 && counts.iter().all(|count| *count >= 5), "of both: {counts:?}");
    assert_eq!(
        serial["samples"]["join"].as_array().unwrap().len() as u64,
        counts.iter().sum::<u64>()
    );
    let reason = value["cells"][1]["outcome"]["none"]["reason"].as_str().unwrap();
    assert!(reason.contains("does not fork"), "{reason}");

    let again = scratch.path("again/page.html");
    let text = lab(&["report", &results, "--out", &again]).went_well();
    assert!(text.contains("fib") && text.contains(&again), "{text}");
    assert!(text.contains("\nNote: load before each round: "), "{text}");
    assert_eq!(scratch.read("again/page.html"), scratch.read("report.html"), "the same page");
    let told = lab(&["report", &results, "--out", &results]).ended_with(2);
    assert!(told.contains("overwrite"), "{told}");
}

#[test]
fn the_results_before_these_are_kept() {
    let scratch = Scratch::new("previous");
    let text = compare(&scratch).went_well();
    assert!(!text.contains("The results before these"), "{text}");
    for _ in 0..2 {
        let first = scratch.read("results.json");
        let text = compare(&scratch).went_well();
        let previous = scratch.path("results.previous.json");
        assert!(text.contains(&format!("The results before these: {previous}")), "{text}");
        assert_eq!(scratch.read("results.previous.json"), first);
        assert_ne!(scratch.read("results.json"), first);
    }
}

#[test]
fn results_round_trip() {
    let scratch = Scratch::new("round-trip");
    compare(&scratch).went_well();
    let results = drowse_lab::report::read(scratch.path("results.json")).unwrap();
    let text = serde_json::to_string(&results).unwrap();
    assert_eq!(drowse_lab::report::parse("again", &text).unwrap(), results);
}

#[test]
fn diff_tells_what_moved_and_its_exit_code_too() {
    let scratch = Scratch::new("diff");
    compare(&scratch).went_well();
    let steady = scaled(&scratch, "steady.json", 1.0);
    let slow = scaled(&scratch, "slow.json", 3.0);
    assert!(lab(&["diff", &steady, &steady]).went_well().contains("Nothing moved beyond noise"));
    let ran = lab(&["diff", &steady, &slow]);
    let text = ran.said();
    ran.ended_with(1);
    assert!(text.contains("WORSE   fib on serial, 2 threads: time a join (3.00x)"), "{text}");
    let text = lab(&["diff", &slow, &steady]).went_well();
    assert!(
        text.contains("better  fib on serial") && text.contains("1 better and 0 worse"),
        "{text}"
    );
    let value: Value =
        serde_json::from_str(&lab(&["diff", &slow, &steady, "--json"]).went_well()).unwrap();
    assert_eq!(
        (&value["moves"][0]["better"], &value["compared"]),
        (&Value::Bool(true), &Value::from(1))
    );
}

#[test]
fn what_moved_on_a_busy_machine_is_told_but_does_not_count() {
    let scratch = Scratch::new("busy");
    compare(&scratch).went_well();
    let steady = scaled(&scratch, "steady.json", 1.0);
    scaled(&scratch, "slow.json", 3.0);
    let mut slow: Value = serde_json::from_str(&scratch.read("slow.json")).unwrap();
    slow["cells"][0]["outcome"]["figures"]["noisy"] = (0..3).collect();
    let slow = scratch.write("slow.json", &slow.to_string());
    let text = lab(&["diff", &steady, &slow]).went_well();
    assert!(
        text.contains("noise?  fib on serial") && text.contains("Nothing moved beyond noise"),
        "{text}"
    );
}

#[test]
fn two_runs_of_few_processes_are_not_said_to_differ() {
    let scratch = Scratch::new("few");
    compare(&scratch).went_well();
    let steady = in_processes(&scratch, "steady.json", 1.0, &[10, 10]);
    let slow = in_processes(&scratch, "slow.json", 3.0, &[5; 4]);
    let text = lab(&["diff", &steady, &slow]).went_well();
    let line = "unsure fib on serial, 2 threads: time a join (3.00x): 100 ns to 300 ns: too few runs to tell";
    let text = flat(&text);
    assert!(text.contains(line), "{text}");
    assert!(
        text.contains("compare --rounds 5") && text.contains("Nothing can be judged"),
        "{text}"
    );
    // Of two runs that do not even seem to differ, the answer is the same: nobody can tell.
    let text = flat(&lab(&["diff", &steady, &steady]).went_well());
    assert!(!text.contains("unsure") && text.contains("Nothing can be judged"), "{text}");
    assert!(text.contains("measure both sides with `compare --rounds 5`"), "{text}");
    let default = in_processes(&scratch, "default.json", 1.0, &[7, 7, 6]);
    let text = flat(&lab(&["diff", &default, &default]).went_well());
    assert!(text.contains("measure both sides with `compare --rounds 5`"), "{text}");
    let value: Value =
        serde_json::from_str(&lab(&["diff", &steady, &slow, "--json"]).went_well()).unwrap();
    assert_eq!(value["moves"][0]["better"], Value::Null);
    assert_eq!(value["moves"][0]["unsure"], "too few runs to tell");
}

#[test]
fn a_debug_build_says_that_its_figures_mean_nothing() {
    let scratch = Scratch::new("debug");
    let debug = cfg!(debug_assertions);
    let told = compare(&scratch).ended_with(0);
    assert_eq!(told.contains("its figures mean nothing"), debug, "{told}");
    assert_eq!(scratch.read("report.html").contains("its figures mean nothing"), debug);
    let told = lab(&["list"]).ended_with(0);
    assert!(told.is_empty(), "{told}");
}

#[test]
fn a_contender_with_a_program_of_its_own_says_so_here() {
    let child = [
        "child",
        "--workload",
        "fib",
        "--contender",
        "rayon-on-drowse",
        "--threads",
        "2",
        "--time-us",
        "1",
    ];
    let said = lab(&child).went_well();
    assert!(said.contains("rayon's core is its own in this program"), "{said}");
}

/// The results with steady figures of five processes, all of them this many times as large.
fn scaled(scratch: &Scratch, name: &str, factor: f64) -> String {
    in_processes(scratch, name, factor, &[4; 5])
}

/// The same with so many samples per process; twenty altogether.
fn in_processes(scratch: &Scratch, name: &str, factor: f64, counts: &[usize]) -> String {
    let mut value: Value = serde_json::from_str(&scratch.read("results.json")).unwrap();
    let samples: Vec<f64> = (0..20).map(|i| factor * (100.0 + f64::from(i) / 100.0)).collect();
    value["cells"][0]["outcome"]["figures"]["samples"]["join"] = samples.into();
    value["cells"][0]["outcome"]["figures"]["counts"]["join"] = counts.into();
    value["cells"][0]["outcome"]["figures"]["noisy"] = Value::Array(Vec::new());
    scratch.write(name, &value.to_string())
}

#[test]
fn a_figure_that_is_gone_is_worse() {
    let scratch = Scratch::new("gone");
    compare(&scratch).went_well();
    let results = scaled(&scratch, "steady.json", 1.0);
    let mut value: Value = serde_json::from_str(&scratch.read("results.json")).unwrap();
    value["cells"][0]["outcome"] = serde_json::json!({"none": {"reason": "it died"}});
    let gone = scratch.write("gone.json", &value.to_string());
    let ran = lab(&["diff", &results, &gone]);
    let text = ran.said();
    ran.ended_with(1);
    assert!(text.contains("no figure any more: it died"), "{text}");
    value["cells"] = Value::Array(Vec::new());
    let empty = scratch.write("empty.json", &value.to_string());
    assert!(lab(&["diff", &results, &empty]).ended_with(2).contains("no cell in common"));
}

#[test]
fn what_was_not_measured_is_not_worse() {
    let scratch = Scratch::new("stopped");
    compare(&scratch).went_well();
    let results = scaled(&scratch, "steady.json", 1.0);
    let mut value: Value = serde_json::from_str(&scratch.read("results.json")).unwrap();
    value["cells"][0]["outcome"] = serde_json::json!({"none": {"reason": NOT_MEASURED}});
    value["contenders"][1]["about"] = "something else by the same name".into();
    let stopped = scratch.write("stopped.json", &value.to_string());
    let told = lab(&["diff", &results, &stopped]).ended_with(2);
    assert!(told.contains("no cell in common"), "{told}");
    value["cells"][0]["threads"] = 3.into();
    value["cells"][1]["outcome"] = serde_json::json!({"figures": {"samples": {}, "counts": {}}});
    let stopped = scratch.write("stopped.json", &value.to_string());
    let text = flat(&lab(&["diff", &results, &stopped]).went_well());
    assert!(text.contains("Note: 1 cells are in the first only, 0 in the second only."), "{text}");
    assert!(
        text.contains("Note: not the same channel: ") && text.contains("something else by"),
        "{text}"
    );
}

#[test]
fn broken_and_foreign_files_get_a_clear_answer() {
    let scratch = Scratch::new("broken");
    compare(&scratch).went_well();
    let whole = scratch.read("results.json");
    let good = scratch.path("results.json");
    let half = scratch.write("half.json", &whole[..whole.len() / 2]);
    let foreign = scratch.write("foreign.json", "{\"name\": \"somebody else's\"}");
    let newer = scratch.write("newer.json", &whole.replace("drowse-lab/2", "drowse-lab/999"));
    let text = scratch.write("text.json", "no JSON at all");
    let empty = scratch.write("empty.json", "");
    let nowhere = scratch.path("nowhere.json");
    let cases = [
        (&half, "ends in the middle"),
        (&foreign, "no results file of drowse-lab"),
        (&newer, "drowse-lab/999"),
        (&text, "not JSON"),
        (&empty, "is empty"),
        (&nowhere, "cannot read"),
    ];
    for (file, word) in cases {
        for args in [&["report", file][..], &["diff", &good, file], &["diff", file, &good]] {
            let told = lab(args).ended_with(2);
            assert!(told.contains(word) && told.contains(file.as_str()), "{args:?} answers {told}");
        }
    }
    assert!(!std::path::Path::new(&scratch.path("foreign.html")).exists(), "and no page");
}

#[test]
fn a_place_that_cannot_be_written_to() {
    let scratch = Scratch::new("unwritable");
    compare(&scratch).went_well();
    let (results, file) = (scratch.path("results.json"), scratch.write("file", "in the way"));
    let told = lab(&["report", &results, "--out", &format!("{file}/page.html")]).ended_with(2);
    assert!(told.contains("cannot write"), "{told}");
}

#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_printed_is_told() {
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    for args in [&["list"][..], &["list", "--json"]] {
        let told = lab_into(full(), args).ended_with(2);
        assert!(told.contains("cannot write to standard output: "), "{told}");
    }
}
