//! The end of a round that fails.

use std::backtrace::Backtrace;
use std::process;
use std::sync::OnceLock;

/// What describes the round: its seed and its plan.
static ROUND: OnceLock<String> = OnceLock::new();

/// How a round's process exits that has failed.
const FAILED: i32 = 3;

pub(crate) fn name_round(description: String) {
    ROUND.set(description).expect("a process does one round");
}

/// Says what is wrong, and ends the process. No panic: drowse would hand that on to somebody.
pub(crate) fn fail(why: &str) -> ! {
    eprintln!("FAILED: {why}\n{}\n{}", round(), Backtrace::force_capture());
    process::exit(FAILED);
}

/// As [`fail`], where it does not matter where we are.
pub(crate) fn fail_after_report(why: &str) -> ! {
    eprintln!("FAILED: {why}\n{}", round());
    process::exit(FAILED);
}

fn round() -> &'static str {
    ROUND.get().map_or("(before the round)", String::as_str)
}

/// Fails the round unless this is so.
macro_rules! demand {
    ($state:expr, $($words:tt)+) => {
        if !$state {
            $crate::verdict::fail(&format!($($words)+));
        }
    };
}
pub(crate) use demand;
