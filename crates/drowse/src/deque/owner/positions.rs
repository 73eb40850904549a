//! Where the items of a deque are, for those who may take some of them only.
//!
//! Each item has an index: that of the slot it was pushed to. What is pushed later has a higher one
//! than all that is in the deque, and than all that thieves have taken so far.

use super::Owner;
use std::ptr::NonNull;

impl<T> Owner<T> {
    /// The index of what is pushed next.
    pub fn position(&self) -> i64 {
        self.bottom()
    }

    /// Takes the newest item, unless it was pushed before the owner got to this position.
    pub fn pop_since(&self, position: i64) -> Option<NonNull<T>> {
        if self.bottom() > position { self.pop() } else { None }
    }
}
