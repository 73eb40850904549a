//! Who runs jobs as which worker: no two threads have an index at once.

use crate::verdict::{demand, fail};
use std::cell::Cell;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// For each index, the thread whose jobs run under it, and how many are on top of each other.
#[derive(Debug)]
pub(crate) struct Seats(Vec<AtomicU64>);

/// A job that runs. Ends when dropped.
#[derive(Debug)]
pub(crate) struct Sitting<'a>(Option<&'a AtomicU64>);

const THREAD: u64 = 1 << 32;

/// A number for the calling thread, above 0.
fn thread() -> u64 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    thread_local!(static OWN: Cell<u32> = const { Cell::new(0) });
    OWN.with(|own| {
        if own.get() == 0 {
            own.set(NEXT.fetch_add(1, Ordering::Relaxed));
        }
        u64::from(own.get())
    })
}

impl Seats {
    /// Seats for so many workers; 0 for none, where nobody is to check.
    pub(crate) fn new(width: usize) -> Self {
        Self((0..width).map(|_| AtomicU64::new(0)).collect())
    }

    /// The calling thread begins a job under this index.
    pub(crate) fn sit(&self, index: usize) -> Sitting<'_> {
        let Some(seat) = self.0.get(index) else { return Sitting(None) };
        let me = thread() * THREAD;
        // Nobody else changes it while we have it, and while nobody has it nobody should.
        let before = seat.fetch_add(1, Ordering::AcqRel);
        if before == 0 {
            seat.fetch_add(me, Ordering::AcqRel);
        } else if before & !(THREAD - 1) != me {
            fail(&format!("two threads run jobs as worker {index}"));
        }
        Sitting(Some(seat))
    }
}

impl Sitting<'_> {
    /// Calls `f`, in which another thread may sit here: for jobs that lend their seat. Whoever
    /// comes back from it must have the same index.
    #[allow(dead_code, reason = "for jobs that block, which there are none of yet")]
    pub(crate) fn while_lent<R>(&self, f: impl FnOnce() -> R) -> R {
        let Some(seat) = self.0 else { return f() };
        let mine = seat.swap(0, Ordering::AcqRel);
        let result = f();
        let others = seat.swap(mine, Ordering::AcqRel);
        demand!(others == 0, "a thread came back to a seat in which somebody sits");
        result
    }
}

impl Drop for Sitting<'_> {
    fn drop(&mut self) {
        if let Some(seat) = self.0 {
            let before = seat.fetch_sub(1, Ordering::AcqRel);
            if before & (THREAD - 1) == 1 {
                seat.fetch_sub(thread() * THREAD, Ordering::AcqRel);
            }
        }
    }
}
