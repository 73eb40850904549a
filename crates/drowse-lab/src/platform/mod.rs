//! What the lab asks of the system, chosen here: Unix has all of it, other systems what they can.
//!
//! Each has these: `interrupt`, `current_cpu`, `process_usage`, `thread_cpu`, `terminal_columns`,
//! `leave_no_core`, `what_killed`, `fork_and_wait`, `leave_room_for`.

#[cfg_attr(unix, path = "unix/mod.rs")]
#[cfg_attr(windows, path = "windows.rs")]
#[cfg_attr(not(any(unix, windows)), path = "other.rs")]
mod this;

pub(crate) use this::*;
