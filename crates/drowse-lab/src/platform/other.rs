//! Systems of which nothing is known but that std runs there. CPU time stands still.

#[path = "no_signals.rs"]
pub(crate) mod interrupt;

use std::process::ExitStatus;
use std::time::Duration;

/// CPU time of this process: not known. Nor are context switches.
pub(crate) fn process_usage() -> (Duration, Option<[i64; 2]>) {
    (Duration::ZERO, None)
}

/// The CPU time of the calling thread: not known.
pub(crate) fn thread_cpu() -> Duration {
    Duration::ZERO
}

/// The processor that the calling thread runs on: nobody asks.
pub(crate) fn current_cpu() -> Option<usize> {
    None
}

/// How wide the terminal is: not known.
pub(crate) fn terminal_columns() -> Option<usize> {
    None
}

/// This process leaves no memory behind if it crashes: it would not anyway.
pub(crate) fn leave_no_core() {}

/// There are no signals.
pub(crate) fn what_killed(_status: ExitStatus) -> Option<String> {
    None
}

/// There is no fork.
pub(crate) fn fork_and_wait(_in_child: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    Err("this system has no fork".to_owned())
}

/// No limit can be set.
pub(crate) fn leave_room_for(_bytes: u64) -> Result<(), String> {
    Err("this system has no such limit".to_owned())
}
