//! Positions of items in a deque, for an owner that may take only some of them.
//!
//! Each item has an index: that of the slot it was pushed to. A new item's index is higher than
//! those of all items in the deque, and of all items that thieves have taken so far.

use super::Owner;
use std::ptr::NonNull;

impl<T> Owner<T> {
    /// Returns the index of the next push.
    pub fn position(&self) -> i64 {
        self.bottom()
    }

    /// Takes the newest item, unless its index is below this position.
    pub fn pop_since(&self, position: i64) -> Option<NonNull<T>> {
        if self.bottom() > position { self.pop() } else { None }
    }
}
