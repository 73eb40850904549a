//! Where threads run is not known, and cannot be changed.

/// A thread, as the system knows it: not at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadId(());

impl ThreadId {
    /// The calling thread.
    pub fn current() -> Self {
        Self(())
    }

    /// As a number that is not zero.
    pub fn to_bits(self) -> u32 {
        1
    }

    /// From that number; `None` for zero.
    pub fn from_bits(bits: u32) -> Option<Self> {
        (bits != 0).then_some(Self(()))
    }
}

/// The processor that the calling thread runs on: nobody knows.
pub fn current_cpu() -> Option<usize> {
    None
}

/// A set of processors. Nobody has one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CpuMask(());

impl CpuMask {
    /// Where that thread may run: nobody knows.
    pub fn of(_thread: ThreadId) -> Option<Self> {
        None
    }

    /// Lets the thread run on these processors alone. It cannot be done.
    #[must_use]
    pub fn apply_to(&self, _thread: ThreadId) -> bool {
        false
    }

    /// Whether the system lets the calling thread change its mask: it knows none.
    pub fn can_be_changed() -> bool {
        false
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        0
    }

    /// Whether this one is in the set.
    pub fn contains(&self, _cpu: usize) -> bool {
        false
    }

    /// Those of both sets.
    #[must_use]
    pub fn or(self, _other: Self) -> Self {
        self
    }

    /// The set without this one.
    #[must_use]
    pub fn without(self, _cpu: usize) -> Self {
        self
    }

    /// What to apply to a thread that may run on this set, and is to go on doing so.
    #[must_use]
    pub fn to_keep(self) -> Self {
        self
    }
}

/// Whether the calling thread may run on more than one processor.
pub fn has_several_cores() -> bool {
    crate::core_count() > 1
}
