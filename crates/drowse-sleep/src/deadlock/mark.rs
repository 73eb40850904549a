//! Marks of workers that block in the user's code.

use drowse_sync::ThreadId;
use std::panic::Location;

/// Mark of a worker that is about to block: on what, where, and on which thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mark {
    /// Description of what it blocks on, if the caller gave one.
    pub what: Option<&'static str>,
    /// Position of the call that marked it.
    pub at: &'static Location<'static>,
    /// The thread that marked it.
    pub thread: ThreadId,
}

impl Mark {
    /// Creates a mark of the calling thread, at the position of the call.
    #[track_caller]
    pub fn here(what: Option<&'static str>) -> Self {
        Self { what, at: Location::caller(), thread: ThreadId::current() }
    }
}
