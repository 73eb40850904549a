//! Tells a waiting person which step runs, for how long, how much of it is done, and what is left.
//!
//! On a terminal that is one line, rewritten each second. Elsewhere it is a line now and then.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::outcome::counted;

/// The pause between two lines on a terminal, where each replaces the one before.
const ON_TERMINAL: Duration = Duration::from_secs(1);

/// The pause between two lines in a log.
const IN_LOG: Duration = Duration::from_secs(20);

/// Text longer than that is cut, so that a line fits a terminal.
const LONGEST: usize = 100;

static NOW: Mutex<Option<State>> = Mutex::new(None);

/// The step that runs.
#[derive(Debug)]
struct State {
    label: String,
    began: Instant,
    work: Work,
    left: String,
    /// Whether a line is on the terminal that the next one replaces.
    is_shown: bool,
}

/// How far the step is.
#[derive(Debug, Default, PartialEq)]
struct Work {
    /// The crate that cargo has named last, and how many it has named.
    building: Option<(String, usize)>,
    /// What is counted, how many are done, and how many there are.
    things: Option<(&'static str, usize, usize)>,
    /// `true` if the step counts by itself, and not by what its children print.
    counts_itself: bool,
    /// The end of the output that is no whole line yet.
    rest: String,
}

/// A step that is shown until this is dropped.
#[derive(Debug)]
pub(crate) struct Shown {
    end: Option<Sender<()>>,
    ticker: Option<JoinHandle<()>>,
}

/// Shows a step from now on. `left` says what comes after it.
pub(crate) fn show(label: &str, left: String) -> Shown {
    let began = Instant::now();
    let state =
        State { label: label.to_string(), began, work: Work::default(), left, is_shown: false };
    *now() = Some(state);
    let is_terminal = io::stdout().is_terminal();
    let (end, ended) = mpsc::channel();
    let pause = if is_terminal { ON_TERMINAL } else { IN_LOG };
    let ticker = thread::spawn(move || {
        while ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
            if let Some(state) = now().as_mut() {
                state.print(is_terminal);
            }
        }
    });
    Shown { end: Some(end), ticker: Some(ticker) }
}

impl Drop for Shown {
    fn drop(&mut self) {
        drop(self.end.take());
        // The ticker does not panic. If it did, there would be nothing left to show.
        self.ticker.take().map(JoinHandle::join);
        clear();
        *now() = None;
    }
}

/// Takes the line off the terminal, before another one is printed.
pub(crate) fn clear() {
    if let Some(state) = now().as_mut().filter(|state| state.is_shown) {
        state.is_shown = false;
        let _ = write!(io::stdout(), "\r\x1b[K");
    }
}

/// Says that the step will do `number` things, and reports each by [`one_done`].
pub(crate) fn expect(things: &'static str, number: usize) {
    if let Some(state) = now().as_mut() {
        state.work.things = Some((things, 0, number));
        state.work.counts_itself = true;
    }
}

/// Counts one of the things that [`expect`] has announced.
pub(crate) fn one_done() {
    if let Some((_, done, _)) = now().as_mut().and_then(|state| state.work.things.as_mut()) {
        *done += 1;
    }
}

/// Reads what a child of the step has printed: crates that are built, tests that are run.
pub(crate) fn read(output: &[u8]) {
    if let Some(state) = now().as_mut() {
        state.work.read(&String::from_utf8_lossy(output));
    }
}

fn now() -> MutexGuard<'static, Option<State>> {
    NOW.lock().expect("no code panics while it shows progress")
}

impl State {
    fn print(&mut self, is_terminal: bool) {
        let Self { label, began, work, left, .. } = &self;
        let line = format!("{label}  {}{}{left}", clock(began.elapsed()), work.words());
        let line: String =
            line.chars().take(if is_terminal { LONGEST } else { usize::MAX }).collect();
        let mut out = io::stdout();
        // A reader that has closed our output does not want the line.
        let _ = if is_terminal { write!(out, "\r\x1b[K{line}") } else { writeln!(out, "{line}") };
        let _ = out.flush();
        self.is_shown = is_terminal;
    }
}

impl Work {
    fn read(&mut self, text: &str) {
        self.rest.push_str(text);
        while let Some((line, rest)) = self.rest.split_once('\n') {
            let (line, rest) = (line.trim().to_string(), rest.to_string());
            self.rest = rest;
            self.read_line(&line);
        }
    }

    fn read_line(&mut self, line: &str) {
        let built = ["Compiling ", "Checking ", "Documenting "]
            .iter()
            .find_map(|verb| line.strip_prefix(verb));
        if let Some(built) = built {
            let number = self.building.as_ref().map_or(0, |(_, number)| *number);
            let name = built.split(' ').next().unwrap_or_default();
            self.building = Some((name.to_string(), number + 1));
        }
        if self.counts_itself {
            return;
        }
        let first_number =
            |words: &str| words.split(' ').next().and_then(|word| word.parse::<usize>().ok());
        // nextest says `Starting 3 tests across 2 binaries`, libtest `running 3 tests`.
        let begun = line.strip_prefix("Starting ").or_else(|| line.strip_prefix("running "));
        if let Some(number) = begun.filter(|words| words.contains(" test")).and_then(first_number) {
            let (_, done, of) = self.things.unwrap_or_default();
            self.things = Some(("tests", done, of + number));
            self.building = None;
        }
        let is_end = line.starts_with("PASS [")
            || line.starts_with("FAIL [")
            || (line.starts_with("test ") && line.contains(" ... ") && !line.ends_with("ignored"));
        if let Some((_, done, _)) = self.things.as_mut().filter(|_| is_end) {
            *done += 1;
        }
    }

    fn words(&self) -> String {
        let things = self.things.map(|(things, done, of)| format!("  {done} of {of} {things}"));
        let building = self.building.as_ref().filter(|_| self.things.is_none());
        let building = building.map(|(name, number)| format!("  building {name}, crate {number}"));
        things.or(building).unwrap_or_default()
    }
}

/// Formats a time as minutes and seconds.
fn clock(time: Duration) -> String {
    format!("{}:{:02}", time.as_secs() / 60, time.as_secs() % 60)
}

/// How long each step took when it last ran here.
#[derive(Debug)]
pub(crate) struct Times {
    file: PathBuf,
    seconds: BTreeMap<String, f64>,
}

impl Times {
    /// Reads what an earlier run has left in this directory, if any.
    pub(crate) fn load(target: &Path) -> Self {
        let file = target.join("xtask-times.txt");
        let text = fs::read_to_string(&file).unwrap_or_default();
        let entry = |line: &str| {
            let (name, seconds) = line.split_once(' ')?;
            Some((name.to_string(), seconds.parse().ok()?))
        };
        Self { file, seconds: text.lines().filter_map(entry).collect() }
    }

    /// Keeps the time of a step for later runs. If it cannot be written, they will know less.
    pub(crate) fn keep(&mut self, step: &str, took: Duration) {
        self.seconds.insert(step.to_string(), took.as_secs_f64());
        let text: String =
            self.seconds.iter().map(|(name, took)| format!("{name} {took:.1}\n")).collect();
        let _ = fs::write(&self.file, text);
    }

    /// Says what is left after a step: `; then loom, spin: 5 min`. Without a time for each of them,
    /// only their names.
    pub(crate) fn left(&self, steps: &[&str]) -> String {
        let known: Option<f64> = steps.iter().map(|step| self.seconds.get(*step)).sum();
        let names = match steps {
            [] => return String::new(),
            [a, b, c, more @ ..] if !more.is_empty() => {
                format!("{a}, {b}, {c} and {} more", more.len())
            }
            few => few.join(", "),
        };
        let time =
            known.map(|known| format!(": {}", counted((known / 60.0).ceil() as usize, "minute")));
        format!("; then {names}{}", time.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(output: &[&str]) -> String {
        let mut work = Work::default();
        output.iter().for_each(|text| work.read(text));
        work.words()
    }

    #[test]
    fn crates_and_tests_are_counted_as_they_come() {
        assert_eq!(after(&["   Compiling a v1", ".0\n   Compil"]), "  building a, crate 1");
        assert_eq!(after(&["   Compiling a v1\n    Checking b v2\n"]), "  building b, crate 2");
        let nextest =
            "  Compiling a v1\n  Starting 3 tests across 2 binaries\n  PASS [ 0.1s] a b\n";
        assert_eq!(after(&[nextest]), "  1 of 3 tests");
        assert_eq!(after(&[nextest, "  FAIL [ 0.1s] a c\n  SLOW [>10s] d\n"]), "  2 of 3 tests");
        let libtest = "running 2 tests\ntest a ... ok\ntest b ... ignored\n\nrunning 1 test\n";
        assert_eq!(after(&[libtest]), "  1 of 3 tests");
        assert_eq!(after(&["test a ... ok\n", "noise"]), "");
    }

    #[test]
    fn a_step_that_counts_itself_does_not_read_tests() {
        let mut work =
            Work { things: Some(("models", 0, 9)), counts_itself: true, ..Work::default() };
        work.read("running 1 test\ntest a ... ok\n");
        assert_eq!(work.words(), "  0 of 9 models");
    }

    #[test]
    fn the_rest_is_named_and_timed_if_known() {
        let times = |known: &[(&str, f64)]| Times {
            file: PathBuf::new(),
            seconds: known.iter().map(|(name, took)| (name.to_string(), *took)).collect(),
        };
        assert_eq!(times(&[]).left(&["a", "b"]), "; then a, b");
        assert_eq!(times(&[("a", 61.0), ("b", 2.0)]).left(&["a", "b"]), "; then a, b: 2 minutes");
        let many = ["a", "b", "c", "d", "e"];
        assert_eq!(times(&[]).left(&many), "; then a, b, c and 2 more");
        assert_eq!(times(&[]).left(&[]), "");
        assert_eq!(clock(Duration::from_secs(75)), "1:15");
    }
}
