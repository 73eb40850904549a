//! Latch for threads that block instead of running jobs: those that are no workers, and workers
//! that wait for another pool in `install_blocking`.

use drowse_sync::atomic::Ordering;
use drowse_sync::{Arc, Lifetime, WaitWord, faulty, mutant};
use std::time::Duration;

const UNSET: u32 = 0;
/// Not set, and the waiter is blocked or about to be.
const WAITING: u32 = 1;
const SET: u32 = 2;

/// Latch for which a single thread blocks.
#[derive(Debug)]
pub(crate) struct LockLatch {
    /// Shared with `set`, which may call `wake` after the waiter has freed the latch.
    word: Arc<WaitWord>,
    pub(super) lifetime: Lifetime,
}

impl LockLatch {
    pub(crate) fn new() -> Self {
        Self { word: Arc::new(WaitWord::new(UNSET)), lifetime: Lifetime::new() }
    }

    /// Returns the word. The setter needs it before it sets the latch, which may be freed then.
    fn word(&self) -> Arc<WaitWord> {
        self.lifetime.used();
        Arc::clone(&self.word)
    }

    /// Returns `true` if the latch is set. A caller that acts on it must still [wait](Self::wait),
    /// which acquires.
    pub(crate) fn is_set(&self) -> bool {
        // ORDERING: relaxed; `wait`, which must follow, acquires.
        self.word.load(Ordering::Relaxed) == SET
    }

    /// Blocks until the latch is set.
    pub(crate) fn wait(&self) {
        // WAKE: either the swap in `set` sees WAITING, and `set` wakes this thread; or the swap
        // comes first, and the exchange in `must_wait` fails.
        if self.must_wait() {
            self.word.wait_while(WAITING);
        }
    }

    /// Blocks until the latch is set, but not much longer than `time`. Returns `true` if it is set.
    pub(crate) fn wait_for(&self, time: Duration) -> bool {
        // WAKE: as in `wait`, which may be called afterwards.
        !(self.must_wait() && self.word.wait_while_for(WAITING, time))
    }

    /// Notes that a thread waits, for `set` to see. Returns `true` if the latch is not set.
    fn must_wait(&self) -> bool {
        // ORDERING: relaxed; the waiter has nothing to release. If the exchange fails because the
        // latch is set, it acquires what `set` released.
        self.word.replace(UNSET, WAITING, Ordering::Relaxed) || self.still_waits()
    }

    /// Returns `true` if this thread has waited before, and must wait on.
    fn still_waits(&self) -> bool {
        // ORDERING: acquire pairs with the release in `set`. Relaxed would miss the job's result.
        self.word.load(mutant::weaken("latch/lock-again-relaxed", Ordering::Acquire)) == WAITING
    }
}

impl LockLatch {
    /// Sets the latch and wakes its waiter. From any thread.
    ///
    /// # Safety
    ///
    /// `this` must be alive when the call begins. It may be gone when the call returns.
    pub(crate) unsafe fn set(this: *const Self) {
        // SAFETY: alive as the call begins; after that the cloned `Arc` keeps the word alive.
        let word = unsafe { (*this).word() };
        // ORDERING: release pairs with the acquire in `must_wait`, `still_waits` and
        // `WaitWord::wait_while`: the waiter sees the job's result.
        let old = word.swap(SET, mutant::weaken("latch/lock-set-relaxed", Ordering::Release));
        let word = faulty!(
            "latch/lock-fetch-late",
            word,
            // SAFETY: none; the fault is to use the latch when it may be gone.
            unsafe { (*this).word() }
        );
        if old == WAITING {
            word.wake();
        }
    }
}
