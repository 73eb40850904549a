//! Where the items of a deque are, for those who may take some of them only.
//!
//! Each item has an index: that of the slot it was pushed to. What is pushed later has a higher one
//! than all that is in the deque, and than all that thieves have taken so far.

use super::Owner;
use drowse_sync::atomic::Ordering;
use std::ptr::{self, NonNull};

/// How far back an item is looked for that may have been stolen.
const NEAR: i64 = 64;

impl<T> Owner<T> {
    /// The index of what is pushed next.
    pub fn position(&self) -> i64 {
        self.bottom()
    }

    /// Takes the newest item, unless it was pushed before the owner got to this position.
    pub fn pop_since(&self, position: i64) -> Option<NonNull<T>> {
        if self.bottom() > position { self.pop() } else { None }
    }

    /// The index at which `item` was pushed, if it is still there, or that was not long ago and it
    /// has been stolen since.
    pub fn position_of(&self, item: NonNull<T>) -> Option<i64> {
        let bottom = self.bottom();
        let nearest = bottom.saturating_sub(NEAR.min(self.shared.private.mask.get() as i64 + 1)).max(0);
        // ORDERING: relaxed; the owner wrote the slots itself, and thieves change none.
        let is_here = |index: &i64| ptr::eq(self.slot(*index).load(Ordering::Relaxed), item.as_ptr());
        // ORDERING: relaxed; if it seems lower than it is, so much more is looked at.
        let top = self.shared.public.top.load(Ordering::Relaxed);
        (nearest..bottom).rev().find(is_here).or_else(|| (top..nearest).rev().find(is_here))
    }
}
