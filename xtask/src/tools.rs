//! Tools that may be missing, and how to get them.

use std::fmt::Display;
use std::io::{self, Write};
use std::process::Command;
use std::time::Duration;

use crate::outcome::{Outcome, Status};
use crate::process::Job;
use crate::progress;

/// Something that a stable toolchain may lack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tool {
    name: &'static str,
    /// A command line that succeeds if it is there.
    question: &'static str,
    /// How to get it.
    source: &'static str,
}

const fn tool(name: &'static str, question: &'static str, source: &'static str) -> Tool {
    Tool { name, question, source }
}

pub(crate) const RUSTFMT: Tool =
    tool("rustfmt", "cargo fmt --version", "rustup component add rustfmt");
pub(crate) const CLIPPY: Tool =
    tool("clippy", "cargo clippy --version", "rustup component add clippy");
pub(crate) const NEXTEST: Tool =
    tool("nextest", "cargo nextest --version", "cargo install --locked cargo-nextest");
pub(crate) const SPIN: Tool =
    tool("spin", "spin -V", "apt-get install spin, or from https://spinroot.com");
pub(crate) const GCC: Tool = tool("gcc", "gcc --version", "apt-get install gcc libc6-dev");
pub(crate) const NM: Tool = tool("nm", "nm --version", "apt-get install binutils");

impl Tool {
    /// Whether it is there. If not, one loud line says what is done instead and how to get it.
    pub(crate) fn is_there(self, instead: &str) -> bool {
        let mut words = self.question.split_whitespace();
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).env_remove("CARGO");
        let there =
            Job::new(command, Duration::from_secs(60)).run().is_ok_and(|done| done.succeeded());
        if !there {
            shout(&format!("{} is missing: {instead}. Get it with: {}", self.name, self.source));
        }
        there
    }

    /// Ends the step as skipped if the tool is missing.
    pub(crate) fn demand(self, instead: &str) -> Result<(), Outcome> {
        if self.is_there(instead) {
            Ok(())
        } else {
            Err(Status::Skipped.with(format!("no {}", self.name)))
        }
    }
}

/// Prints a line. A reader that has closed our output does not want it, and still gets the exit
/// status.
pub(crate) fn say(line: impl Display) {
    progress::clear();
    let _ = writeln!(io::stdout(), "{line}");
}

/// One line that stands out.
pub(crate) fn shout(message: &str) {
    say(format_args!("!! {message}"));
}
