//! The steps that run tests: nextest where there is one, else cargo's own runner under a watchdog.
//!
//! A test that hangs is a lost wake-up. nextest ends it alone; the watchdog ends the whole run and names it.

use std::process::Command;
use std::time::Duration;

use super::{libtest_counts, nextest_summary};
use crate::context::{BUILD_LIMIT, Context};
use crate::outcome::Outcome;
use crate::tools::Tool;

/// More than all of the tests should take once they are built. Long enough for libtest to name a test that hangs,
/// which it does after a minute.
const RUN_LIMIT: Duration = Duration::from_secs(15 * 60);

/// Everything that holds tests. Not `--all-targets`: that would run the benches.
const TARGETS: [&str; 4] = ["--lib", "--bins", "--tests", "--examples"];

/// A way to run some tests: a cargo, the packages, and what goes into its environment.
#[derive(Debug)]
pub(crate) struct TestRun<'a, F> {
    /// Makes the cargo command for this subcommand, ready to take more arguments.
    pub(crate) cargo: F,
    /// Selects packages and the compilation target.
    pub(crate) selection: &'a [&'a str],
    /// nextest's profile, from `.config/nextest.toml`: how long a test may take.
    pub(crate) profile: &'a str,
}

/// Unit and integration tests of the whole workspace, and of the shim's.
pub(crate) fn tests(context: &Context) -> Outcome {
    let cargo = |subcommand: &[&str]| {
        let mut command = context.workspace().cargo([]);
        command.args(subcommand);
        command
    };
    let cargo_of_shim = |subcommand: &[&str]| {
        let mut command = context.workspace().cargo_of_shim([]);
        command.args(subcommand);
        command
    };
    let outcome = TestRun { cargo, selection: &["--workspace"], profile: "default" }.run(context);
    let shim = TestRun { cargo: cargo_of_shim, selection: &["--workspace"], profile: "default" }.run(context);
    outcome.and("shim", shim)
}

impl<F: Fn(&[&str]) -> Command> TestRun<'_, F> {
    /// Runs the tests with the best runner there is.
    pub(crate) fn run(&self, context: &Context) -> Outcome {
        if Tool::Nextest.is_there(context, "using cargo test with a watchdog") {
            self.with_nextest(context)
        } else {
            self.with_libtest(context)
        }
    }

    fn with_nextest(&self, context: &Context) -> Outcome {
        let mut command = self.command(&["nextest", "run", "--profile", self.profile]);
        // Named, since the shim's workspace has none.
        command.arg("--config-file").arg(context.workspace().root().join(".config/nextest.toml"));
        match context.run(command, BUILD_LIMIT + RUN_LIMIT) {
            Ok(done) => Outcome::passed(nextest_summary(&done.output).unwrap_or_default()),
            Err(failure) => Outcome::failed(nextest_summary(&failure.output).unwrap_or(&failure.how)),
        }
    }

    fn with_libtest(&self, context: &Context) -> Outcome {
        // Built first, so that the watchdog's limit is the tests' alone.
        if let Err(failure) = context.run(self.command(&["test", "--no-run"]), BUILD_LIMIT) {
            return Outcome::failed(format!("build: {failure}"));
        }
        let command = self.command(&["test", "--no-fail-fast"]);
        libtest_outcome(context, command)
    }

    fn command(&self, subcommand: &[&str]) -> Command {
        let mut command = (self.cargo)(subcommand);
        command.args(self.selection).args(TARGETS);
        command
    }
}

/// The examples in the documentation.
pub(crate) fn doctests(context: &Context) -> Outcome {
    let test = ["test", "--doc", "--workspace", "--no-fail-fast"];
    let workspace = context.workspace();
    let outcome = libtest_outcome(context, workspace.cargo(test));
    outcome.and("shim", libtest_outcome(context, workspace.cargo_of_shim(test)))
}

/// Runs a `cargo test` under the watchdog and counts.
fn libtest_outcome(context: &Context, command: Command) -> Outcome {
    match context.run(command, RUN_LIMIT) {
        Ok(done) => {
            Outcome::passed(libtest_counts(&done.output).map(|counts| counts.to_string()).unwrap_or_default())
        }
        Err(failure) => Outcome::failed(match libtest_counts(&failure.output) {
            Some(counts) if counts.failed > 0 => counts.to_string(),
            // A build that failed, an abort or a hang.
            _ => failure.how,
        }),
    }
}
