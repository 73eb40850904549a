//! What the program does, command by command.

mod child;
mod compare;
mod diff;
mod list;
mod report;
mod run;
mod trace;

use crate::cli::{Cli, Command, CompareArgs};
use crate::runner;
use crate::schema::Results;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::OnceLock;

/// How it ended. `--help` tells users.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Well.
    Well,
    /// Something is wrong with what was measured.
    Amiss,
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
    let end = perform(Cli::read(&args).unwrap_or_else(|error| error.exit()));
    match UNSAID.get().map_or(end, |text| Err(Misuse(text.clone()))) {
        Ok(End::Well) => ExitCode::SUCCESS,
        Ok(End::Amiss) => ExitCode::from(1),
        Err(Misuse(text)) => {
            eprintln!("error: {text}");
            ExitCode::from(2)
        }
    }
}

fn perform(cli: Cli) -> Result<End, Misuse> {
    if cfg!(debug_assertions) && measures(cli.command.as_ref()) {
        eprintln!("warning: {}; for figures, use `cargo run --release --`", runner::DEBUG_BUILD);
    }
    match cli.command {
        None => {
            say("A quick comparison, of about a minute; --help says what else there is.");
            compare::compare(&CompareArgs { out: "target/drowse-lab".into(), ..CompareArgs::default() })
        }
        Some(Command::List(args)) => list::list(&args),
        Some(Command::Run(args)) => run::run(&args),
        Some(Command::Compare(args)) => compare::compare(&args),
        Some(Command::Trace(args)) => trace::trace(&args),
        Some(Command::Report(args)) => report::report(&args),
        Some(Command::Diff(args)) => diff::diff(&args),
        Some(Command::Child(args)) => child::child(&args),
    }
}

/// Whether it yields figures that somebody might believe.
fn measures(command: Option<&Command>) -> bool {
    match command {
        None | Some(Command::Run(_) | Command::Compare(_) | Command::Trace(_)) => true,
        // The one that started a child has said it.
        Some(Command::List(_) | Command::Report(_) | Command::Diff(_) | Command::Child(_)) => false,
    }
}

/// Why something could not be printed. Told at the end, so that the files are written all the same.
static UNSAID: OnceLock<String> = OnceLock::new();

/// Prints to standard output. Whoever has closed it does not want to know; all else that goes wrong is the program's end.
fn say(text: impl std::fmt::Display) {
    let mut output = io::stdout().lock();
    match writeln!(output, "{text}").and_then(|()| output.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            // The first reason is the one to tell.
            let _ = UNSAID.set(format!("cannot write to standard output: {error}"));
        }
        _ => {}
    }
}

/// Prints what is to be said after the table: the findings, and the notes of the run.
fn conclude(results: &Results) {
    let findings = crate::report::findings(results);
    let findings = findings.iter().enumerate().map(|(at, finding)| format!("{}. {finding}", at + 1));
    let notes = results.notes.iter().map(|note| format!("Note: {note}."));
    let lines: Vec<_> = findings.chain(notes).collect();
    if !lines.is_empty() {
        say(format!("\n{}", lines.join("\n")));
    }
}

/// Prints as JSON, on one line.
fn say_json(value: &impl serde::Serialize) -> Result<(), Misuse> {
    say(serde_json::to_string(value)?);
    Ok(())
}

/// Writes a file, and the directory that it is to be in.
fn write(path: &Path, text: &str) -> Result<(), Misuse> {
    let told = |error: io::Error| Misuse(format!("cannot write {}: {error}", path.display()));
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory).map_err(told)?;
    }
    fs::write(path, text).map_err(told)
}

/// Results as the text of a file: one cell a line, so that a person can find their way in it.
fn to_text(results: &Results) -> Result<String, Misuse> {
    let mut value = serde_json::to_value(results)?;
    let mut text = String::from("{");
    let fields = value.as_object_mut().map(std::mem::take).unwrap_or_default();
    for (number, (name, value)) in fields.into_iter().enumerate() {
        text.push_str(if number == 0 { "\n" } else { ",\n" });
        text.push_str(&serde_json::to_string(&name)?);
        text.push_str(": ");
        match value {
            serde_json::Value::Array(items) if !items.is_empty() => {
                let items: Result<Vec<_>, _> = items.iter().map(serde_json::to_string).collect();
                text.push_str(&format!("[\n{}\n]", items?.join(",\n")));
            }
            other => text.push_str(&serde_json::to_string(&other)?),
        }
    }
    text.push_str("\n}\n");
    Ok(text)
}
