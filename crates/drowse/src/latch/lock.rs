//! The latch for threads that belong to no pool: they have nothing to help with, so they block.

use super::Latch;
use crate::engine::WorkerThread;
use drowse_sync::atomic::Ordering;
use drowse_sync::{Arc, Lifetime, WaitWord, faulty, mutant};
use std::time::Duration;

const UNSET: u32 = 0;
/// Not set, and the waiter is blocked or about to be.
const WAITING: u32 = 1;
const SET: u32 = 2;

/// An event that one thread blocks for. It can be used again after
/// [`wait_and_reset`](Self::wait_and_reset).
#[derive(Debug)]
pub(crate) struct LockLatch {
    /// Shared with the setter, who may still be about to wake us when we have seen the latch set
    /// and are gone.
    word: Arc<WaitWord>,
    /// Ends when whoever holds the latch says so; one that is kept for reuse never does.
    pub(super) lifetime: Lifetime,
}

impl LockLatch {
    pub(crate) fn new() -> Self {
        Self { word: Arc::new(WaitWord::new(UNSET)), lifetime: Lifetime::new() }
    }

    /// Whoever sets the latch must have its word before it does.
    fn word(&self) -> Arc<WaitWord> {
        self.lifetime.used();
        Arc::clone(&self.word)
    }

    /// Whether it is set. Whoever acts on that must [wait](Self::wait) all the same: that acquires.
    pub(crate) fn is_set(&self) -> bool {
        // ORDERING: relaxed; a look.
        self.word.load(Ordering::Relaxed) == SET
    }

    /// Blocks until the latch is set.
    pub(crate) fn wait(&self) {
        // WAKE: the setter swaps; it either sees WAITING, and wakes us, or makes this exchange
        // fail.
        if self.must_wait() {
            self.word.wait_while(WAITING);
        }
    }

    /// Blocks until the latch is set, but not much longer than `time`. Whether it is.
    pub(crate) fn wait_for(&self, time: Duration) -> bool {
        // WAKE: as in `wait`, which may follow.
        !(self.must_wait() && self.word.wait_while_for(WAITING, time))
    }

    /// Whether the latch is not set: then its setter sees that somebody waits.
    fn must_wait(&self) -> bool {
        // ORDERING: relaxed; we have nothing to release. If the exchange fails because the latch is
        // set, it acquires what the setter released.
        self.word.replace(UNSET, WAITING, Ordering::Relaxed) || self.still_waits()
    }

    /// Whether we have waited before, and must go on to do so.
    fn still_waits(&self) -> bool {
        // ORDERING: acquire pairs with the release of the setter, who may be there by now.
        self.word.load(mutant::weaken("latch/lock-again-relaxed", Ordering::Acquire)) == WAITING
    }

    /// Blocks until the latch is set, then makes it as new.
    pub(crate) fn wait_and_reset(&self) {
        self.wait();
        // ORDERING: relaxed; whoever sets it next gets it through a queue, which orders this
        // before.
        self.word.store(UNSET, Ordering::Relaxed);
    }
}

impl LockLatch {
    /// Sets the latch and wakes its waiter. From any thread.
    ///
    /// # Safety
    ///
    /// `this` must be alive when the call begins. It may be gone when the call returns.
    pub(crate) unsafe fn set(this: *const Self) {
        // SAFETY: alive as the call begins; from here on our own count keeps the word.
        let word = unsafe { (*this).word() };
        // ORDERING: release pairs with the acquire of the waiter: it sees the job's result.
        let old = word.swap(SET, mutant::weaken("latch/lock-set-relaxed", Ordering::Release));
        let word = faulty!(
            "latch/lock-fetch-late",
            word,
            // SAFETY: none, that is the point of the fault: the latch may be gone.
            unsafe { (*this).word() }
        );
        if old == WAITING {
            word.wake();
        }
    }
}

impl Latch for LockLatch {
    unsafe fn set(this: *const Self, _: &WorkerThread) {
        // SAFETY: the caller's promise.
        unsafe { Self::set(this) };
    }
}
