//! The Promela models, which spin searches to the last state.

mod search;

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::context::Context;
use crate::outcome::{Outcome, counted, seconds};
use crate::pool;
use crate::process::Job;
use crate::tools::Tool;
pub(crate) use search::Search;

/// Where the models are.
const DIRECTORY: &str = "crates/drowse-models/promela";

/// Each model is searched in these configurations. All but the first are called by a preprocessor definition.
const CONFIGURATIONS: [&str; 3] = ["plain", "halves", "local"];

/// More than any of the tools should take.
const LIMIT: Duration = Duration::from_secs(120);

/// The most memory that a search may take, in megabytes.
const MEMORY: u32 = 2000;

/// The longest way to a state that a search follows.
const DEPTH: u32 = 100_000;

/// A model in one of its configurations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Promela {
    /// The file's name without its extension.
    model: String,
    configuration: &'static str,
}

/// Whether there is all that a search takes. If not, loud lines say what is missing.
pub(crate) fn is_there(context: &Context) -> bool {
    [Tool::Spin, Tool::Gcc].into_iter().all(|tool| tool.is_there(context, "no Promela model is searched"))
}

/// Searches the models that the user's filter, if any, lets pass.
pub(crate) fn run(context: &Context) -> Outcome {
    if !is_there(context) {
        return Outcome::skipped("no spin, or no gcc");
    }
    let mut models = match all(context) {
        Ok(models) => models,
        Err(why) => return Outcome::failed(why),
    };
    models.retain(|model| context.wants(&model.name()));
    if let (Some(filter), true) = (context.filter(), models.is_empty()) {
        return Outcome::wrong_call(format!("no model matches `{filter}`"));
    }
    let results = pool::map(&models, |model| model.search(context, None));

    let width = models.iter().map(|model| model.name().len()).max().unwrap_or(0);
    let (mut failed, mut report, mut states) = (Vec::new(), Vec::new(), 0);
    for (model, result) in models.iter().zip(results) {
        let line = match result {
            Ok((Search { states: some, complaint: None }, took)) => {
                states += some;
                format!("ok {:>8}  {some} states", seconds(took))
            }
            Ok((Search { complaint: Some(complaint), .. }, _)) => {
                failed.push(model.name());
                format!("FAILED: {complaint}; replay it with: {}", model.replay(context))
            }
            Err(why) => {
                failed.push(model.name());
                format!("FAILED: {why}")
            }
        };
        report.push(format!("  {:<width$}  {line}", model.name()));
    }
    let detail = if failed.is_empty() {
        format!("{}, {states} states", counted(models.len(), "model"))
    } else {
        failed.join(", ")
    };
    Outcome::by_failures(failed.len(), detail).with_report(report)
}

/// Every model in every configuration.
pub(crate) fn all(context: &Context) -> Result<Vec<Promela>, String> {
    let directory = context.workspace().root().join(DIRECTORY);
    let entries = fs::read_dir(&directory).map_err(|error| format!("cannot read {DIRECTORY}: {error}"))?;
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_suffix(".pml").map(String::from))
        .collect();
    names.sort();
    if names.is_empty() {
        return Err(format!("there are no models: no *.pml in {DIRECTORY}"));
    }
    let of_all = |configuration| {
        let of_one = move |model: &String| Promela { model: model.clone(), configuration };
        names.iter().map(of_one).collect::<Vec<_>>()
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

    /// Searches all of the model's states, with this mutant if any. The error says why there is no result. The time is that of
    /// the search, without what it takes to prepare it.
    pub(crate) fn search(
        &self,
        context: &Context,
        mutant: Option<&str>,
    ) -> Result<(Search, Duration), String> {
        let place =
            self.prepare(context, mutant).map_err(|error| format!("no place to search in: {error}"))?;
        let call = |program: &str, args: &[String]| {
            let mut command = Command::new(program);
            command.args(args).current_dir(&place);
            Job::new(command, LIMIT).run().map_err(|error| format!("{program} cannot be run: {error}"))
        };
        let demand = |program: &str, args: &[String]| {
            let done = call(program, args)?;
            let said = done.output.trim();
            if done.succeeded() { Ok(()) } else { Err(format!("{program}: {}: {said}", done.how_it_ended())) }
        };
        let mut args = self.defines(mutant);
        args.extend(["-a".to_string(), self.file()]);
        demand("spin", &args)?;
        // To optimise takes longer than it saves.
        let args = ["-O0", "-w", "-DSAFETY", "-DNOCLAIM", &format!("-DMEMLIM={MEMORY}"), "-o", PAN, "pan.c"];
        demand("gcc", &args.map(String::from))?;
        let pan = place.join(PAN);
        let done = call(&pan.to_string_lossy(), &[format!("-m{DEPTH}"), "-w22".to_string()])?;
        let found = search::read(&done.output)
            .map_err(|why| if done.succeeded() { why } else { format!("{why}: {}", done.how_it_ended()) })?;
        Ok((found, done.took))
    }

    /// An empty directory with a copy of the sources: spin writes to where it is called, and puts names into shell
    /// commands as they are.
    fn prepare(&self, context: &Context, mutant: Option<&str>) -> std::io::Result<PathBuf> {
        let place = self.place(context, mutant);
        if place.exists() {
            fs::remove_dir_all(&place)?;
        }
        fs::create_dir_all(&place)?;
        for entry in fs::read_dir(context.workspace().root().join(DIRECTORY))? {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                fs::copy(entry.path(), place.join(entry.file_name()))?;
            }
        }
        Ok(place)
    }

    fn place(&self, context: &Context, mutant: Option<&str>) -> PathBuf {
        let mut name = format!("{}-{}", self.model, self.configuration);
        if let Some(mutant) = mutant {
            name = format!("{name}-{}", mutant_define(mutant).to_lowercase());
        }
        context.workspace().target_for("spin").join(name)
    }

    fn file(&self) -> String {
        format!("{}.pml", self.model)
    }

    fn defines(&self, mutant: Option<&str>) -> Vec<String> {
        let configuration =
            (self.configuration != CONFIGURATIONS[0]).then(|| self.configuration.to_uppercase());
        configuration
            .into_iter()
            .chain(mutant.map(mutant_define))
            .map(|define| format!("-D{define}"))
            .collect()
    }

    /// The command line that shows the way to the error.
    fn replay(&self, context: &Context) -> String {
        let mut args = self.defines(None);
        args.push(self.file());
        format!("cd {} && spin -t -p {}", self.place(context, None).display(), args.join(" "))
    }
}

/// The verifier's file name.
const PAN: &str = if cfg!(windows) { "pan.exe" } else { "pan" };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_definitions() {
        assert_eq!(mutant_define("jec.pml/no-baton"), "MUTANT_NO_BATON");
        let jec = |configuration| Promela { model: "jec".to_string(), configuration };
        assert_eq!(jec("plain").defines(None), [""; 0]);
        assert_eq!(jec("halves").defines(Some("jec.pml/no-baton")), ["-DHALVES", "-DMUTANT_NO_BATON"]);
        assert_eq!(jec("halves").name(), "jec::halves");
    }
}
