//! How a step came out, and the summary of many.

use std::fmt::Write as _;
use std::time::Duration;

/// The ways a step can come out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// All was well.
    Passed,
    /// Something was not.
    Failed,
    /// It could not be tried here.
    Skipped,
    /// It was asked for something that there is not.
    WrongCall,
}

/// What a step has to say when it is done.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// How it came out.
    pub(crate) status: Status,
    /// A few words for the summary.
    pub(crate) detail: String,
    /// Lines for who asked for this step alone, or looks into its failure.
    pub(crate) report: Vec<String>,
}

/// A step that is done, as it stands in the summary.
#[derive(Debug)]
pub(crate) struct Entry {
    /// The step's name.
    pub(crate) name: &'static str,
    /// How it came out.
    pub(crate) status: Status,
    /// How long it took.
    pub(crate) took: Duration,
    /// A few words about it.
    pub(crate) detail: String,
}

impl Status {
    /// The word for it in all that is printed.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Passed => "ok",
            Self::Failed => "FAILED",
            Self::Skipped => "skipped",
            Self::WrongCall => "WRONG CALL",
        }
    }
}

impl Outcome {
    /// All was well.
    pub(crate) fn passed(detail: impl Into<String>) -> Self {
        Self::new(Status::Passed, detail)
    }

    /// Something was not.
    pub(crate) fn failed(detail: impl Into<String>) -> Self {
        Self::new(Status::Failed, detail)
    }

    /// It could not be tried here.
    pub(crate) fn skipped(detail: impl Into<String>) -> Self {
        Self::new(Status::Skipped, detail)
    }

    /// It was asked for something that there is not: a filter that matches nothing.
    pub(crate) fn wrong_call(detail: impl Into<String>) -> Self {
        Self::new(Status::WrongCall, detail)
    }

    /// Passed or failed, by the number of things that went wrong.
    pub(crate) fn by_failures(failures: usize, detail: impl Into<String>) -> Self {
        if failures == 0 { Self::passed(detail) } else { Self::failed(detail) }
    }

    /// The same with a report.
    pub(crate) fn with_report(mut self, report: Vec<String>) -> Self {
        self.report = report;
        self
    }

    /// The same with another part of the step: failed if either is.
    pub(crate) fn and(mut self, part: &str, other: Self) -> Self {
        if other.status == Status::Failed {
            self.status = Status::Failed;
        }
        if !other.detail.is_empty() {
            let separator = if self.detail.is_empty() { "" } else { "; " };
            self.detail += &format!("{separator}{part}: {}", other.detail);
        }
        self.report.extend(other.report);
        self
    }

    fn new(status: Status, detail: impl Into<String>) -> Self {
        Self { status, detail: detail.into(), report: Vec::new() }
    }
}

/// One line a step, the total time, and last the line that machines read.
pub(crate) fn summary(entries: &[Entry], total: Duration) -> String {
    let count = |status| entries.iter().filter(|e| e.status == status).count();
    let mut text = String::new();
    for entry in entries {
        let line = format!(
            "{:<10} {:<7} {:>7}  {}",
            entry.name,
            entry.status.word(),
            seconds(entry.took),
            entry.detail
        );
        writeln!(text, "{}", line.trim_end()).expect("a string takes all text");
    }
    let (passed, failed, skipped) = (count(Status::Passed), count(Status::Failed), count(Status::Skipped));
    text + &format!("total {}\n", seconds(total))
        + &format!("steps: {passed} passed, {failed} failed, {skipped} skipped\n")
}

/// A time as it is shown everywhere.
pub(crate) fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

/// `1 model`, `2 models`.
pub(crate) fn counted(number: usize, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &'static str, status: Status, detail: &str) -> Entry {
        Entry { name, status, took: Duration::from_millis(1234), detail: detail.to_string() }
    }

    #[test]
    fn the_summary_has_a_line_a_step_and_ends_with_the_count() {
        let entries = [
            entry("fmt", Status::Passed, ""),
            entry("tests", Status::Failed, "3 tests run: 2 passed, 1 failed"),
            entry("clippy", Status::Skipped, "no clippy"),
            entry("loom", Status::Passed, "4 models"),
        ];
        let text = summary(&entries, Duration::from_secs(5));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 6);
        assert_eq!(lines[0], "fmt        ok        1.2 s");
        assert_eq!(lines[1], "tests      FAILED    1.2 s  3 tests run: 2 passed, 1 failed");
        assert_eq!(lines[4], "total 5.0 s");
        assert_eq!(lines[5], "steps: 2 passed, 1 failed, 1 skipped");
    }

    #[test]
    fn a_step_is_as_bad_as_its_worst_part() {
        let both = Outcome::passed("3 tests").and("shim", Outcome::failed("1 test"));
        assert_eq!((both.status, both.detail.as_str()), (Status::Failed, "3 tests; shim: 1 test"));
        let both = Outcome::failed("").and("shim", Outcome::passed("1 test"));
        assert_eq!((both.status, both.detail.as_str()), (Status::Failed, "shim: 1 test"));
        assert_eq!(Outcome::passed("").and("shim", Outcome::passed("")).detail, "");
    }

    #[test]
    fn things_are_counted_in_english() {
        assert_eq!(counted(1, "model"), "1 model");
        assert_eq!(counted(0, "model"), "0 models");
    }
}
