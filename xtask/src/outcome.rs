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
    /// It was asked for something that there is not: a filter that matches nothing.
    WrongCall,
}

/// What a step has to say when it is done.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) status: Status,
    /// A few words for the summary.
    pub(crate) detail: String,
    /// Lines for who asked for this step alone, or looks into its failure.
    pub(crate) report: Vec<String>,
}

/// A step that is done, as it stands in the summary.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) took: Duration,
    pub(crate) outcome: Outcome,
}

/// The named parts of a step, each of which may fail while the others go on.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    report: Vec<String>,
    failed: Vec<String>,
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

    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Self::Passed | Self::Skipped => 0,
            Self::Failed => 1,
            Self::WrongCall => 2,
        }
    }

    /// With these few words for the summary.
    pub(crate) fn with(self, detail: impl Into<String>) -> Outcome {
        Outcome { status: self, detail: detail.into(), report: Vec::new() }
    }
}

impl From<String> for Outcome {
    /// A failure, so that `?` ends a step with why it failed.
    fn from(why: String) -> Self {
        Status::Failed.with(why)
    }
}

impl Outcome {
    pub(crate) fn with_report(self, report: Vec<String>) -> Self {
        Self { report, ..self }
    }
}

impl Parts {
    /// Notes how a part came out, under a name that is padded to line up. Returns what it yielded.
    pub(crate) fn note<T>(
        &mut self,
        name: &str,
        result: Result<T, String>,
        say: impl FnOnce(&T) -> String,
    ) -> Option<T> {
        let line = match &result {
            Ok(value) => format!("ok {}", say(value)),
            Err(why) => {
                self.failed.push(format!("{}: {why}", name.trim_end()));
                format!("FAILED: {why}")
            }
        };
        self.report.push(format!("  {name}  {}", line.trim_end()));
        result.ok()
    }

    /// What came of all parts, with these words if none failed.
    pub(crate) fn outcome(self, detail: impl Into<String>) -> Outcome {
        match self.failed.as_slice() {
            [] => Status::Passed.with(detail),
            failed => Status::Failed.with(failed.join("; ")),
        }
        .with_report(self.report)
    }
}

/// One line a step, the total time, and last the line that machines read.
pub(crate) fn summary(entries: &[Entry], total: Duration) -> String {
    let count = |status| entries.iter().filter(|entry| entry.outcome.status == status).count();
    let mut text = String::new();
    for Entry { name, took, outcome: Outcome { status, detail, .. } } in entries {
        let line = format!("{name:<10} {:<7} {:>7}  {detail}", status.word(), seconds(*took));
        writeln!(text, "{}", line.trim_end()).expect("a string takes all text");
    }
    let [passed, failed, skipped] = [Status::Passed, Status::Failed, Status::Skipped].map(count);
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

    #[test]
    fn the_summary_has_a_line_a_step_and_ends_with_the_count() {
        let entry = |name, outcome| Entry { name, took: Duration::from_millis(1234), outcome };
        let entries = [
            entry("fmt", Status::Passed.with("")),
            entry("tests", Status::Failed.with("3 tests run: 2 passed, 1 failed")),
            entry("clippy", Status::Skipped.with("no clippy")),
        ];
        assert_eq!(
            summary(&entries, Duration::from_secs(5)),
            "fmt        ok        1.2 s\n\
             tests      FAILED    1.2 s  3 tests run: 2 passed, 1 failed\n\
             clippy     skipped   1.2 s  no clippy\n\
             total 5.0 s\n\
             steps: 1 passed, 1 failed, 1 skipped\n"
        );
    }

    #[test]
    fn a_step_is_as_bad_as_its_worst_part() {
        let mut parts = Parts::default();
        parts.note("workspace", Ok(3), |n| counted(*n, "test"));
        assert_eq!(
            parts.note("shim     ", Err::<(), _>("it hung".to_string()), |()| String::new()),
            None
        );
        let outcome = parts.outcome("3 tests");
        assert_eq!((outcome.status, outcome.detail.as_str()), (Status::Failed, "shim: it hung"));
        assert_eq!(outcome.report, ["  workspace  ok 3 tests", "  shim       FAILED: it hung"]);
    }
}
