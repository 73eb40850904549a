//! `compare`: a table, a page, and the results.

use super::trace::{WIDTH, traced};
use super::{End, Misuse, say, say_json, to_text, write};
use crate::cli::CompareArgs;
use crate::plan::{Plan, Selection};
use crate::runner::{self, Progress, external};
use crate::schema::{Results, Timeline};
use crate::{host, report};
use drowse::SleepProtocol;

/// What the pictures of a comparison show.
const PICTURED: &str = "ticks";

pub(super) fn compare(args: &CompareArgs) -> Result<End, Misuse> {
    if args.full {
        build_others(&selection(args));
    }
    let plan = plan(args);
    let progress = if args.json { Progress::hidden() } else { Progress::shown() };
    let mut done = runner::run(&plan, &progress);
    let (timelines, trouble) = pictures(&plan);
    done.results.timelines = timelines;
    done.results.notes.extend(trouble);
    if args.json {
        say_json(&done.results)?
    } else {
        say(report::table(&done.results).trim_end())
    }
    let (page, results) = (args.out.join("report.html"), args.out.join("results.json"));
    write(&page, &report::html(&done.results))?;
    write(&results, &to_text(&done.results)?)?;
    if !args.json {
        say(closing(&done.results));
        say(format!("\nPage:    {}\nResults: {}", page.display(), results.display()));
    }
    done.failures.iter().for_each(|failure| eprintln!("failed: {failure}"));
    Ok(if done.failures.is_empty() { End::Well } else { End::Amiss })
}

fn selection(args: &CompareArgs) -> Selection {
    Selection {
        workloads: args.workload.clone(),
        contenders: args.contender.clone(),
        threads: args.threads.clone(),
    }
}

/// Builds the programs of those contenders that have their own. Who cannot be built has cells that say so.
fn build_others(selection: &Selection) {
    for external in external::ALL.iter().filter(|external| selection.has_contender(external.name)) {
        if let Err(reason) = external.build() {
            eprintln!("{} is not measured: {reason}", external.name);
        }
    }
}

fn plan(args: &CompareArgs) -> Plan {
    let selection = selection(args);
    let cpus = host::cpus();
    let mut plan = if args.full { Plan::full(&selection, cpus) } else { Plan::quick(&selection, cpus) };
    plan.rounds = args.rounds.map_or(plan.rounds, usize::from);
    plan.time = args.time.unwrap_or(plan.time);
    plan.patience = args.timeout.unwrap_or(plan.patience);
    if args.rounds.is_some() {
        plan.total = None;
    }
    plan
}

/// The difference between waking all and waking one, if the plan has to do with it. And what went wrong.
fn pictures(plan: &Plan) -> (Vec<Timeline>, Option<String>) {
    if !plan.places.iter().any(|place| place.workload == PICTURED) {
        return (Vec::new(), None);
    }
    match traced(PICTURED, &SleepProtocol::ALL, WIDTH, None) {
        Ok(traced) => (traced.into_iter().map(|traced| traced.timeline).collect(), None),
        Err(reason) => (Vec::new(), Some(format!("there are no timelines: {reason}"))),
    }
}

fn closing(results: &Results) -> String {
    let mut text = String::new();
    for (number, finding) in report::findings(results).iter().enumerate() {
        text.push_str(&format!("\n{}. {finding}", number + 1));
    }
    results.notes.iter().for_each(|note| text.push_str(&format!("\nNote: {note}.")));
    text
}
