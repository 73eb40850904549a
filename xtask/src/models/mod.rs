//! The models of `drowse-models`, under loom, shuttle and spin.

mod executables;
pub(crate) mod spin;

use std::env;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::context::{BUILD_LIMIT, Context};
use crate::outcome::{Outcome, counted, seconds};
use crate::steps::libtest_counts;
use crate::workspace::add_rustflags;

/// More than all models of one test binary should take.
const RUN_LIMIT: Duration = Duration::from_secs(30 * 60);

/// The environment variable that names a mutant to the code under test.
pub(crate) const MUTANT_VARIABLE: &str = "DROWSE_MUTANT";

/// What explores a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Backend {
    /// All executions of the code under weak memory, of few threads.
    Loom,
    /// Many random executions of the code under sequential consistency, of many threads.
    Shuttle,
    /// All executions of a description in Promela, under sequential consistency. See [`spin`].
    Spin,
}

/// A built test binary whose tests are models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ModelBinary {
    /// The name of its source file.
    pub(crate) name: String,
    /// Where it was built to.
    pub(crate) path: PathBuf,
}

impl Backend {
    /// Those that take the place of std's threads and atomics, and so run our own code, built by cargo.
    pub(crate) const OF_CODE: [Self; 2] = [Self::Loom, Self::Shuttle];

    /// Its name: of the crate, of the target directory, and of the prefix of its test binaries.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Loom => "loom",
            Self::Shuttle => "shuttle",
            Self::Spin => "spin",
        }
    }

    /// A cargo that builds for this backend, one [`OF_CODE`](Self::OF_CODE), in a target directory of its own.
    pub(crate) fn cargo<const N: usize>(self, context: &Context, args: [&str; N]) -> Command {
        let mut command = context.workspace().cargo(args);
        command.env("CARGO_TARGET_DIR", context.workspace().target_for(self.name()));
        add_rustflags(&mut command, &["--cfg", &format!("drowse_{}", self.name())]);
        command
    }

    /// Builds the models and finds their binaries.
    pub(crate) fn build(self, context: &Context) -> Result<Vec<ModelBinary>, String> {
        let mut command = self.cargo(context, ["test", "--no-run", "--release"]);
        command.args(["--package", "drowse-models", "--tests"]);
        command.arg("--message-format=json-render-diagnostics");
        let done =
            context.run_stdout_apart(command, BUILD_LIMIT).map_err(|failure| format!("build: {failure}"))?;
        let prefix = format!("{}_", self.name());
        let mut binaries = executables::test_binaries(&done.stdout);
        binaries.retain(|binary| binary.name.starts_with(&prefix));
        binaries.sort_by(|a, b| a.name.cmp(&b.name));
        if binaries.is_empty() {
            return Err(format!("there are no models: no {prefix}*.rs in crates/drowse-models/tests"));
        }
        Ok(binaries)
    }
}

impl ModelBinary {
    /// A command that runs it as cargo would, without a mutant.
    pub(crate) fn command(&self, context: &Context) -> Command {
        let mut command = Command::new(&self.path);
        command
            .current_dir(context.workspace().root().join("crates/drowse-models"))
            .env_remove(MUTANT_VARIABLE);
        if env::var_os("LOOM_MAX_PREEMPTIONS").is_none() {
            command.env("LOOM_MAX_PREEMPTIONS", "3");
        }
        // The same random schedules each time, so that what passes here passes there. Another seed explores others.
        if env::var_os("SHUTTLE_RANDOM_SEED").is_none() {
            command.env("SHUTTLE_RANDOM_SEED", "4");
        }
        command
    }
}

/// Runs the models of one backend.
pub(crate) fn run(context: &Context, backend: Backend) -> Outcome {
    match backend {
        Backend::Loom | Backend::Shuttle => build_and_run(context, backend),
        Backend::Spin => spin::run(context),
    }
}

fn build_and_run(context: &Context, backend: Backend) -> Outcome {
    let binaries = match backend.build(context) {
        Ok(binaries) => binaries,
        Err(why) => return Outcome::failed(why),
    };
    let width = binaries.iter().map(|binary| binary.name.len()).max().unwrap_or(0);
    let (mut failed, mut report) = (Vec::new(), Vec::new());
    let (mut models, mut ran) = (0, 0);
    for binary in &binaries {
        let line = match run_binary(context, binary) {
            // Nothing in it matches the filter.
            Ok((0, _)) if context.filter().is_some() => continue,
            Ok((passed, took)) => {
                models += passed;
                ran += 1;
                format!("ok {:>8}  {}", seconds(took), counted(passed, "model"))
            }
            Err(why) => {
                failed.push(binary.name.as_str());
                format!("FAILED: {why}")
            }
        };
        report.push(format!("  {:<width$}  {line}", binary.name));
    }
    let outcome = match (context.filter(), failed.as_slice()) {
        (_, [_, ..]) => Outcome::failed(failed.join(", ")),
        (Some(filter), []) if models == 0 => Outcome::wrong_call(format!("no model matches `{filter}`")),
        _ => Outcome::passed(format!("{}, {}", counted(models, "model"), counted(ran, "test file"))),
    };
    outcome.with_report(report)
}

/// Runs the models of one binary that the user's filter, if any, names: by the binary's name or their own.
/// Returns how many passed, and how long it took.
fn run_binary(context: &Context, binary: &ModelBinary) -> Result<(usize, Duration), String> {
    let mut command = binary.command(context);
    // A model that aborts takes the captured output of all others with it: so there is none.
    command.arg("--nocapture");
    if !context.wants(&binary.name) {
        command.args(context.filter());
    }
    let done = context.run(command, RUN_LIMIT).map_err(|failure| failure.how)?;
    match libtest_counts(&done.output).map_or(0, |counts| counts.passed) {
        0 if context.filter().is_none() => Err("it holds no model".to_string()),
        passed => Ok((passed, done.took)),
    }
}
