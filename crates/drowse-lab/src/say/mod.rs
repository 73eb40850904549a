//! All that the program prints. Nothing here panics: those who do not listen lose what is said,
//! and no results.
//!
//! Clippy sees to it that nobody else prints.

mod fit;

pub use fit::{COLUMNS, fitted};

use crate::platform;
use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;

/// Why something could not be printed. Told at the end, so that the files are written all the same.
static UNSAID: OnceLock<String> = OnceLock::new();

/// Prints for people, to standard output, in lines that fit.
pub(crate) fn say(text: impl Display) {
    print(&fitted(&text.to_string()));
}

/// Prints as JSON, on one line, to standard output.
///
/// # Errors
///
/// If it cannot be turned into JSON.
pub(crate) fn say_json(value: &impl serde::Serialize) -> Result<(), serde_json::Error> {
    print(&serde_json::to_string(value)?);
    Ok(())
}

/// Prints what is not the result, to standard error: in one line, so that a log can be searched, or
/// on a terminal in lines that fit.
pub(crate) fn tell(text: impl Display) {
    let text = text.to_string();
    let text = if io::stderr().is_terminal() { fitted(&text) } else { text };
    // If nobody hears it, there is nobody left to tell.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Prints what clap has to say: help to standard output, complaints to standard error. With colours
/// where they are seen.
pub(crate) fn answer(error: &clap::Error) {
    let seen =
        if error.use_stderr() { io::stderr().is_terminal() } else { io::stdout().is_terminal() };
    let plain = !seen || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let text = error.render();
    let text = if plain { text.to_string() } else { text.ansi().to_string() };
    if error.use_stderr() {
        tell(fitted(text.trim_end()));
    } else {
        say(text.trim_end());
    }
}

/// Draws a line on the terminal that standard error is, in place of the one that was drawn before.
/// As much of it as leaves room for the `^C` that the terminal writes behind it: in the next line,
/// it would be out of reach of [`wipe`].
pub(crate) fn draw(line: &str) {
    let shown: String = line.chars().take(columns().saturating_sub(4)).collect();
    let _ = write!(io::stderr().lock(), "\r{shown}\u{1b}[K");
}

/// Wipes the line that was drawn.
pub(crate) fn wipe() {
    let _ = write!(io::stderr().lock(), "\r\u{1b}[K");
}

/// How wide the terminal is, if it is narrower than what we write for.
fn columns() -> usize {
    platform::terminal_columns().unwrap_or(COLUMNS).min(COLUMNS)
}

/// Why something that was to be said to standard output could not be.
pub(crate) fn unsaid() -> Option<&'static str> {
    UNSAID.get().map(String::as_str)
}

/// Someone who has closed standard output does not want to know; anything else that goes wrong
/// with it ends the program.
fn print(text: &str) {
    let mut output = io::stdout().lock();
    match writeln!(output, "{text}").and_then(|()| output.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            // The first reason is the one to tell.
            let _ = UNSAID.set(format!("cannot write to standard output: {error}"));
        }
        _ => {}
    }
}
