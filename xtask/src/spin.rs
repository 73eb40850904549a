//! The Promela models, which spin searches to the last state.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::context::Context;
use crate::models::map;
use crate::outcome::{Outcome, Parts, Status, counted, seconds};
use crate::process::Job;
use crate::tools;

/// Where the models are.
const DIRECTORY: &str = "crates/drowse-models/promela";

/// Each model is searched in these configurations. All but the first are called by a preprocessor
/// definition.
const CONFIGURATIONS: [&str; 3] = ["plain", "halves", "local"];

/// More than any search should take.
const LIMIT: Duration = Duration::from_secs(600);

/// A model in one of its configurations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Promela {
    /// The file's name without its extension.
    model: String,
    configuration: &'static str,
}

/// The end of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Search {
    /// Different states that were reached.
    states: u64,
    /// What is wrong with the first state in which something is.
    pub(crate) complaint: Option<String>,
    pub(crate) took: Duration,
}

/// Whether there is all that a search takes. If not, loud lines say what is missing.
pub(crate) fn is_there() -> bool {
    [tools::SPIN, tools::GCC].into_iter().all(|tool| tool.is_there("no Promela model is searched"))
}

/// Searches the models that the user's filter, if any, lets pass.
pub(crate) fn run(context: &Context) -> Result<Outcome, Outcome> {
    if !is_there() {
        return Err(Status::Skipped.with("no spin, or no gcc"));
    }
    let mut models = all(context)?;
    models.retain(|model| context.wants(&model.name()));
    if let (Some(filter), true) = (&context.filter, models.is_empty()) {
        return Err(Status::WrongCall.with(format!("no model matches `{filter}`")));
    }
    let results = map("models", &models, |model| {
        let search = model.search(context, None)?;
        match &search.complaint {
            Some(complaint) => {
                Err(format!("{complaint}; replay it with: {}", model.replay(context)))
            }
            None => Ok(search),
        }
    });
    let width = models.iter().map(|model| model.name().len()).max().unwrap_or(0);
    let (mut parts, mut states) = (Parts::default(), 0);
    for (model, result) in models.iter().zip(results) {
        let say =
            |search: &Search| format!("{:>8}  {} states", seconds(search.took), search.states);
        let search = parts.note(&format!("{:<width$}", model.name()), result, say);
        states += search.map_or(0, |search| search.states);
    }
    Ok(parts.outcome(format!("{}, {states} states", counted(models.len(), "model"))))
}

/// Every model in every configuration.
pub(crate) fn all(context: &Context) -> Result<Vec<Promela>, String> {
    let entries = fs::read_dir(context.root.join(DIRECTORY));
    let entries = entries.map_err(|error| format!("cannot read {DIRECTORY}: {error}"))?;
    let mut names: Vec<String> = entries
        .filter_map(|entry| {
            entry.ok()?.file_name().to_str()?.strip_suffix(".pml").map(String::from)
        })
        .collect();
    names.sort();
    if names.is_empty() {
        return Err(format!("there are no models: no *.pml in {DIRECTORY}"));
    }
    let of_all = |configuration| {
        names.iter().map(move |model| Promela { model: model.clone(), configuration })
    };
    Ok(CONFIGURATIONS.into_iter().flat_map(of_all).collect())
}

/// The preprocessor definition that commits a mutant: `jec.pml/no-baton` is `MUTANT_NO_BATON`.
pub(crate) fn mutant_define(mutant: &str) -> String {
    let (_, what) = mutant.rsplit_once('/').unwrap_or(("", mutant));
    format!("MUTANT_{}", what.replace('-', "_").to_uppercase())
}

impl Promela {
    /// Its name in reports and for filters.
    pub(crate) fn name(&self) -> String {
        format!("{}::{}", self.model, self.configuration)
    }

    /// Searches all of the model's states, with this mutant if any. The error says why there is no
    /// result.
    pub(crate) fn search(&self, context: &Context, mutant: Option<&str>) -> Result<Search, String> {
        let mut command = Command::new("sh");
        command
            .arg(context.root.join("xtask/scripts/spin.sh"))
            .args([context.root.join(DIRECTORY), self.place(context, mutant)])
            .arg(&self.model)
            .args(self.defines(mutant));
        let done =
            Job::new(command, LIMIT).run().map_err(|error| format!("sh cannot be run: {error}"))?;
        match read(&done.output) {
            Ok((states, complaint)) => Ok(Search { states, complaint, took: done.took }),
            Err(why) if done.succeeded() => Err(why),
            Err(why) => Err(format!("{why}: {}: {}", done.how_it_ended(), done.output.trim())),
        }
    }

    /// Where it is searched.
    fn place(&self, context: &Context, mutant: Option<&str>) -> PathBuf {
        let mutant = mutant.map(|mutant| format!("-{}", mutant_define(mutant).to_lowercase()));
        let name = format!("{}-{}{}", self.model, self.configuration, mutant.unwrap_or_default());
        context.target_for("spin").join(name)
    }

    fn defines(&self, mutant: Option<&str>) -> Vec<String> {
        let is_named = self.configuration != CONFIGURATIONS[0];
        let configuration = is_named.then(|| self.configuration.to_uppercase());
        let defines = configuration.into_iter().chain(mutant.map(mutant_define));
        defines.map(|define| format!("-D{define}")).collect()
    }

    /// The command line that shows the way to the error.
    fn replay(&self, context: &Context) -> String {
        let place = self.place(context, None);
        format!(
            "cd {} && spin -t -p {} {}.pml",
            place.display(),
            self.defines(None).join(" "),
            self.model
        )
    }
}

/// Reads the number of states, and what is wrong if anything is, from the report of pan, the
/// verifier that spin makes of a model. The error says why nothing can be concluded from it.
fn read(output: &str) -> Result<(u64, Option<String>), String> {
    let (_, errors) = output.split_once("errors: ").ok_or("pan reports no result")?;
    let (before, _) =
        output.split_once(" states, stored").ok_or("pan reports no number of states")?;
    // Big numbers are written with a point and a power of ten.
    let states: f64 =
        before.split_whitespace().next_back().unwrap_or_default().parse().unwrap_or(0.0);
    // What was not searched may hold anything, whatever was found in the rest.
    let limits = ["max search depth too small", "reached -DMEMLIM bound", "out of memory"];
    if let Some(limit) = limits.iter().find(|limit| output.contains(**limit)) {
        return Err(format!("the search was cut short: {limit}"));
    }
    let complaint = (!errors.starts_with("0\n")).then(|| complaint(output).unwrap_or("some error"));
    if complaint.is_none() && output.contains("Search not completed") {
        return Err("the search was cut short".to_string());
    }
    Ok((states as u64, complaint.map(String::from)))
}

/// `pan:1: invalid end state (at depth 64)`, without what stands around it.
fn complaint(output: &str) -> Option<&str> {
    let line =
        output.lines().find(|line| line.starts_with("pan:") && line.contains(" (at depth "))?;
    let (_, what) = line.split_once(": ")?;
    Some(what.split_once(" (at depth ")?.0.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "(Spin Version 6.5.2 -- 6 December 2019)\n\t+ Partial Order Reduction\n\n\
        Full statespace search for:\n\tassertion violations\t+\n\n\
        State-vector 52 byte, depth reached 255, errors: 0\n   231643 states, stored\n";

    const BAD: &str = "pan:1: assertion violated ((sleeping==0)&&(inactive==0)) (at depth 97)\n\
        pan: wrote jec.pml.trail\n\nWarning: Search not completed\n\n\
        State-vector 52 byte, depth reached 97, errors: 1\n      240 states, stored\n";

    #[test]
    fn states_are_counted_and_errors_named() {
        assert_eq!(read(GOOD), Ok((231_643, None)));
        let many = GOOD.replace("231643 states, stored", "7.7083704e+08 states, stored");
        assert_eq!(read(&many), Ok((770_837_040, None)));
        let complaint = Some("assertion violated ((sleeping==0)&&(inactive==0))".to_string());
        assert_eq!(read(BAD), Ok((240, complaint)));
    }

    #[test]
    fn a_search_that_was_cut_short_proves_nothing() {
        let shallow = format!("error: max search depth too small\n{GOOD}");
        assert!(read(&shallow).unwrap_err().contains("max search depth too small"));
        let big = format!("pan: reached -DMEMLIM bound\n\nWarning: Search not completed\n{GOOD}");
        assert!(read(&big).unwrap_err().contains("MEMLIM"));
        assert!(read(&format!("Warning: Search not completed\n{GOOD}")).is_err());
        assert!(read("").is_err());
    }

    #[test]
    fn names_become_definitions() {
        let jec = |configuration| Promela { model: "jec".to_string(), configuration };
        assert_eq!(jec("plain").defines(None), [""; 0]);
        assert_eq!(
            jec("halves").defines(Some("jec.pml/no-baton")),
            ["-DHALVES", "-DMUTANT_NO_BATON"]
        );
        assert_eq!(jec("halves").name(), "jec::halves");
    }
}
