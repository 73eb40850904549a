//! Where the public part of a deque ends, and who may move that.

use drowse_sync::atomic::{AtomicI64, Ordering};

/// Where the public part ends, and two flags that send the owner of a pop the slow way: with one of
/// them set, the number is above all indices.
///
/// ```text
///     bit 62          bit 61        bits 0..61
///     owner fences    claimed       index: one past the newest item that thieves may take
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Split(i64);

/// A thief is publishing what lies behind the index. It has a heavy fence to execute, and then
/// moves the split, if that is still as the thief has left it.
const CLAIMED: i64 = 1 << 61;

/// The owner has no light fences, and executes a full one with each pop.
const OWNER_FENCES: i64 = 1 << 62;

impl Split {
    /// At the beginning of a deque whose owner has no light fences.
    pub(super) const START: Self = Self(OWNER_FENCES);

    /// One past the newest item that thieves may take.
    pub(super) fn index(self) -> i64 {
        self.0 & (CLAIMED - 1)
    }

    /// Whether an item at this index is the owner's, for sure.
    #[inline(always)]
    pub(super) fn is_private(self, index: i64) -> bool {
        self.0 <= index
    }

    /// The same for an owner that has no light fences.
    #[inline(always)]
    pub(super) fn is_private_fenced(self, index: i64) -> bool {
        self.0 & !OWNER_FENCES <= index
    }

    pub(super) fn is_claimed(self) -> bool {
        self.0 & CLAIMED != 0
    }

    /// Whether the owner has light fences, and takes the fast path.
    pub(super) fn owner_is_light(self) -> bool {
        self.0 & OWNER_FENCES == 0
    }

    /// The same, claimed by a thief.
    pub(super) fn claimed(self) -> Self {
        Self(self.0 | CLAIMED)
    }

    /// At another index, and claimed by nobody.
    pub(super) fn at(self, index: i64) -> Self {
        Self(self.0 & OWNER_FENCES | index)
    }

    /// With an owner that has light fences, or not; and claimed by nobody.
    pub(super) fn with_light_owner(self, is_light: bool) -> Self {
        Self(self.index() | if is_light { 0 } else { OWNER_FENCES })
    }
}

/// A split that owner and thieves move.
///
/// The owner moves it whenever it likes, and so ends a claim. A thief, one at a time, claims it,
/// and moves it if the claim still holds.
///
/// # Notes on memory ordering
///
/// Every change releases, and thieves acquire: so they see the items in front of the split. What a
/// thief releases it has acquired with `bottom`.
#[derive(Debug)]
pub(super) struct AtomicSplit(AtomicI64);

impl AtomicSplit {
    pub(super) fn new(split: Split) -> Self {
        Self(AtomicI64::new(split.0))
    }

    #[inline(always)]
    pub(super) fn load(&self, ordering: Ordering) -> Split {
        // ORDERING: the caller's.
        Split(self.0.load(ordering))
    }

    /// Changes it, unless it is not as `seen` any more.
    pub(super) fn replace(&self, seen: Split, next: Split) -> bool {
        // ORDERING: release, see above. A failure changes nothing; the caller looks again. (No
        // model shows it: to loom the light fence of a push releases what comes before.)
        self.0.compare_exchange(seen.0, next.0, Ordering::Release, Ordering::Relaxed).is_ok()
    }

    /// Changes it as the owner likes, whatever a thief is at.
    pub(super) fn update(&self, next: impl Fn(Split) -> Split) {
        loop {
            // ORDERING: relaxed; what thieves know of the items they have from the owner.
            let seen = self.load(Ordering::Relaxed);
            let next = next(seen);
            if next == seen || self.replace(seen, next) {
                return;
            }
        }
    }

    /// The fault: changes it without a look at what others have made of it.
    #[cfg(any(drowse_loom, drowse_shuttle))]
    pub(super) fn overwrite(&self, next: Split) -> bool {
        // ORDERING: release, as for every change, so that the missing look is the only fault.
        self.0.store(next.0, Ordering::Release);
        true
    }
}
