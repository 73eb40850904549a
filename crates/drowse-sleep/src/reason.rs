//! Why a worker is woken.

/// Why a worker is woken. Every wake-up has a reason, and is counted under it.
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
    /// The last worker that searched stopped doing so, and saw that there was more to do.
    Baton,
    /// A latch was set: what somebody waited for has happened.
    Latch,
    /// A broadcast has left a job for each worker.
    Broadcast,
    /// The pool ends.
    Terminate,
    /// It was the [sentry](crate::Wake::Sentry), and its time had come: it got up by itself.
    Sentry,
    /// Somebody had something for it that nobody else may do: it slept
    /// [alone](crate::Sleep::sleep_alone).
    Call,
}

impl Reason {
    /// Every reason, in the order in which tables show them.
    pub const ALL: [Self; 7] =
        [Self::Job, Self::Baton, Self::Latch, Self::Broadcast, Self::Terminate, Self::Sentry, Self::Call];

    /// One word for it.
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
