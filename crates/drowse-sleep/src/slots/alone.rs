//! Those who sleep alone.

use super::{ALONE, AWAKE, GUEST, GUEST_AWAKE, PARKED, PREPARED, Slots};
use drowse_sync::atomic::Ordering;
use drowse_sync::faulty;

impl Slots {
    /// Worker: becomes visible to those who want it and no other.
    pub(crate) fn prepare_alone(&self, worker: usize) {
        // ORDERING: relaxed; published by the release of `LatchWord::tell_asleep`, and by the fence
        // after it.
        self.slots[worker].store(self.guest_or_not(worker) | ALONE | PREPARED, Ordering::Relaxed);
    }

    /// Worker: the last step before it parks. False if a waker was quicker.
    #[must_use]
    pub(crate) fn enter_alone(&self, worker: usize) -> bool {
        let slot = &self.slots[worker];
        let guest = self.guest_or_not(worker);
        let (prepared, parked) = (guest | ALONE | PREPARED, guest | ALONE | PARKED);
        // ORDERING: relaxed, as for `enter`.
        faulty!("slots/alone-overwrites", slot.replace(prepared, parked, Ordering::Relaxed), {
            slot.store(parked, Ordering::Relaxed);
            true
        })
    }

    /// Worker: blocks until it was claimed.
    pub(crate) fn park_alone(&self, worker: usize) {
        if self.guest_or_not(worker) == GUEST {
            return self.wait_for_bell(worker);
        }
        // WAKE: whoever claims the slot unparks it. (A guest cannot come: this is not the main
        // loop.)
        self.slots[worker].wait_while(ALONE | PARKED);
    }

    /// Whether the worker sleeps alone, or is about to.
    pub(crate) fn is_alone(&self, worker: usize) -> bool {
        // ORDERING: relaxed; whoever must not miss one has executed a fence, as has the worker
        // since it was prepared.
        self.slots[worker].load(Ordering::Relaxed) & ALONE != 0
    }

    /// Waker: takes the worker out of its slot if it sleeps alone, or is about to. What the slot
    /// was, if so.
    #[must_use]
    pub(super) fn claim_alone(&self, worker: usize) -> Option<u32> {
        let slot = &self.slots[worker];
        loop {
            // ORDERING: relaxed; look before you swap: see `claim`.
            let seen = slot.load(Ordering::Relaxed);
            if seen & ALONE == 0 {
                return None;
            }
            let awake = if seen & GUEST == 0 { AWAKE } else { GUEST_AWAKE };
            // ORDERING: release pairs with the sleeper's acquire, as for `claim`.
            if slot.replace(seen, awake, Ordering::Release) {
                return Some(seen);
            }
        }
    }
}
