//! Border between the public and the private part of a deque.

use drowse_sync::atomic::{AtomicI64, Ordering};

/// End of the public part, and two flags that send the owner's pops to the slow path: with a flag
/// set, the number is above all indices.
///
/// ```text
///     bit 62          bit 61        bits 0..61
///     owner fences    claimed       index: one past the newest item that thieves may take
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Split(i64);

/// A thief is publishing items behind the index. It executes a heavy fence, and then moves the
/// split if it is unchanged.
const CLAIMED: i64 = 1 << 61;

/// The owner has no light fences, and executes a full one with each pop.
const OWNER_FENCES: i64 = 1 << 62;

impl Split {
    /// Split of a new deque, whose owner has no light fences.
    pub(super) const START: Self = Self(OWNER_FENCES);

    /// Returns the index one past the newest item that thieves may take.
    pub(super) fn index(self) -> i64 {
        self.0 & (CLAIMED - 1)
    }

    /// Returns `true` if the item at `index` is certainly the owner's, which has light fences.
    #[inline(always)]
    pub(super) fn is_private(self, index: i64) -> bool {
        self.0 <= index
    }

    /// Like `is_private`, for an owner without light fences.
    #[inline(always)]
    pub(super) fn is_private_fenced(self, index: i64) -> bool {
        self.0 & !OWNER_FENCES <= index
    }

    pub(super) fn is_claimed(self) -> bool {
        self.0 & CLAIMED != 0
    }

    /// Returns `true` if the owner has light fences, and takes the fast path.
    pub(super) fn owner_is_light(self) -> bool {
        self.0 & OWNER_FENCES == 0
    }

    pub(super) fn claimed(self) -> Self {
        Self(self.0 | CLAIMED)
    }

    /// Returns this split moved to `index`, without a claim.
    pub(super) fn at(self, index: i64) -> Self {
        Self(self.0 & OWNER_FENCES | index)
    }

    /// Returns this split with the owner's flag as `is_light` says, without a claim.
    pub(super) fn with_light_owner(self, is_light: bool) -> Self {
        Self(self.index() | if is_light { 0 } else { OWNER_FENCES })
    }
}

/// Split that owner and thieves move.
///
/// The owner moves it at any time, which ends a claim. One thief at a time claims it, and moves it
/// if the claim still holds.
///
/// # Notes on memory ordering
///
/// Every change releases, and thieves acquire: so they see the items in front of the split. A
/// publishing thief passes on the items that it has acquired with `bottom`.
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

    /// Changes the split from `seen` to `next`. Returns `false` if it was no longer `seen`.
    pub(super) fn replace(&self, seen: Split, next: Split) -> bool {
        // ORDERING: release pairs with the acquire in `Stealer::steal_public`, which must see the
        // items. On failure the caller loads again. (No model shows it: in loom the light fence of
        // a push releases what comes before.)
        self.0.compare_exchange(seen.0, next.0, Ordering::Release, Ordering::Relaxed).is_ok()
    }

    /// Changes the split for the owner, and ends a thief's claim.
    pub(super) fn update(&self, next: impl Fn(Split) -> Split) {
        loop {
            // ORDERING: relaxed; the owner wrote the items, and needs no data from thieves.
            let seen = self.load(Ordering::Relaxed);
            let next = next(seen);
            if next == seen || self.replace(seen, next) {
                return;
            }
        }
    }

    /// Changes the split without a look at changes by other threads. A fault for the models.
    #[cfg(any(drowse_loom, drowse_shuttle))]
    pub(super) fn overwrite(&self, next: Split) -> bool {
        // ORDERING: release, like every change, so that the missing look is the only fault.
        self.0.store(next.0, Ordering::Release);
        true
    }
}
