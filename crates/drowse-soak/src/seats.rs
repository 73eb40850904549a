//! Who runs jobs as which worker: no two threads have an index at once.

use crate::verdict::demand;
use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};

/// For each index, the thread that has it, where that is known; or 0.
#[derive(Debug)]
pub(crate) struct Seats(Vec<AtomicU32>);

/// A number for the calling thread, above 0.
fn thread() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    thread_local!(static OWN: Cell<u32> = const { Cell::new(0) });
    OWN.with(|own| {
        if own.get() == 0 {
            own.set(NEXT.fetch_add(1, Ordering::Relaxed));
        }
        own.get()
    })
}

impl Seats {
    /// Seats for so many workers; 0 for none, where nobody is to check.
    pub(crate) fn new(width: usize) -> Self {
        Self((0..width).map(|_| AtomicU32::new(0)).collect())
    }

    /// Calls `f`, which does nothing that drowse could know of: meanwhile nobody else has this
    /// index.
    pub(crate) fn hold<R>(&self, index: usize, f: impl FnOnce() -> R) -> R {
        let Some(seat) = self.0.get(index) else { return f() };
        let before = seat.swap(thread(), Ordering::AcqRel);
        demand!(before == 0, "two threads run as worker {index}");
        let result = f();
        let mine = seat.swap(0, Ordering::AcqRel);
        demand!(mine == thread(), "another thread runs as worker {index} while we do");
        result
    }
}
