//! Runs a plan: fresh processes, in rounds.
//!
//! Each round runs every cell once, in an order of its own, so that a noisy minute falls on all of
//! them and not on one. A cell of which it is known that it cannot do its work is not run, and one
//! that says so is not asked again.

mod capture;
pub mod external;
mod noise;
mod process;
mod progress;
mod tally;

pub use capture::{Captured, capture};
pub(crate) use process::collect;
pub use progress::Progress;

use crate::plan::{LEAST_TIME, Place, Plan};
use crate::platform::interrupt;
use crate::schema::{Cell, Contender, FORMAT, Results, Workload};
use crate::stats::Random;
use crate::{contender, host, workload};
use noise::load;
use process::Answer;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tally::Tally;

/// What is to be known of a build without optimisation.
pub const DEBUG_BUILD: &str =
    "this is a debug build of the lab, with smaller workloads: its figures mean nothing";

/// What came of a plan.
#[derive(Debug)]
pub struct Done {
    /// The results.
    pub results: Results,
    /// Cells that should have figures and have none: `fib on rayon, 2 threads: no answer within 30
    /// s`.
    pub failures: Vec<String>,
}

/// Runs it.
pub fn run(plan: &Plan, progress: &Progress) -> Done {
    let (clock, started) = (Instant::now(), SystemTime::now());
    let load_before = load();
    let mut tallies: Vec<Tally> =
        plan.places.iter().map(|place| Tally::without(process::cannot(place))).collect();
    let mut loads = Vec::new();
    let mut time = plan.time;
    progress.start(plan.total);
    'rounds: for round in 0..plan.rounds {
        let left = plan.total.map(|total| total.saturating_sub(clock.elapsed()));
        let shorter = shortened(time, &tallies, left, plan.rounds - round);
        let mut todo = affordable(plan, &tallies, left, time - shorter);
        time = shorter;
        if todo.is_empty() {
            break;
        }
        shuffle(&mut todo, round);
        loads.push(load());
        let expected = expected(plan, &tallies, round, todo.len());
        progress.round(round + 1, plan.rounds, todo.len(), load(), expected);
        for index in todo {
            let place = &plan.places[index];
            progress.begin(&described(place));
            let begin = Instant::now();
            let answer = process::ask(place, time, plan.patience);
            let stopped = interrupt::stopped().is_some();
            // A process that was ended has not failed.
            if !(stopped && matches!(answer, Answer::Failed(_))) {
                tallies[index].add(answer, begin.elapsed());
            }
            if stopped {
                break 'rounds;
            }
            progress.end();
        }
    }
    progress.finish();
    let notes = notes(plan, &tallies, &loads);
    let cells: Vec<(Cell, bool)> =
        plan.places.iter().zip(tallies).map(|(place, tally)| cell(place, tally)).collect();
    let failures =
        cells.iter().filter(|(_, failed)| *failed).map(|(cell, _)| failure(cell)).collect();
    let cells = cells.into_iter().map(|(cell, _)| cell).collect();
    let results = Results {
        format: FORMAT.to_owned(),
        host: host::host(load_before, load()),
        build: host::build(),
        started: started.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
        seconds: clock.elapsed().as_secs_f64(),
        plan: plan.name.clone(),
        workloads: workloads(plan),
        contenders: contenders(plan),
        cells,
        timelines: Vec::new(),
        notes,
    };
    Done { results, failures }
}

/// Of the time that is left, the part that is spent: processes do not take the same time twice.
const SPENT: f64 = 0.95;

/// How long the processes of the rounds to come shall measure, if those before measured for `time`:
/// less, where as many rounds as are to come would not fit into the time that is left.
fn shortened(time: Duration, tallies: &[Tally], left: Option<Duration>, rounds: usize) -> Duration {
    let Some(left) = left else { return time };
    let costs: Vec<Duration> =
        tallies.iter().filter(|tally| !tally.is_settled()).map(|tally| tally.cost).collect();
    let over =
        costs.iter().sum::<Duration>().saturating_sub(left.mul_f64(SPENT) / rounds.max(1) as u32);
    time.saturating_sub(over / costs.len().max(1) as u32).max(LEAST_TIME.min(time))
}

/// The cells that the next round can afford, if each process takes less than the last time by what
/// is `saved`. In the first round it is all of them; later, a workload has all of its cells run or
/// none, so that contenders stay comparable, and the cheap ones come first.
fn affordable(
    plan: &Plan,
    tallies: &[Tally],
    left: Option<Duration>,
    saved: Duration,
) -> Vec<usize> {
    let open = |index: &usize| !tallies[*index].is_settled();
    let Some(left) = left.filter(|_| tallies.iter().any(|tally| !tally.cost.is_zero())) else {
        return (0..plan.places.len()).filter(open).collect();
    };
    let mut groups: Vec<(Duration, Vec<usize>)> = Vec::new();
    let mut name = None;
    for (index, place) in plan.places.iter().enumerate() {
        if name != Some(&place.workload) {
            name = Some(&place.workload);
            groups.push((Duration::ZERO, Vec::new()));
        }
        if let Some((cost, group)) = groups.last_mut().filter(|_| open(&index)) {
            *cost += tallies[index].cost.saturating_sub(saved);
            group.push(index);
        }
    }
    groups.sort_by_key(|(cost, _)| *cost);
    let mut sum = Duration::ZERO;
    let fits = |(cost, _): &(Duration, Vec<usize>)| {
        sum += *cost;
        sum <= left
    };
    groups.into_iter().take_while(fits).flat_map(|(_, group)| group).collect()
}

/// How many processes it will be altogether, if each round to come is as large as this one.
fn expected(plan: &Plan, tallies: &[Tally], round: usize, now: usize) -> usize {
    let before: usize = tallies.iter().map(Tally::asked).sum();
    before + now * (plan.rounds - round)
}

/// Another order each round, the same each time.
fn shuffle(indices: &mut [usize], round: usize) {
    let mut random = Random::new(round as u64);
    for last in (1..indices.len()).rev() {
        indices.swap(last, random.below(last as u32 + 1) as usize);
    }
}

fn described(place: &Place) -> String {
    let threads = if place.threads == 1 { "thread" } else { "threads" };
    format!("{} on {}, {} {threads}", place.workload, place.contender, place.threads)
}

fn cell(place: &Place, tally: Tally) -> (Cell, bool) {
    let failed = tally.has_failed();
    let Place { workload, contender, threads } = place.clone();
    (Cell { workload, contender, threads, outcome: tally.outcome() }, failed)
}

fn failure(cell: &Cell) -> String {
    let place = Place {
        workload: cell.workload.clone(),
        contender: cell.contender.clone(),
        threads: cell.threads,
    };
    match &cell.outcome {
        crate::schema::Outcome::None { reason } => format!("{}: {reason}", described(&place)),
        crate::schema::Outcome::Figures(_) => described(&place),
    }
}

fn notes(plan: &Plan, tallies: &[Tally], loads: &[f64]) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(signal) = interrupt::stopped() {
        // What nobody can measure was not to be measured either.
        let wanted = || tallies.iter().filter(|tally| !tally.is_settled());
        let missing = wanted().filter(|tally| tally.processes().0 == 0).count();
        let what = match missing {
            0 => "every cell was measured, but less often than planned".to_owned(),
            _ => format!("{missing} of {} cells were not measured", wanted().count()),
        };
        let (round, signal) = (loads.len().max(1), interrupt::name(signal));
        notes.push(format!("stopped by {signal} in round {round} of {}: {what}", plan.rounds));
    }
    if cfg!(debug_assertions) {
        notes.push(DEBUG_BUILD.to_owned());
    }
    for (place, tally) in plan.places.iter().zip(tallies) {
        if let Some(reason) = tally.blank() {
            notes.push(format!("{}: not all processes have figures: {reason}", described(place)));
        }
    }
    if noise::Ticks::now().is_none() {
        notes.push(
            "this system does not tell what else it was doing: noise is not marked".to_owned(),
        );
    }
    let loads: Vec<_> = loads.iter().map(|load| format!("{load:.2}")).collect();
    if loads.len() > 1 {
        notes.push(format!("load before each round: {}", loads.join(", ")));
    }
    notes.extend(plan.left_out_text());
    notes
}

/// What the results say of the workloads that were run.
fn workloads(plan: &Plan) -> Vec<Workload> {
    let used = |spec: &&workload::Spec| plan.places.iter().any(|place| place.workload == spec.name);
    workload::ALL.iter().filter(used).map(described_workload).collect()
}

/// A workload as results describe it.
pub fn described_workload(spec: &workload::Spec) -> Workload {
    Workload {
        name: spec.name.to_owned(),
        about: spec.about.to_owned(),
        measures: spec.measures.iter().map(Into::into).collect(),
    }
}

/// All contenders as results describe them, those with a program of their own last.
pub fn described_contenders() -> Vec<Contender> {
    let here = contender::ALL.iter().map(|spec| (spec.name, (spec.about)()));
    let external = external::ALL.iter().map(|external| (external.name, external.about.to_owned()));
    let absent = contender::absent().iter().map(|absent| (absent.name, absent.about.to_owned()));
    here.chain(absent)
        .chain(external)
        .map(|(name, about)| Contender { name: name.to_owned(), about })
        .collect()
}

fn contenders(plan: &Plan) -> Vec<Contender> {
    let used =
        |contender: &Contender| plan.places.iter().any(|place| place.contender == contender.name);
    described_contenders().into_iter().filter(used).collect()
}

#[cfg(test)]
mod tests;
