//! Reads from the end of a model's process what became of a mutant.

use std::fmt;

use crate::process::{Ending, Finished};
use crate::steps::libtest_counts;

/// What a model's process said about a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The model failed as it must; how it failed.
    Caught(String),
    /// The model passed: it does not guard what was removed.
    Survived,
    /// It cannot be told: the model itself is broken or missing.
    Error(String),
    /// It cannot be told here: a tool is missing.
    Skipped(String),
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Caught(how) => f.write_str(how),
            Self::Survived => f.write_str("SURVIVED"),
            Self::Error(why) => write!(f, "ERROR: {why}"),
            Self::Skipped(why) => write!(f, "SKIPPED: {why}"),
        }
    }
}

/// The verdict on a mutant whose model's process has ended.
pub(crate) fn on_mutant(done: &Finished) -> Verdict {
    match done.ending {
        Ending::TimedOut(_) => Verdict::Caught("hang".to_string()),
        Ending::Exited(status) if status.success() => Verdict::Survived,
        Ending::Exited(status) => Verdict::Caught(match panic_message(&done.output) {
            Some(message) if message.to_lowercase().starts_with("deadlock") => "deadlock".to_string(),
            Some(message) => format!("panic: {message}"),
            None => status.to_string(),
        }),
    }
}

/// Whether a model passes as it must when nothing is removed. The error says why it does not.
pub(crate) fn on_baseline(done: &Finished) -> Result<(), String> {
    if !done.succeeded() {
        return Err(format!("the model fails without any mutant: {}", done.how_it_ended()));
    }
    match libtest_counts(&done.output).map_or(0, |counts| counts.passed) {
        1 => Ok(()),
        0 => Err("there is no such model".to_string()),
        many => Err(format!("the name means {many} models")),
    }
}

/// The first line of the first panic's message. It stands on the line after the place.
fn panic_message(output: &str) -> Option<&str> {
    output
        .lines()
        .skip_while(|line| !(line.starts_with("thread ") && line.contains(" panicked at ")))
        .nth(1)
        .map(str::trim)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::ExitStatus;
    use std::time::Duration;

    const ABORTED: i32 = 6;

    fn ended(raw: i32, output: &str) -> Finished {
        Finished {
            ending: Ending::Exited(ExitStatus::from_raw(raw)),
            output: output.to_string(),
            stdout: String::new(),
            took: Duration::ZERO,
        }
    }

    fn caught(how: &str) -> Verdict {
        Verdict::Caught(how.to_string())
    }

    #[test]
    fn a_model_that_passes_lets_the_mutant_survive() {
        assert_eq!(on_mutant(&ended(0, "test m ... ok")), Verdict::Survived);
    }

    #[test]
    fn a_panic_is_shown_by_its_first_line() {
        let output =
            "running 1 test\n\nthread 'm' (123) panicked at tests/loom_a.rs:3:5:\nthe job was lost\nmore\n";
        assert_eq!(on_mutant(&ended(101 << 8, output)), caught("panic: the job was lost"));
    }

    #[test]
    fn deadlocks_of_both_checkers_are_named() {
        let loom = "thread 'm' panicked at loom/src/rt/execution.rs:216:13:\ndeadlock; threads = [..]\n";
        assert_eq!(on_mutant(&ended(ABORTED, loom)), caught("deadlock"));
        let shuttle =
            "thread 'm' panicked at shuttle/src/runtime/execution.rs:1:2:\ndeadlock! blocked tasks: []\n";
        assert_eq!(on_mutant(&ended(101 << 8, shuttle)), caught("deadlock"));
    }

    #[test]
    fn a_death_without_a_panic_is_shown_as_it_is() {
        assert_eq!(on_mutant(&ended(ABORTED, "")), caught("signal: 6 (SIGABRT)"));
    }

    #[test]
    fn a_time_out_is_a_hang() {
        let done = Finished { ending: Ending::TimedOut(Duration::from_secs(60)), ..ended(0, "") };
        assert_eq!(on_mutant(&done), caught("hang"));
    }

    #[test]
    fn a_baseline_must_pass_and_be_one_test() {
        let result = |n| format!("test result: ok. {n} passed; 0 failed; 0 ignored; 0 measured");
        assert_eq!(on_baseline(&ended(0, &result(1))), Ok(()));
        assert!(on_baseline(&ended(0, &result(0))).is_err());
        assert!(on_baseline(&ended(0, &result(2))).is_err());
        assert!(on_baseline(&ended(0, "")).is_err());
        assert!(on_baseline(&ended(101 << 8, &result(1))).is_err());
    }
}
