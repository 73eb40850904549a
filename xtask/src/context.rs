//! What every step needs: where things are, the user's options, and a way to run children.

use std::env;
use std::fmt;
use std::path::{self, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::outcome::{Outcome, Status};
use crate::process::{Finished, Job};
use crate::tools::{say, shout};

/// More than any build should take.
pub(crate) const BUILD_LIMIT: Duration = Duration::from_secs(45 * 60);

/// What a script ends with where something is missing that it needs. Its last line says what.
const MISSING: i32 = 77;

/// The surroundings of a step.
#[derive(Debug)]
pub(crate) struct Context {
    /// The directory of the workspace's manifest.
    pub(crate) root: PathBuf,
    pub(crate) target: PathBuf,
    /// Whether the output of children is shown as it comes.
    pub(crate) verbose: bool,
    /// Whether missing packages may be fetched.
    pub(crate) install: bool,
    /// Whether what takes long is wanted too.
    pub(crate) full: bool,
    /// Only what has this in its name is wanted.
    pub(crate) filter: Option<String>,
    /// Whether this step is one of all.
    pub(crate) is_whole: bool,
    /// Whether nothing may be fetched.
    pub(crate) offline: bool,
    /// What the soak is told, if it was asked for by name.
    pub(crate) soak: Option<Vec<String>>,
    /// The program whose functions are listed.
    pub(crate) groups: Option<String>,
}

/// A child that did not end well, or could not be run.
#[derive(Debug)]
pub(crate) struct Failure {
    /// How it ended, in a few words.
    how: String,
    /// What it wrote. It has been shown already.
    pub(crate) output: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.how)
    }
}

impl From<Failure> for String {
    fn from(failure: Failure) -> Self {
        failure.how
    }
}

impl From<Failure> for Outcome {
    fn from(failure: Failure) -> Self {
        failure.how.into()
    }
}

impl Context {
    /// The context of one call of this program.
    pub(crate) fn new(verbose: bool, install: bool, full: bool, filter: Option<String>) -> Self {
        // cargo names the crate's place at run time too: it may have moved since it was built.
        let own =
            env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
        let root = PathBuf::from(own).parent().expect("xtask lies in its workspace").to_path_buf();
        // A relative CARGO_TARGET_DIR is relative to where cargo was called.
        let target = env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
        let target =
            target.map_or_else(|| root.join("target"), |dir| path::absolute(&dir).unwrap_or(dir));
        Self {
            root,
            target,
            verbose,
            install,
            full,
            filter,
            is_whole: false,
            offline: false,
            soak: None,
            groups: None,
        }
    }

    /// A target directory of its own for builds whose flags differ, so that they do not evict the
    /// others.
    pub(crate) fn target_for(&self, purpose: &str) -> PathBuf {
        self.target.join(purpose)
    }

    /// Whether the user's filter, if any, lets this name pass.
    pub(crate) fn wants(&self, name: &str) -> bool {
        self.filter.as_deref().is_none_or(|filter| name.contains(filter))
    }

    /// The cargo that runs this program, in the workspace's root, with these arguments.
    pub(crate) fn cargo(&self, args: &str) -> Command {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        self.prepared(Command::new(cargo), args)
    }

    /// The same for the shim, which is a workspace of its own.
    pub(crate) fn cargo_of_shim(&self, args: &str) -> Command {
        let mut command = self.cargo(args);
        command.current_dir(self.root.join("shim"));
        command
    }

    fn prepared(&self, mut command: Command, args: &str) -> Command {
        command
            .args(args.split_whitespace())
            .current_dir(&self.root)
            .env("CARGO_TARGET_DIR", &self.target);
        if self.offline {
            // cargo and the scripts of xtask/scripts ask for it.
            command.env("CARGO_NET_OFFLINE", "true");
        }
        // What `cargo run` said about this program does not concern its children.
        for (key, _) in env::vars_os() {
            let name = key.to_string_lossy();
            if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
                command.env_remove(&key);
            }
        }
        command
    }

    /// Runs a child. Its output is shown if it fails, or always if the user wants it so.
    pub(crate) fn run(&self, command: Command, limit: Duration) -> Result<Finished, Failure> {
        self.judge(Job::new(command, limit))
    }

    /// The same, with stdout kept for the caller alone.
    pub(crate) fn run_stdout_apart(
        &self,
        command: Command,
        limit: Duration,
    ) -> Result<Finished, Failure> {
        self.judge(Job { stdout_apart: true, ..Job::new(command, limit) })
    }

    /// Runs a script of `xtask/scripts` in the workspace's root. The summary shows its last line.
    pub(crate) fn script(&self, name: &str, args: &str) -> Result<Outcome, Outcome> {
        let mut command =
            self.prepared(Command::new("sh"), &format!("xtask/scripts/{name}.sh {args}"));
        command.env("CARGO", env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        let done = Job { echo: self.verbose, ..Job::new(command, BUILD_LIMIT) }.run();
        let done = done.map_err(|error| format!("sh cannot be run: {error}"))?;
        let last = done.output.lines().last().unwrap_or_default().trim().to_string();
        match done.status.and_then(|status| status.code()) {
            Some(0) => Ok(Status::Passed.with(last)),
            Some(MISSING) => {
                shout(&format!("{name} is SKIPPED: {last}"));
                Err(Status::Skipped.with(last))
            }
            code => {
                // What cargo prints last is not why it failed.
                let error =
                    done.output.lines().rfind(|line| line.starts_with("error")).map(String::from);
                let how = self.show(&format!("{name}.sh"), done);
                Err(Status::Failed.with(if code.is_some() {
                    error.unwrap_or(last)
                } else {
                    how.into()
                }))
            }
        }
    }

    fn judge(&self, job: Job) -> Result<Finished, Failure> {
        let name = job.to_string();
        match (Job { echo: self.verbose, ..job }).run() {
            Ok(done) if done.succeeded() => Ok(done),
            Ok(done) => Err(self.show(&name, done)),
            Err(error) => {
                let how = format!("cannot be run: {error}");
                shout(&format!("{name} {how}"));
                Err(Failure { how, output: String::new() })
            }
        }
    }

    /// Shows a failure, if it was not shown as it came.
    fn show(&self, name: &str, done: Finished) -> Failure {
        if !self.verbose {
            // Tests that pass are printed for the progress line alone.
            let lines = done.output.lines().filter(|line| !line.trim_start().starts_with("PASS ["));
            say(lines.collect::<Vec<_>>().join("\n").trim_end());
        }
        let how = done.how_it_ended();
        shout(&format!("{name}: {how}"));
        Failure { how, output: done.output }
    }
}

/// Adds rustc flags to those that the user has set.
pub(crate) fn add_rustflags(command: &mut Command, flags: &str) {
    let set = |key: &str| env::var(key).ok().filter(|value| !value.is_empty());
    let (key, value) = joined_rustflags(set("CARGO_ENCODED_RUSTFLAGS"), set("RUSTFLAGS"), flags);
    command.env(key, value);
}

/// The variable to set and its value. cargo ignores the second variable where the first is set.
fn joined_rustflags(
    encoded: Option<String>,
    plain: Option<String>,
    flags: &str,
) -> (&'static str, String) {
    match (encoded, plain) {
        (Some(users), _) => {
            ("CARGO_ENCODED_RUSTFLAGS", users + "\x1f" + &flags.replace(' ', "\x1f"))
        }
        (None, Some(users)) => ("RUSTFLAGS", users + " " + flags),
        (None, None) => ("RUSTFLAGS", flags.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_added_to_the_users() {
        let joined = |encoded: Option<&str>, plain: Option<&str>| {
            joined_rustflags(encoded.map(String::from), plain.map(String::from), "--cfg model")
        };
        assert_eq!(joined(None, None), ("RUSTFLAGS", "--cfg model".to_string()));
        assert_eq!(joined(None, Some("-g")), ("RUSTFLAGS", "-g --cfg model".to_string()));
        let encoded = ("CARGO_ENCODED_RUSTFLAGS", "-C\x1fa\x1f--cfg\x1fmodel".to_string());
        assert_eq!(joined(Some("-C\x1fa"), Some("-g")), encoded);
    }
}
