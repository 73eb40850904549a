//! Books of what was made and what was dropped.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts the [`Item`]s it made, and how often one of them was dropped.
#[derive(Clone, Default)]
pub(crate) struct Ledger(Arc<Counts>);

#[derive(Default)]
struct Counts {
    made: AtomicUsize,
    dropped: AtomicUsize,
    dropped_twice: AtomicUsize,
}

/// Something to capture or to return.
pub(crate) struct Item {
    counts: Arc<Counts>,
    /// On the heap, so that a checker of memory notices if it is dropped twice or never.
    alive: Box<bool>,
}

impl Ledger {
    pub(crate) fn item(&self) -> Item {
        self.0.made.fetch_add(1, Ordering::SeqCst);
        Item { counts: Arc::clone(&self.0), alive: Box::new(true) }
    }

    pub(crate) fn dropped(&self) -> usize {
        self.0.dropped.load(Ordering::SeqCst)
    }

    /// So many were made, and each was dropped once.
    #[track_caller]
    pub(crate) fn assert_settled(&self, made: usize) {
        assert_eq!(self.0.made.load(Ordering::SeqCst), made, "made");
        assert_eq!(self.dropped(), made, "dropped");
        assert_eq!(self.0.dropped_twice.load(Ordering::SeqCst), 0, "dropped twice");
    }
}

impl Item {
    /// Says that it is there: for closures that capture it and have no other use for it.
    pub(crate) fn touch(&self) {
        assert!(*self.alive, "used after it was dropped");
    }
}

impl Drop for Item {
    fn drop(&mut self) {
        if !std::mem::replace(&mut *self.alive, false) {
            self.counts.dropped_twice.fetch_add(1, Ordering::SeqCst);
        }
        self.counts.dropped.fetch_add(1, Ordering::SeqCst);
    }
}
