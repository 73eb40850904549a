//! Reasons of wake-ups.

/// Reason of a wake-up. Every wake-up has one, and is counted under it.
///
/// ```
/// use drowse_sleep::Reason;
///
/// let names: Vec<_> = Reason::ALL.iter().map(|reason| reason.name()).collect();
/// assert_eq!(names, ["job", "baton", "latch", "broadcast", "terminate", "sentry", "call"]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// A job was posted, and not enough workers were searching for it.
    Job,
    /// The last searching worker stopped searching, and saw more work.
    Baton,
    /// A latch was set: what its owner waited for has happened.
    Latch,
    /// A broadcast has left a job for each worker.
    Broadcast,
    /// The pool ends.
    Terminate,
    /// The worker was the [sentry](crate::Wake::Sentry), its time had come, and it got up by
    /// itself.
    Sentry,
    /// The worker slept [alone](crate::Sleep::sleep_alone), and got something that no other worker
    /// may run.
    Call,
}

impl Reason {
    /// Every reason, in the order in which tables show them.
    pub const ALL: [Self; 7] = [
        Self::Job,
        Self::Baton,
        Self::Latch,
        Self::Broadcast,
        Self::Terminate,
        Self::Sentry,
        Self::Call,
    ];

    /// Returns the reason as one word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Job => "job",
            Self::Baton => "baton",
            Self::Latch => "latch",
            Self::Broadcast => "broadcast",
            Self::Terminate => "terminate",
            Self::Sentry => "sentry",
            Self::Call => "call",
        }
    }
}
