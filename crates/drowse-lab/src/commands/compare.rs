//! `compare`: a table, a page, and the results.

use super::files::{prepare, write, write_results};
use super::trace::{WIDTH, traced};
use super::{End, Misuse, conclude};
use crate::cli::CompareArgs;
use crate::plan::{Plan, Selection};
use crate::platform::interrupt;
use crate::runner::{self, Done, Progress, external};
use crate::say::{say, say_json, tell};
use crate::schema::{Outcome, Timeline};
use crate::{host, report};
use drowse::SleepProtocol;

/// What the pictures of a comparison show.
const PICTURED: &str = "ticks";

/// The files that it leaves.
const PAGE: &str = "report.html";
const RESULTS: &str = "results.json";

pub(super) fn compare(args: &CompareArgs) -> Result<End, Misuse> {
    prepare(&args.out, &[PAGE, RESULTS])?;
    let watch = interrupt::watch();
    if args.full {
        build_others(&selection(args));
    }
    let plan = plan(args);
    let progress = if args.json { Progress::hidden() } else { Progress::shown() };
    let Done { mut results, failures } = runner::run(&plan, &progress);
    if let Some(signal) = interrupt::stopped() {
        let name = interrupt::name(signal);
        if !results.cells.iter().any(|cell| matches!(cell.outcome, Outcome::Figures(_))) {
            tell(format!("stopped by {name} before anything was measured: nothing is written"));
            return Ok(End::Stopped(signal));
        }
        interrupt::second_ends_at_once();
        tell(format!("stopped by {name}: what was measured is kept; once more ends at once"));
    }
    let (timelines, trouble) = pictures(&plan);
    results.timelines = timelines;
    results.notes.extend(trouble);
    // First what cannot be had again, and all of it before anybody listens: printing may have to
    // wait for a reader.
    let (page, file) = (args.out.join(PAGE), args.out.join(RESULTS));
    let previous = write_results(&file, &results)?;
    write(&page, &report::html(&results))?;
    drop(watch);
    if args.json {
        say_json(&results)?;
    } else {
        say(report::table(&results).trim_end());
        conclude(&results);
        say(format!("\nPage:    {}\nResults: {}", page.display(), file.display()));
        if let Some(previous) = previous {
            say(format!("The results before these: {}", previous.display()));
        }
    }
    failures.iter().for_each(|failure| tell(format!("failed: {failure}")));
    if let Some(signal) = interrupt::stopped() {
        tell(format!(
            "stopped by {}: the results so far are in {}",
            interrupt::name(signal),
            file.display()
        ));
        return Ok(End::Stopped(signal));
    }
    Ok(if failures.is_empty() { End::Well } else { End::Amiss })
}

fn selection(args: &CompareArgs) -> Selection {
    Selection {
        workloads: args.workload.clone(),
        contenders: args.contender.clone(),
        threads: args.threads.clone(),
    }
}

/// Builds the programs of those contenders that have their own. Those that cannot be built have
/// cells that say so.
fn build_others(selection: &Selection) {
    for external in external::ALL.iter().filter(|external| selection.has_contender(external.name)) {
        let built = external.build();
        if interrupt::stopped().is_some() {
            return;
        }
        if let Err(reason) = built {
            tell(format!("{} is not measured: {reason}", external.name));
        }
    }
}

fn plan(args: &CompareArgs) -> Plan {
    let selection = selection(args);
    let cpus = host::cpus();
    let mut plan =
        if args.full { Plan::full(&selection, cpus) } else { Plan::quick(&selection, cpus) };
    if let Some(rounds) = args.rounds {
        plan = plan.with_rounds(rounds.into());
    }
    if let Some(time) = args.time {
        plan = plan.with_time(time);
    }
    plan.patience = args.timeout.unwrap_or(plan.patience);
    plan
}

/// The difference between waking all and waking one, if the plan has to do with it. And what went
/// wrong.
fn pictures(plan: &Plan) -> (Vec<Timeline>, Option<String>) {
    if interrupt::stopped().is_some() || !plan.places.iter().any(|place| place.workload == PICTURED)
    {
        return (Vec::new(), None);
    }
    match traced(PICTURED, &SleepProtocol::ALL, WIDTH, None) {
        Ok(traced) => (traced.into_iter().map(|traced| traced.timeline).collect(), None),
        Err(reason) => (Vec::new(), Some(format!("there are no timelines: {reason}"))),
    }
}
