//! Traces: the files for Perfetto keep to the format's rules, and the page has its pictures.

mod common;

use common::{Scratch, lab};
use drowse::SleepProtocol;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The rules, from "Trace Event Format" (the format that Chrome and Perfetto read as JSON): what
/// each kind of event must have.
fn check(text: &str) {
    let trace: Value = serde_json::from_str(text).expect("it is JSON");
    let events = trace["traceEvents"].as_array().expect("it has a list of events");
    assert!(!events.is_empty());
    assert!(["ns", "ms"].contains(&trace["displayTimeUnit"].as_str().unwrap()));
    let (mut named, mut used) = (BTreeSet::new(), BTreeSet::new());
    let mut arrows: BTreeMap<u64, [Option<f64>; 2]> = BTreeMap::new();
    let (mut slices, mut ends_of_arrows) = (Vec::new(), Vec::new());
    for event in events {
        let field = |name: &str| &event[name];
        let number =
            |name: &str| field(name).as_f64().unwrap_or_else(|| panic!("{name} in {event}"));
        let kind = field("ph").as_str().unwrap_or_else(|| panic!("ph in {event}"));
        let thread = (field("pid").as_u64().expect("pid"), field("tid").as_u64().expect("tid"));
        assert!(field("name").is_string(), "{event}");
        if kind == "M" {
            assert_eq!(field("name"), "thread_name");
            assert!(field("args")["name"].is_string(), "{event}");
            assert!(named.insert(thread), "a thread has one name: {event}");
            continue;
        }
        used.insert(thread);
        assert!(number("ts") >= 0.0, "{event}");
        match kind {
            "X" => {
                assert!(number("dur") >= 0.0, "{event}");
                slices.push((thread, number("ts"), number("ts") + number("dur")));
            }
            "i" => assert!(["g", "p", "t"].contains(&field("s").as_str().unwrap()), "{event}"),
            "s" | "f" => {
                assert!(
                    field("cat").is_string(),
                    "arrows are told apart by name, category and id: {event}"
                );
                let ends = arrows.entry(field("id").as_u64().expect("id")).or_default();
                let end = &mut ends[usize::from(kind == "f")];
                assert!(end.is_none(), "an arrow has one tail and one head: {event}");
                *end = Some(number("ts"));
                ends_of_arrows.push((thread, number("ts")));
                if kind == "f" {
                    assert_eq!(field("bp"), "e", "it ends at the slice around it: {event}");
                }
            }
            other => panic!("an event of kind {other}: {event}"),
        }
    }
    for (thread, at) in ends_of_arrows {
        // Times are written to the nanosecond.
        let around = |slice: &((u64, u64), f64, f64)| {
            slice.0 == thread && slice.1 <= at + 0.002 && at <= slice.2 + 0.002
        };
        assert!(
            slices.iter().any(around),
            "an arrow's end is shown only within a slice: {thread:?} at {at}"
        );
    }
    assert!(used.is_subset(&named), "every thread has a name: {used:?} {named:?}");
    for (id, ends) in arrows {
        let [Some(tail), head] = ends else { panic!("arrow {id} has no tail") };
        // The wake of a worker that is woken as the trace ends has no head yet.
        assert!(head.is_none_or(|head| head >= tail), "arrow {id} flies back in time");
    }
}

#[test]
fn each_protocol_has_its_file_and_they_keep_to_the_rules() {
    let scratch = Scratch::new("trace");
    let out = scratch.path("");
    let text = lab(&["trace", "--workload", "ticks", "--threads", "4", "--out", &out]).went_well();
    for protocol in ["sleepy", "counters", "jec"] {
        let file = format!("trace-ticks-{protocol}.json");
        assert!(text.contains(&file), "{text}");
        let trace = scratch.read(&file);
        check(&trace);
        // On a busy machine, workers that yield may never sleep: then no thread outside wakes one.
        let sleep = if protocol == "sleepy" {
            [].as_slice()
        } else {
            &["\"asleep\"", "wakes ", "\"outside\""]
        };
        for word in sleep.iter().chain(&["\"job\"", "\"worker 3\""]) {
            assert!(trace.contains(word), "{word} on {protocol}");
        }
    }
    let page = scratch.read("trace-ticks.html");
    for words in ["<html", "<b>protocol sleepy</b>", "<span>trace --workload ticks --threads 4, "] {
        assert!(page.contains(words), "{words}");
    }
    let results = drowse_lab::report::read(scratch.path("trace-ticks.results.json")).unwrap();
    let wakes: BTreeMap<_, _> = results
        .timelines
        .iter()
        .map(|timeline| {
            let wakes = timeline.arrows.iter().filter(|arrow| arrow.kind == "wake").count();
            (timeline.protocol.as_str(), wakes)
        })
        .collect();
    assert_eq!(wakes.len(), SleepProtocol::ALL.len());
    assert!(results.seconds > 0.5, "four times as long as a workload runs: {}", results.seconds);
    // How many they are depends on what else the machine does: those who yield may never sleep.
    assert!(wakes.values().filter(|&&wakes| wakes > 0).count() >= 3, "{wakes:?}");
}

#[test]
fn one_protocol_alone() {
    let scratch = Scratch::new("trace-one");
    let out = scratch.path("");
    let args = ["trace", "--workload", "fib", "--protocol", "jec", "--threads", "2", "--out", &out];
    let text = lab(&args).went_well();
    assert!(text.contains("fib on jec") && !text.contains("sleepy"), "{text}");
    check(&scratch.read("trace-fib-jec.json"));
}

#[test]
fn an_idle_pool_does_nothing() {
    let scratch = Scratch::new("trace-idle");
    let text = lab(&["trace", "--workload", "idle", "--threads", "4", "--out", &scratch.path("")])
        .went_well();
    assert_eq!(
        text.matches("  0 wake-ups and 0 steals within 10.0 ms").count(),
        SleepProtocol::ALL.len(),
        "{text}"
    );
    let results = drowse_lab::report::read(scratch.path("trace-idle.results.json")).unwrap();
    for timeline in &results.timelines {
        // How soon they all sleep depends on what else the machine does.
        assert!(timeline.spans.iter().all(|span| span.state != "job"), "{timeline:?}");
        check(&scratch.read(&format!("trace-idle-{}.json", timeline.protocol)));
    }
}

#[test]
fn a_broken_trace_is_seen() {
    let broken = [
        r#"{"traceEvents":[],"displayTimeUnit":"ns"}"#,
        r#"{"traceEvents":[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1}],"displayTimeUnit":"ns"}"#,
        r#"{"traceEvents":[{"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"a"}},
            {"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":-1}],"displayTimeUnit":"ns"}"#,
        r#"{"traceEvents":[{"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"a"}},
            {"ph":"f","name":"a","cat":"a","id":1,"bp":"e","pid":1,"tid":1,"ts":1}],"displayTimeUnit":"ns"}"#,
    ];
    for trace in broken {
        assert!(std::panic::catch_unwind(|| check(trace)).is_err(), "{trace}");
    }
}
