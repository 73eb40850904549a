//! What an owner can give back of its buffers' memory.

use std::cell::Cell;

/// A buffer with so many slots is large, and worth a system call: 1 MiB. (Under loom: one that has
/// grown.)
pub(super) const LARGE: usize = if cfg!(drowse_loom) { 4 } else { (1 << 20) / size_of::<*mut ()>() };

/// Whether pushes have touched many pages of the buffers since they were last given back.
///
/// A push goes to the next index, and so to the next page sooner or later, however few items there
/// are at a time: it is the indices that count. The mark is `LARGE` indices behind where the pages
/// were given back. The owner's limit is no higher than the mark, so that the push that reaches it
/// leaves the fast path, and is noted here; those before need not ask.
#[derive(Debug)]
pub(super) struct Pages {
    /// As long as `bottom` has not reached this, few pages were touched. [`NONE`] afterwards, and
    /// when nothing was given back yet.
    mark: Cell<i64>,
}

/// A mark that no `bottom` reaches.
const NONE: i64 = i64::MAX;

impl Default for Pages {
    fn default() -> Self {
        Self { mark: Cell::new(NONE) }
    }
}

impl Pages {
    /// Whether to give back what a deque takes up whose current buffer has so many slots.
    pub(super) fn are_worth_giving_back(&self, capacity: usize) -> bool {
        capacity >= LARGE && self.mark.get() == NONE
    }

    /// They were given back, all of them, and the next push is to index `bottom`.
    pub(super) fn given_back_at(&self, bottom: i64) {
        self.mark.set(bottom + LARGE as i64);
    }

    /// The owner is about to push to index `bottom`, on the slow path.
    pub(super) fn reached(&self, bottom: i64) {
        if bottom >= self.mark.get() {
            self.mark.set(NONE);
        }
    }

    /// Where the owner must leave the fast path.
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
