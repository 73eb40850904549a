//! Reads how many tests ran from what the runners print.

use std::fmt;

use crate::outcome::counted;

/// How many tests passed, failed and were left out, over all of the test binaries in one output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Ended well.
    pub(crate) passed: usize,
    /// Did not.
    pub(crate) failed: usize,
    /// Were marked so.
    pub(crate) ignored: usize,
}

impl fmt::Display for Counts {
    /// Like nextest's summary.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} run: {} passed, {} failed, {} skipped",
            counted(self.passed + self.failed, "test"),
            self.passed,
            self.failed,
            self.ignored
        )
    }
}

/// Adds up the `test result:` lines of Rust's own test runner. `None` if there is none.
pub(crate) fn libtest_counts(output: &str) -> Option<Counts> {
    let mut results = output
        .lines()
        .filter_map(|line| line.split_once("test result: "))
        .map(|(_, result)| result)
        .peekable();
    results.peek()?;
    Some(results.fold(Counts::default(), |sum, result| Counts {
        passed: sum.passed + number_before(result, " passed"),
        failed: sum.failed + number_before(result, " failed"),
        ignored: sum.ignored + number_before(result, " ignored"),
    }))
}

/// What nextest says after the time in its summary line.
pub(crate) fn nextest_summary(output: &str) -> Option<&str> {
    let line = output.lines().rfind(|line| line.trim_start().starts_with("Summary ["))?;
    line.split_once("] ").map(|(_, counts)| counts.trim())
}

/// The number that stands before `word`, or 0.
fn number_before(text: &str, word: &str) -> usize {
    let Some((before, _)) = text.split_once(word) else {
        return 0;
    };
    let digits = before.rsplit(|c: char| !c.is_ascii_digit()).next();
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libtest_results_are_added_up() {
        let output = "\
running 3 tests
test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
running 12 tests
test a ... FAILED
test result: FAILED. 10 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s
";
        let counts = Counts { passed: 13, failed: 2, ignored: 1 };
        assert_eq!(libtest_counts(output), Some(counts));
        assert_eq!(counts.to_string(), "15 tests run: 13 passed, 2 failed, 1 skipped");
    }

    #[test]
    fn a_result_behind_other_output_is_read_too() {
        let output = "noise test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured";
        assert_eq!(libtest_counts(output).unwrap().passed, 1);
    }

    #[test]
    fn no_result_is_no_count() {
        assert_eq!(libtest_counts("test a ... \n"), None);
    }

    #[test]
    fn the_nextest_summary_is_found() {
        let output = "\
    Starting 4 tests across 2 binaries
     Summary [   0.004s] 4 tests run: 3 passed, 1 failed, 0 skipped
        FAIL [   0.002s] a::b
";
        assert_eq!(nextest_summary(output), Some("4 tests run: 3 passed, 1 failed, 0 skipped"));
        assert_eq!(nextest_summary("error: could not compile"), None);
    }
}
