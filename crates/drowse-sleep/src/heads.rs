//! Two counts in one word: inactive workers and sleeping workers.

use crate::Baton;

/// Bits of each count.
const BITS: u32 = 16;
const MASK: u64 = (1 << BITS) - 1;
const ONE_SLEEPING: u64 = 1;
const ONE_INACTIVE: u64 = 1 << 48;

/// The most workers that a pool can have. Half of what can be counted: a sleeper that wakes and
/// sleeps again before its waker has uncounted it is counted once more for a moment, once for each
/// such waker.
pub const MAX_WORKERS: usize = MASK as usize / 2;

/// Bits between the two counts, for the protocol's own use.
pub(crate) const FREE: std::ops::Range<u32> = 16..48;

/// Number of inactive workers, and of those among them that sleep.
///
/// | bits of the word | what | changed by |
/// |---|---|---|
/// | 0..16 | **sleeping**: workers asleep, or committed to it | sleeper adds, waker subtracts |
/// | 16..48 | free for the protocol | |
/// | 48..64 | **inactive**: workers idle, sleepy or asleep | the worker itself |
///
/// ```
/// use drowse_sleep::Heads;
///
/// let heads = Heads { inactive: 3, sleeping: 1 };
/// assert_eq!(heads.searching(), 2);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heads {
    /// Workers that search, are sleepy, or sleep.
    pub inactive: usize,
    /// Workers that sleep, or are committed to it.
    pub sleeping: usize,
}

impl Heads {
    /// Reads the counts from this word.
    pub fn of(word: u64) -> Self {
        Self { inactive: (word / ONE_INACTIVE) as usize, sleeping: (word & MASK) as usize }
    }

    /// Returns the number of workers that search, or are about to. It can be too low: a sleeper
    /// that a waker has claimed may be active already before the waker has uncounted it.
    pub fn searching(self) -> usize {
        self.inactive.saturating_sub(self.sleeping)
    }
}

/// Returns the [`Baton`] of a worker that has stopped searching, given the word after that.
pub(crate) fn baton(word: u64) -> Baton {
    let heads = Heads::of(word);
    if heads.sleeping > 0 && heads.searching() == 0 { Baton::Pass } else { Baton::Keep }
}

pub(crate) fn add_inactive(word: u64) -> u64 {
    debug_assert!(Heads::of(word).inactive < MAX_WORKERS, "{word:#x}");
    word + ONE_INACTIVE
}

pub(crate) fn sub_inactive(word: u64) -> u64 {
    debug_assert!(Heads::of(word).inactive > 0, "{word:#x}");
    word - ONE_INACTIVE
}

pub(crate) fn add_sleeping(word: u64) -> u64 {
    word + ONE_SLEEPING
}

pub(crate) fn sub_sleeping(word: u64) -> u64 {
    word.wrapping_sub(ONE_SLEEPING)
}
