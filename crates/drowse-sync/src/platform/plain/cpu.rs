//! Placement of threads: not known here, and cannot be changed.

/// Id of a thread: here all ids are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadId(());

impl ThreadId {
    /// Returns the id of the calling thread.
    pub fn current() -> Self {
        Self(())
    }

    /// Converts to a number that is not zero.
    pub fn to_bits(self) -> u32 {
        1
    }

    /// Converts from that number; returns `None` for zero.
    pub fn from_bits(bits: u32) -> Option<Self> {
        (bits != 0).then_some(Self(()))
    }
}

/// Returns the processor that the calling thread runs on: not known here.
pub fn current_cpu() -> Option<usize> {
    None
}

/// Set of processors: empty here.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CpuMask(());

impl CpuMask {
    /// The set without processors.
    pub const EMPTY: Self = Self(());

    /// Returns the processors that the thread may run on: not known here.
    pub fn of(_thread: ThreadId) -> Option<Self> {
        None
    }

    /// Restricts the thread to these processors. Returns `false`: not possible here.
    #[must_use]
    pub fn apply_to(&self, _thread: ThreadId) -> bool {
        false
    }

    /// Returns `true` if the system lets the calling thread change its mask: never here.
    pub fn can_be_changed() -> bool {
        false
    }

    /// Returns the number of processors in the set.
    pub fn count(&self) -> usize {
        0
    }

    /// Returns `true` if the processor is in the set.
    pub fn contains(&self, _cpu: usize) -> bool {
        false
    }

    /// Adds the processors of the other set.
    pub fn add(&mut self, _other: &Self) {}

    /// Returns the set without this processor.
    #[must_use]
    pub fn without(self, _cpu: usize) -> Self {
        self
    }

    /// Returns the mask to apply to a thread that may run on this set, and is to keep it.
    #[must_use]
    pub fn to_keep(self) -> Self {
        self
    }
}

/// Returns `true` if the calling thread may run on more than one processor.
pub fn has_several_cores() -> bool {
    crate::core_count() > 1
}
