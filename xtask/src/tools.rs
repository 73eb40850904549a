//! Tools that may be missing, and how to get them.

use std::process::Command;
use std::time::Duration;

use crate::context::{Context, shout};
use crate::process::Job;

/// Something that a stable toolchain may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    /// `cargo fmt`.
    Rustfmt,
    /// `cargo clippy`.
    Clippy,
    /// `cargo nextest`.
    Nextest,
    /// `cargo +nightly`.
    Nightly,
    /// `spin`.
    Spin,
    /// `gcc`, which spin calls by this name.
    Gcc,
    /// `python3`, which drives the browser.
    Python,
}

impl Tool {
    /// Whether it is there. If not, one loud line says what is done instead and how to get it.
    pub(crate) fn is_there(self, context: &Context, instead: &str) -> bool {
        let there = answers(self.question(context));
        if !there {
            shout(&format!("{} is missing: {instead}. Get it with: {}", self.name(), self.source()));
        }
        there
    }

    /// What it is called.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Rustfmt => "rustfmt",
            Self::Clippy => "clippy",
            Self::Nextest => "nextest",
            Self::Nightly => "a nightly toolchain",
            Self::Spin => "spin",
            Self::Gcc => "gcc",
            Self::Python => "python3",
        }
    }

    fn source(self) -> &'static str {
        match self {
            Self::Rustfmt => "rustup component add rustfmt",
            Self::Clippy => "rustup component add clippy",
            Self::Nextest => "cargo install --locked cargo-nextest",
            Self::Nightly => "rustup toolchain install nightly",
            Self::Spin => "apt-get install spin, or from https://spinroot.com",
            Self::Gcc => "apt-get install gcc libc6-dev",
            Self::Python => "apt-get install python3",
        }
    }

    fn question(self, context: &Context) -> Command {
        let workspace = context.workspace();
        match self {
            Self::Rustfmt => workspace.cargo(["fmt", "--version"]),
            Self::Clippy => workspace.cargo(["clippy", "--version"]),
            Self::Nextest => workspace.cargo(["nextest", "--version"]),
            Self::Nightly => workspace.cargo_of("nightly", ["--version"]),
            Self::Spin => command("spin", "-V"),
            Self::Gcc => command("gcc", "--version"),
            Self::Python => command("python3", "--version"),
        }
    }
}

fn command(program: &str, arg: &str) -> Command {
    let mut command = Command::new(program);
    command.arg(arg);
    command
}

/// Whether the command can be run and ends well.
pub(crate) fn answers(question: Command) -> bool {
    Job::new(question, Duration::from_secs(60)).run().is_ok_and(|done| done.succeeded())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_exist_does_not_answer() {
        assert!(!answers(Command::new("no-such-program-anywhere")));
    }
}
