//! How a pool ends: when the last reason for it to live is gone.
//!
//! The handle of a pool is one such reason; each job that was spawned and that nobody waits for is
//! another. The last to go sets each worker's terminate latch. So a pool that is dropped still runs
//! what was spawned into it.

use super::registry::Registry;
use drowse_sync::atomic::Ordering;
use drowse_sync::mutant;

impl Registry {
    /// One more reason to live. Only for a caller that holds one, or works for the pool.
    pub(crate) fn retain(&self) {
        // ORDERING: relaxed; the caller's own reason keeps the count from reaching zero first.
        let old = self.reasons_to_live.fetch_add(1, Ordering::Relaxed);
        assert!(old < isize::MAX as usize, "too many spawned jobs");
    }

    /// One reason less. The last one ends the pool.
    pub(crate) fn release(&self) {
        // ORDERING: acquire-release, so that what each holder did comes before the end.
        let ordering = mutant::weaken("engine/release-relaxed", Ordering::AcqRel);
        if self.reasons_to_live.fetch_sub(1, ordering) == 1 {
            for (index, thread) in self.threads.iter().enumerate() {
                // WAKE: each worker waits for its own latch in its main loop; one asleep on it is
                // woken.
                thread.terminate.set_and_wake(self, index);
            }
        }
    }
}
