//! Memory of the buffers that an owner can give back.

use std::cell::Cell;

/// Number of slots from which on a buffer is worth a system call: 1 MiB. (Under loom: one that has
/// grown.)
pub(super) const LARGE: usize =
    if cfg!(drowse_loom) { 4 } else { (1 << 20) / size_of::<*mut ()>() };

/// Record of whether pushes have touched many pages of the buffers since they were last given back.
///
/// Each push goes to the next index, and so to the next page sooner or later, even if there are few
/// items at a time: the indices count. The mark is `LARGE` indices behind the position where the
/// pages were given back. The owner's limit is at most the mark, so the push that reaches the mark
/// leaves the fast path and is noted here; earlier pushes need no check.
#[derive(Debug)]
pub(super) struct Pages {
    /// Few pages were touched while `bottom` is below this. [`NONE`] after that, and when nothing
    /// was given back yet.
    mark: Cell<i64>,
}

/// Mark that no `bottom` reaches.
const NONE: i64 = i64::MAX;

impl Default for Pages {
    fn default() -> Self {
        Self { mark: Cell::new(NONE) }
    }
}

impl Pages {
    /// Returns `true` if a deque with `capacity` slots should give its pages back.
    pub(super) fn are_worth_giving_back(&self, capacity: usize) -> bool {
        capacity >= LARGE && self.mark.get() == NONE
    }

    /// Notes that all pages were given back, and that the next push is to index `bottom`.
    pub(super) fn given_back_at(&self, bottom: i64) {
        self.mark.set(bottom + LARGE as i64);
    }

    /// Notes that the owner is about to push to index `bottom`, on the slow path.
    pub(super) fn reached(&self, bottom: i64) {
        if bottom >= self.mark.get() {
            self.mark.set(NONE);
        }
    }

    /// Returns the index at which the owner must leave the fast path.
    pub(super) fn limit(&self) -> i64 {
        self.mark.get()
    }
}

#[cfg(all(test, not(any(drowse_loom, drowse_shuttle))))]
mod tests {
    use super::{LARGE, Pages};

    #[test]
    fn once_for_each_time_that_many_were_touched() {
        let pages = Pages::default();
        assert!(!pages.are_worth_giving_back(LARGE / 2));
        assert!(pages.are_worth_giving_back(LARGE));
        pages.given_back_at(1_000);
        assert!(!pages.are_worth_giving_back(LARGE));
        pages.reached(pages.limit() - 1);
        assert!(!pages.are_worth_giving_back(LARGE));
        pages.reached(pages.limit());
        assert!(pages.are_worth_giving_back(LARGE));
        assert_eq!(pages.limit(), i64::MAX);
    }
}
