//! A run of somebody's tests, under a watchdog, with its tests counted.

use std::process::Command;
use std::time::Duration;

use crate::context::Context;
use crate::steps::libtest_counts;

/// More than the tests of one package should take once they are built, even where others use the cores.
pub(super) const TEST_LIMIT: Duration = Duration::from_secs(5 * 60);

/// The same for doctests, each of which is built on the way.
pub(super) const DOCTEST_LIMIT: Duration = Duration::from_secs(10 * 60);

/// A `cargo test`, not yet run.
#[derive(Debug)]
pub(super) struct Suite {
    command: Command,
    limit: Duration,
    says: Option<String>,
}

impl Suite {
    /// A suite that hangs if it is not done within the limit.
    pub(super) fn new(command: Command, limit: Duration) -> Self {
        Self { command, limit, says: None }
    }

    /// Demands these words in its output.
    pub(super) fn saying(mut self, words: String) -> Self {
        self.says = Some(words);
        self
    }

    /// Runs it. Returns how many tests passed, and how long it took.
    pub(super) fn run(self, context: &Context) -> Result<(usize, Duration), String> {
        let done = context.run(self.command, self.limit).map_err(|failure| {
            match libtest_counts(&failure.output) {
                Some(counts) if counts.failed > 0 => counts.to_string(),
                _ => failure.how,
            }
        })?;
        let passed = judged(&done.output, self.says.as_deref())?;
        Ok((passed, done.took))
    }
}

/// How many tests passed. A run without any, or one that does not say what it must, is none.
fn judged(output: &str, says: Option<&str>) -> Result<usize, String> {
    if let Some(words) = says.filter(|words| !output.contains(words)) {
        return Err(format!("nothing says `{words}`"));
    }
    match libtest_counts(output).map_or(0, |counts| counts.passed) {
        0 => Err("no test was run".to_string()),
        passed => Ok(passed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_without_tests_or_without_the_words_is_none() {
        let output = "drowse 0.1.0: protocol jec\ntest result: ok. 3 passed; 0 failed; 0 ignored\n";
        assert_eq!(judged(output, None), Ok(3));
        assert_eq!(judged(output, Some("protocol jec")), Ok(3));
        assert!(judged(output, Some("protocol sleepy")).is_err());
        assert!(judged("test result: ok. 0 passed; 0 failed; 0 ignored\n", None).is_err());
    }
}
