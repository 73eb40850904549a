//! Slots of workers that sleep alone.

use super::{ALONE, AWAKE, GUEST, GUEST_AWAKE, PARKED, PREPARED, Slots};
use drowse_sync::atomic::Ordering;
use drowse_sync::faulty;

impl Slots {
    /// Makes the calling worker visible to wakers that want this worker and no other.
    pub(crate) fn prepare_alone(&self, worker: usize) {
        // ORDERING: relaxed; published by the release of `LatchWord::tell_asleep`, and by the fence
        // in `Sleep::sleep_alone`.
        self.slots[worker].store(self.guest_or_not(worker) | ALONE | PREPARED, Ordering::Relaxed);
    }

    /// Enters the slot, as the worker's last step before it parks. Returns `false` if a waker
    /// claimed it first.
    #[must_use]
    pub(crate) fn enter_alone(&self, worker: usize) -> bool {
        let slot = &self.slots[worker];
        let guest = self.guest_or_not(worker);
        let (prepared, parked) = (guest | ALONE | PREPARED, guest | ALONE | PARKED);
        // ORDERING: relaxed, for the reasons given in `enter`.
        faulty!("slots/alone-overwrites", slot.replace(prepared, parked, Ordering::Relaxed), {
            slot.store(parked, Ordering::Relaxed);
            true
        })
    }

    /// Blocks the worker until it is claimed.
    pub(crate) fn park_alone(&self, worker: usize) {
        if self.guest_or_not(worker) == GUEST {
            return self.wait_for_bell(worker);
        }
        // WAKE: the waker that claims the slot unparks it. (No guest can come: this is not the main
        // loop.)
        self.slots[worker].wait_while(ALONE | PARKED);
    }

    /// Returns `true` if the worker sleeps alone, or is about to.
    pub(crate) fn is_alone(&self, worker: usize) -> bool {
        // ORDERING: relaxed; a caller that must not miss a worker, such as `Sleep::call_all`, has
        // executed a fence, and so has the worker since it was prepared.
        self.slots[worker].load(Ordering::Relaxed) & ALONE != 0
    }

    /// Takes the worker out of its slot if it sleeps alone, or is about to; returns the slot's old
    /// state then.
    #[must_use]
    pub(super) fn claim_alone(&self, worker: usize) -> Option<u32> {
        let slot = &self.slots[worker];
        loop {
            // ORDERING: relaxed; a look before the swap: see `claim`.
            let seen = slot.load(Ordering::Relaxed);
            if seen & ALONE == 0 {
                return None;
            }
            let awake = if seen & GUEST == 0 { AWAKE } else { GUEST_AWAKE };
            // ORDERING: release pairs with the sleeper's acquire, as in `claim`.
            if slot.replace(seen, awake, Ordering::Release) {
                return Some(seen);
            }
        }
    }
}
