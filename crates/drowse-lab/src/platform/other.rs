//! Systems of which nothing is known but that std runs there. CPU time stands still.

#[path = "not_unix.rs"]
mod not_unix;

use std::time::Duration;

pub(crate) use not_unix::*;

/// CPU time of this process: not known. Nor are context switches.
pub(crate) fn process_usage() -> (Duration, Option<[i64; 2]>) {
    (Duration::ZERO, None)
}

/// The CPU time of the calling thread: not known.
pub(crate) fn thread_cpu() -> Duration {
    Duration::ZERO
}
