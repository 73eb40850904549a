//! What other systems than Unix have not.

#[path = "no_signals.rs"]
pub(crate) mod interrupt;

use std::process::ExitStatus;

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
