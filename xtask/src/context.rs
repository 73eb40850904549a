//! What every step needs: the workspace, the user's options, and a way to run children.

use std::fmt;
use std::process::Command;
use std::time::Duration;

use crate::cli::Options;
use crate::process::{Finished, Job};
use crate::workspace::Workspace;

/// More than any build should take.
pub(crate) const BUILD_LIMIT: Duration = Duration::from_secs(45 * 60);

/// The surroundings of a step.
#[derive(Debug)]
pub(crate) struct Context {
    options: Options,
    workspace: Workspace,
}

/// A child that did not end well, or could not be run.
#[derive(Debug)]
pub(crate) struct Failure {
    /// How it ended, in a few words.
    pub(crate) how: String,
    /// What it wrote. It has been shown already.
    pub(crate) output: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.how)
    }
}

impl Context {
    /// The context of one call of this program.
    pub(crate) fn new(options: Options) -> Self {
        Self { options, workspace: Workspace::find() }
    }

    /// The checkout to work on.
    pub(crate) fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Whether the output of children is shown as it comes.
    pub(crate) fn verbose(&self) -> bool {
        self.options.verbose
    }

    /// Whether missing packages may be fetched.
    pub(crate) fn may_install(&self) -> bool {
        self.options.install
    }

    /// Whether what takes long is wanted too.
    pub(crate) fn full(&self) -> bool {
        self.options.full
    }

    /// Whether the user's filter, if any, lets this name pass.
    pub(crate) fn wants(&self, name: &str) -> bool {
        self.filter().is_none_or(|filter| name.contains(filter))
    }

    /// The user's filter.
    pub(crate) fn filter(&self) -> Option<&str> {
        self.options.filter.as_deref()
    }

    /// Runs a child. Its output is shown if it fails, or always if the user wants it so.
    pub(crate) fn run(&self, command: Command, limit: Duration) -> Result<Finished, Failure> {
        let job = Job::new(command, limit);
        self.judge(&job.to_string(), job)
    }

    /// The same, with stdout kept for the caller alone.
    pub(crate) fn run_stdout_apart(&self, command: Command, limit: Duration) -> Result<Finished, Failure> {
        let job = Job::new(command, limit).stdout_apart();
        self.judge(&job.to_string(), job)
    }

    /// The same, with a name for a command whose arguments do not make one.
    pub(crate) fn run_named(
        &self,
        name: &str,
        command: Command,
        limit: Duration,
    ) -> Result<Finished, Failure> {
        self.judge(name, Job::new(command, limit))
    }

    fn judge(&self, name: &str, job: Job) -> Result<Finished, Failure> {
        let done = match job.echo(self.verbose()).run() {
            Ok(done) if done.succeeded() => return Ok(done),
            Ok(done) => done,
            Err(error) => {
                let how = format!("cannot be run: {error}");
                shout(&format!("{name} {how}"));
                return Err(Failure { how, output: String::new() });
            }
        };
        if !self.verbose() {
            print!("{}", done.output);
            if !done.output.ends_with('\n') {
                println!();
            }
        }
        let how = done.how_it_ended();
        shout(&format!("{name}: {how}"));
        Err(Failure { how, output: done.output })
    }
}

/// One line that stands out.
pub(crate) fn shout(message: &str) {
    println!("!! {message}");
}
