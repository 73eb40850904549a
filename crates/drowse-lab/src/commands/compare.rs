//! `compare`: a table, a page, and the results.

use super::trace::{WIDTH, traced};
use super::{End, Misuse, conclude, say, say_json, to_text, write};
use crate::cli::CompareArgs;
use crate::plan::{Plan, Selection};
use crate::runner::{self, Progress, external};
use crate::schema::Timeline;
use crate::{host, report};
use drowse::SleepProtocol;
use std::path::{Path, PathBuf};
use std::{fs, io};

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
    let previous = put_aside(&results)?;
    write(&results, &to_text(&done.results)?)?;
    if !args.json {
        conclude(&done.results);
        say(format!("\nPage:    {}\nResults: {}", page.display(), results.display()));
        if let Some(previous) = previous {
            say(format!("The results before these: {}", previous.display()));
        }
    }
    done.failures.iter().for_each(|failure| eprintln!("failed: {failure}"));
    Ok(if done.failures.is_empty() { End::Well } else { End::Amiss })
}

/// Gives the results that are there another name, so that they are not overwritten. Which, if there were any.
fn put_aside(results: &Path) -> Result<Option<PathBuf>, Misuse> {
    let previous = results.with_extension("previous.json");
    match fs::rename(results, &previous) {
        Ok(()) => Ok(Some(previous)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Misuse(format!("cannot rename {}: {error}", results.display()))),
    }
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
    if let Some(rounds) = args.rounds {
        plan = plan.with_rounds(rounds.into());
    }
    if let Some(time) = args.time {
        plan = plan.with_time(time);
    }
    plan.patience = args.timeout.unwrap_or(plan.patience);
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
