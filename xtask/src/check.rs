//! What is checked between two edits: what has changed, in a minute or two.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;
use std::time::Duration;

use crate::context::Context;
use crate::models::Backend;
use crate::mutants::table::{self, Mutant};
use crate::outcome::{Outcome, Parts, Status, counted, seconds};
use crate::progress;
use crate::steps::{Counts, run_tests};

/// The loom models look at fewer interleavings than in `test`.
const PREEMPTIONS: &str = "2";

/// More than a model takes with so few preemptions.
const MODEL_LIMIT: Duration = Duration::from_secs(300);

const GIT_LIMIT: Duration = Duration::from_secs(60);

/// A crate of the workspace: its folder, and the packages whose tests use it.
const CRATES: [(&str, &[&str]); 8] = [
    ("crates/drowse-sync/", &["drowse-sync", "drowse-sleep", "drowse"]),
    ("crates/drowse-sleep/", &["drowse-sleep", "drowse"]),
    ("crates/drowse/", &["drowse"]),
    ("crates/drowse-bridges/", &["drowse-bridges"]),
    ("crates/drowse-lab/", &["drowse-lab"]),
    ("crates/drowse-models/", &["drowse-models"]),
    ("crates/drowse-soak/", &["drowse-soak"]),
    ("xtask/", &["xtask"]),
];

/// Test binaries that take too long between two edits, or stamp the same tests for each protocol.
const SLOW: &str = "not binary(conformance) and not binary(hangs) and not binary(deadlock) and not \
                    binary(stress) and not package(drowse-lab)";

/// The files that differ from the commit that they are compared with.
#[derive(Debug, Default)]
pub(crate) struct Changed {
    files: Vec<String>,
}

impl Changed {
    /// Asks git for the files that differ from the last commit; or, if there are none, for those of
    /// the last commit itself.
    fn find(context: &Context) -> Result<Self, String> {
        let git = |args: &str| {
            let mut git = Command::new("git");
            git.args(args.split(' ')).current_dir(&context.root);
            context.run_stdout_apart(git, GIT_LIMIT).map(|done| done.stdout).map_err(String::from)
        };
        let mut listed = git("diff --name-only --no-renames HEAD")?;
        listed += &git("ls-files --others --exclude-standard")?;
        if listed.is_empty() {
            listed = git("show --name-only --no-renames --format= HEAD")?;
        }
        Ok(Self { files: listed.lines().map(String::from).collect() })
    }

    /// Returns the packages whose tests may come out otherwise now.
    fn packages(&self) -> BTreeSet<&'static str> {
        let of = |file: &String| CRATES.iter().find(|(folder, _)| file.starts_with(folder));
        self.files
            .iter()
            .filter_map(of)
            .flat_map(|(_, packages)| packages.iter().copied())
            .collect()
    }

    /// Returns `true` if a file of the drop-in has changed.
    fn has_shim(&self) -> bool {
        self.files.iter().any(|file| file.starts_with("shim/"))
    }
}

/// The tests of the packages that have changed, and of those that use them, without the slow ones.
pub(crate) fn tests(context: &Context) -> Result<Outcome, Outcome> {
    let changed = Changed::find(context)?;
    let packages = changed.packages();
    let mut parts = Parts::default();
    if !packages.is_empty() {
        let mut select = String::new();
        packages.iter().for_each(|package| select += &format!("--package {package} "));
        let done = run_tests(context, &select, Some(SLOW), &|args| context.cargo(args));
        parts.note(&select, done, String::clone);
    }
    if changed.has_shim() {
        let done = run_tests(context, "--workspace", None, &|args| context.cargo_of_shim(args));
        parts.note("shim", done, String::clone);
    }
    let names: Vec<&str> =
        packages.into_iter().chain(changed.has_shim().then_some("shim")).collect();
    Ok(match names[..] {
        [] => Status::Skipped.with("no code has changed"),
        _ => parts.outcome(format!("the quick tests of {}", names.join(", "))),
    })
}

/// The models of what has changed: those that notice a mutant that lives in one of the files.
pub(crate) fn models(context: &Context) -> Result<Outcome, Outcome> {
    let changed = Changed::find(context)?;
    let texts = changed.files.iter().filter(|file| file.ends_with(".rs"));
    let texts = texts.filter_map(|file| fs::read_to_string(context.root.join(file)).ok());
    let wanted = guards(&texts.collect::<String>(), &table::all()?);
    if wanted.is_empty() {
        return Ok(Status::Skipped.with("no file with a mutant in it has changed"));
    }
    let mut parts = Parts::default();
    let mut binaries = Vec::new();
    for backend in Backend::OF_CODE {
        if wanted.iter().any(|(guard, _)| *guard == backend) {
            binaries.extend(backend.build(context)?);
        }
    }
    progress::expect("models", wanted.len());
    for (_, model) in &wanted {
        let (file, test) = model.split_once("::").expect("the table has been read");
        let done = match binaries.iter().find(|binary| binary.name == file) {
            None => Err("there is no such file".to_string()),
            Some(binary) => {
                let mut command = binary.command(context);
                command.args(["--exact", test, "--nocapture", "--test-threads=1"]);
                command.env("LOOM_MAX_PREEMPTIONS", PREEMPTIONS);
                context.run(command, MODEL_LIMIT).map_err(String::from)
            }
        };
        let done = done.and_then(|done| match Counts::of(&done.output).passed {
            1 => Ok(done),
            _ => Err("it was not run".to_string()),
        });
        parts.note(model, done, |done| format!("in {}", seconds(done.took)));
        progress::one_done();
    }
    Ok(parts.outcome(format!("{}, with {PREEMPTIONS} preemptions", counted(wanted.len(), "model"))))
}

/// Returns the models that guard this code, each once.
fn guards(code: &str, mutants: &[Mutant]) -> BTreeSet<(Backend, &'static str)> {
    let is_in = |mutant: &&Mutant| code.contains(&format!("\"{}\"", mutant.name));
    let of_code = mutants.iter().filter(|mutant| Backend::OF_CODE.contains(&mutant.backend));
    of_code.filter(is_in).map(|mutant| (mutant.backend, mutant.model)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(files: &[&str]) -> Changed {
        Changed { files: files.iter().map(|file| file.to_string()).collect() }
    }

    #[test]
    fn a_crate_is_tested_with_those_that_use_it() {
        let sleep = changed(&["crates/drowse-sleep/src/wake.rs", "README.md"]);
        assert_eq!(Vec::from_iter(sleep.packages()), ["drowse", "drowse-sleep"]);
        assert!(!sleep.has_shim());
        let shim = changed(&["shim/rayon-core/src/lib.rs", "docs/guide/async.md"]);
        assert!(shim.has_shim() && shim.packages().is_empty());
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        assert!(CRATES.iter().all(|(folder, _)| root.join(folder).join("Cargo.toml").exists()));
    }

    #[test]
    fn a_file_is_guarded_by_the_models_of_its_mutants() {
        let all = table::all().unwrap();
        let mutant = all.iter().find(|mutant| mutant.backend == Backend::Loom).unwrap();
        let found = guards(&format!("full_fence(\"{}\");", mutant.name), &all);
        assert!(found.contains(&(Backend::Loom, mutant.model)), "{found:?}");
        assert!(guards("full_fence();", &all).is_empty());
    }
}
