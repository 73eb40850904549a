//! `diff`: what moved between two runs, beyond noise.

use super::{End, Misuse};
use crate::cli::DiffArgs;
use crate::report;
use crate::say::{say, say_json};
use crate::schema::{Cell, Measure, Outcome, Results};
use crate::stats::{Limits, Verdict, differ_within, figure, median, ratio};
use serde::Serialize;

/// One thing that moved.
#[derive(Debug, PartialEq, Serialize)]
struct Move {
    workload: String,
    contender: String,
    threads: usize,
    /// What moved, in words.
    what: String,
    /// Whether it is better now; neither if there is no telling.
    better: Option<bool>,
    /// Why there is no telling, if there is none.
    unsure: Option<&'static str>,
    before: Option<f64>,
    after: Option<f64>,
    unit: String,
}

/// Most of it was measured while the machine was busy with something else.
const NOISE: &str = "busy machine";
/// Its samples come from too few processes.
const FEW: &str = "too few runs to tell";

/// All that moved, and what was looked at.
#[derive(Debug, Default, Serialize)]
struct Comparison {
    moves: Vec<Move>,
    /// How many figures both runs have.
    compared: usize,
    /// How many of them come from enough processes on both sides to say that they moved.
    judged: usize,
    /// What a reader should know before believing it.
    notes: Vec<String>,
}

pub(super) fn diff(args: &DiffArgs) -> Result<End, Misuse> {
    let (before, after) = (report::read(&args.before)?, report::read(&args.after)?);
    let comparison = comparison(&before, &after);
    if comparison.compared == 0 && comparison.moves.is_empty() {
        return Err(Misuse(format!(
            "{} and {} have no cell in common: compare runs of the same plan",
            args.before.display(),
            args.after.display()
        )));
    }
    if args.json {
        say_json(&comparison)?
    } else {
        say(as_text(&comparison))
    }
    let worse = comparison.moves.iter().any(|moved| moved.better == Some(false));
    Ok(if worse { End::Amiss } else { End::Well })
}

fn comparison(before: &Results, after: &Results) -> Comparison {
    let mut all = Comparison { notes: notes(before, after), ..Comparison::default() };
    for old in run(before) {
        let Some(new) = run(after).find(|new| same(old, new)) else { continue };
        let workload = before.workloads.iter().find(|workload| workload.name == old.workload);
        compare_cells(old, new, workload.map_or(&[], |workload| &workload.measures), &mut all);
    }
    let missing = |from: &Results, other: &Results| {
        run(from).filter(|cell| !run(other).any(|other| same(cell, other))).count()
    };
    let (gone, new) = (missing(before, after), missing(after, before));
    if gone + new > 0 {
        all.notes.push(format!("{gone} cells are in the first only, {new} in the second only"));
    }
    if all.judged < all.compared {
        let least = Limits::TWO_RUNS.processes;
        all.notes.push(format!(
            "with fewer than {least} processes on a side, chance alone may move a figure: to judge it, measure both sides \
             with `compare --rounds {least}`"
        ));
    }
    all
}

/// The cells that somebody has run: the others are of a run that was stopped.
fn run(results: &Results) -> impl Iterator<Item = &Cell> {
    results.cells.iter().filter(|cell| cell.outcome.was_run())
}

fn same(a: &Cell, b: &Cell) -> bool {
    (&a.workload, &a.contender, a.threads) == (&b.workload, &b.contender, b.threads)
}

fn compare_cells(old: &Cell, new: &Cell, measures: &[Measure], all: &mut Comparison) {
    let noise = (mostly_noisy(old) || mostly_noisy(new)).then_some(NOISE);
    let moved = |what: String, better, unsure: Option<&'static str>| Move {
        workload: old.workload.clone(),
        contender: old.contender.clone(),
        threads: old.threads,
        what,
        better: if unsure.is_none() { better } else { None },
        unsure,
        before: None,
        after: None,
        unit: String::new(),
    };
    match (&old.outcome, &new.outcome) {
        (Outcome::Figures(a), Outcome::Figures(b)) => {
            for measure in measures {
                let (Some(a), Some(b)) = (a.measure(&measure.name), b.measure(&measure.name))
                else {
                    continue;
                };
                all.compared += 1;
                all.judged +=
                    usize::from(a.processes().min(b.processes()) >= Limits::TWO_RUNS.processes);
                let difference = differ_within(a, b, &Limits::TWO_RUNS.of_unit(&measure.unit));
                if difference.verdict == Verdict::Same {
                    continue;
                }
                let medians = [median(a.samples()), median(b.samples())];
                // A ratio to the value at which the measurement stops would mean nothing.
                let capped = medians.iter().flatten().find(|value| measure.is_at_cap(**value));
                let times = match (capped, difference.ratio) {
                    (Some(value), _) => format!(" (one is {})", measure.figure(*value)),
                    (None, Some(value)) => format!(" ({})", ratio(value)),
                    (None, None) => String::new(),
                };
                let few = (difference.verdict == Verdict::Unknown).then_some(FEW);
                let better = difference.better(measure.less_is_better);
                all.moves.push(Move {
                    before: medians[0],
                    after: medians[1],
                    unit: measure.unit.clone(),
                    ..moved(format!("{}{times}", measure.label), better, few.or(noise))
                });
            }
        }
        (Outcome::Figures(_), Outcome::None { reason }) => {
            all.moves.push(moved(format!("no figure any more: {reason}"), Some(false), noise));
        }
        (Outcome::None { .. }, Outcome::Figures(_)) => {
            all.moves.push(moved("has figures now".to_owned(), Some(true), noise));
        }
        (Outcome::None { .. }, Outcome::None { .. }) => {}
    }
}

/// Whether most of a cell's processes ran while the machine was busy with something else.
fn mostly_noisy(cell: &Cell) -> bool {
    matches!(&cell.outcome, Outcome::Figures(figures) if figures.noisy.len() * 2 > figures.processes())
}

fn notes(before: &Results, after: &Results) -> Vec<String> {
    let mut notes = Vec::new();
    let host = |results: &Results| {
        format!("{} x {}, {}", results.host.cpus, results.host.cpu, results.host.system)
    };
    if host(before) != host(after) {
        notes.push(format!("not the same machine: {} and {}", host(before), host(after)));
    }
    for old in &before.contenders {
        let new =
            after.contenders.iter().find(|new| new.name == old.name && new.about != old.about);
        notes.extend(new.map(|new| {
            format!("not the same {}: \"{}\" and \"{}\"", old.name, old.about, new.about)
        }));
    }
    if before.build.rustc != after.build.rustc {
        notes.push(format!(
            "not the same compiler: {} and {}",
            before.build.rustc, after.build.rustc
        ));
    }
    notes
}

fn as_text(comparison: &Comparison) -> String {
    let mut lines = Vec::new();
    for moved in &comparison.moves {
        let sign = match (moved.better, moved.unsure) {
            (Some(true), _) => "better",
            (Some(false), _) => "WORSE ",
            (None, Some(FEW)) => "unsure",
            (None, _) => "noise?",
        };
        let Move { workload, contender, threads, what, .. } = moved;
        let threads =
            if *threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") };
        let mut line = format!("{sign}  {workload} on {contender}, {threads}: {what}");
        if let (Some(before), Some(after)) = (moved.before, moved.after) {
            line += &format!(": {} to {}", figure(before, &moved.unit), figure(after, &moved.unit));
        }
        if moved.unsure == Some(FEW) {
            line += &format!(": {FEW}");
        }
        lines.push(line);
    }
    lines.extend(comparison.notes.iter().map(|note| format!("Note: {note}.")));
    let unsure = |why| comparison.moves.iter().filter(|moved| moved.unsure == Some(why)).count();
    let noise = unsure(NOISE);
    if noise > 0 {
        lines.push(format!(
            "Note: {noise} differ, but most of their processes ran on a busy machine; measure again on a quiet one."
        ));
    }
    let count =
        |better| comparison.moves.iter().filter(|moved| moved.better == Some(better)).count();
    let (better, worse) = (count(true), count(false));
    lines.push(match better + worse {
        0 if comparison.judged == 0 && comparison.compared > 0 => format!(
            "Nothing can be judged: {} has fewer than {} processes on a side.",
            match comparison.compared {
                1 => "the one figure".to_owned(),
                many => format!("each of the {many} figures"),
            },
            Limits::TWO_RUNS.processes
        ),
        0 if comparison.judged < comparison.compared => format!(
            "Nothing moved beyond noise, of {} figures with enough processes; {} have too few to tell.",
            comparison.judged,
            comparison.compared - comparison.judged
        ),
        0 => format!("Nothing moved beyond noise, of {} figures.", comparison.compared),
        _ => format!("{better} better and {worse} worse, of {} figures.", comparison.compared),
    });
    lines.join("\n")
}
