//! What the program does, command by command.

mod child;
mod compare;
mod diff;
mod files;
mod hangs;
mod list;
mod report;
mod run;
mod trace;

use crate::cli::{Cli, Command, CompareArgs};
use crate::platform::interrupt;
use crate::runner;
use crate::say::{self, say, tell};
use crate::schema::Results;
use std::process::ExitCode;

/// How it ended. `--help` tells users.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Well.
    Well,
    /// Something is wrong with what was measured.
    Amiss,
    /// Something is wrong with the command line or with a file, and has been told.
    Misused,
    /// This signal has stopped it.
    Stopped(i32),
}

impl End {
    fn code(self) -> ExitCode {
        ExitCode::from(match self {
            Self::Well => 0,
            Self::Amiss => 1,
            Self::Misused => 2,
            Self::Stopped(signal) => interrupt::exit_code(signal),
        })
    }
}

/// What is wrong with the command line or with a file.
#[derive(Debug)]
pub struct Misuse(String);

impl<T: std::fmt::Display> From<T> for Misuse {
    fn from(text: T) -> Self {
        Self(text.to_string())
    }
}

/// The whole program.
pub fn main() -> ExitCode {
    let args: Vec<_> = std::env::args_os().collect();
    let end = match Cli::read(&args) {
        Ok(cli) => perform(cli),
        Err(error) => {
            say::answer(&error);
            Ok(if error.use_stderr() { End::Misused } else { End::Well })
        }
    };
    let end = end.unwrap_or_else(|Misuse(text)| {
        tell(format!("error: {text}"));
        End::Misused
    });
    match (end, say::unsaid()) {
        (End::Well | End::Amiss, Some(text)) => {
            tell(format!("error: {text}"));
            End::Misused.code()
        }
        _ => end.code(),
    }
}

fn perform(cli: Cli) -> Result<End, Misuse> {
    if cfg!(debug_assertions) && measures(cli.command.as_ref()) {
        tell(format!(
            "warning: {}; for figures, use `cargo run --release --`",
            runner::DEBUG_BUILD
        ));
    }
    match cli.command {
        None => {
            say("A quick comparison, of about a minute; --help says what else there is.");
            compare::compare(&CompareArgs {
                out: "target/drowse-lab".into(),
                ..CompareArgs::default()
            })
        }
        Some(Command::List(args)) => list::list(&args),
        Some(Command::Run(args)) => run::run(&args),
        Some(Command::Compare(args)) => compare::compare(&args),
        Some(Command::Trace(args)) => trace::trace(&args),
        Some(Command::Report(args)) => report::report(&args),
        Some(Command::Diff(args)) => diff::diff(&args),
        Some(Command::Hangs(args)) => hangs::hangs(&args),
        Some(Command::Child(args)) => child::child(&args),
        Some(Command::HangsChild(args)) => hangs::child(&args),
    }
}

/// Whether it yields figures that somebody might believe.
fn measures(command: Option<&Command>) -> bool {
    match command {
        None | Some(Command::Run(_) | Command::Compare(_) | Command::Trace(_)) => true,
        // The one that started a child has said it.
        Some(Command::List(_) | Command::Report(_) | Command::Diff(_) | Command::Child(_)) => false,
        // Who comes to an end does so in any build.
        Some(Command::Hangs(_) | Command::HangsChild(_)) => false,
    }
}

/// Prints what is to be said after the table: the findings, and the notes of the run.
fn conclude(results: &Results) {
    let findings = crate::report::findings(results);
    let findings =
        findings.iter().enumerate().map(|(at, finding)| format!("{}. {finding}", at + 1));
    let notes = results.notes.iter().map(|note| format!("Note: {note}."));
    let lines: Vec<_> = findings.chain(notes).collect();
    if !lines.is_empty() {
        say(format!("\n{}", lines.join("\n")));
    }
}
