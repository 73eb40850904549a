//! Slots of seats that guests take.

use super::{AWAKE, GUEST_AWAKE, GUEST_PREPARED, QUIET, RUNG, Slots, VACANT};
use drowse_sync::atomic::Ordering;
use drowse_sync::{WaitWord, faulty, mutant, omittable};

impl Slots {
    /// Prepares for guests.
    pub(crate) fn let_guests_in(&mut self) {
        self.bells = (0..self.count()).map(|_| WaitWord::new(QUIET)).collect();
    }

    /// Returns `true` if there can be guests.
    pub(crate) fn are_for_guests(&self) -> bool {
        !self.bells.is_empty()
    }

    /// Takes the seat of a worker that is asleep in its main loop. Returns `false` if it is not.
    #[must_use]
    pub(crate) fn sit(&self, worker: usize) -> bool {
        let slot = &self.slots[worker];
        // ORDERING: acquire pairs with the releases in `park` and `vacate`: the guest sees what the
        // worker, or the guest before, has left here. Relaxed for the look before it.
        let acquire = mutant::weaken("slots/sit-relaxed", Ordering::Acquire);
        slot.load(Ordering::Relaxed) == VACANT && slot.replace(VACANT, GUEST_AWAKE, acquire)
    }

    /// Gives the guest's prepared seat back and lets the worker sleep. Returns `false` if a waker
    /// claimed it first: then the guest must [rise](Self::rise).
    #[must_use]
    pub(crate) fn vacate(&self, worker: usize) -> bool {
        let slot = &self.slots[worker];
        // ORDERING: release pairs with the acquire of the worker that wakes, or of the next guest
        // in `sit`. Not strictly needed: the fence after `commit` has released all that the guest
        // did.
        faulty!(
            "slots/vacate-overwrites",
            slot.replace(GUEST_PREPARED, VACANT, Ordering::Release),
            {
                slot.store(VACANT, Ordering::Release);
                true
            }
        )
    }

    /// Gives the guest's seat back to the worker, and wakes it.
    pub(crate) fn rise(&self, worker: usize) {
        let slot = &self.slots[worker];
        // ORDERING: release pairs with the worker's acquire in `park`.
        slot.store(AWAKE, mutant::weaken("slots/rise-relaxed", Ordering::Release));
        omittable!("slots/rise-alone", slot.wake());
    }

    /// Blocks the guest until it is claimed.
    pub(super) fn wait_for_bell(&self, worker: usize) {
        let bell = &self.bells[worker];
        // WAKE: the waker that claims a parked guest rings, once. (So no ring comes later, for a
        // sleep that is over.)
        bell.wait_while(QUIET);
        // ORDERING: relaxed; the next waker that rings has seen the guest parked again.
        bell.store(QUIET, Ordering::Relaxed);
    }

    pub(super) fn ring(&self, worker: usize) {
        let bell = &self.bells[worker];
        // ORDERING: release pairs with the guest's acquire as it wakes, so its next search sees the
        // news. Not strictly needed: otherwise the look after its next fence would.
        bell.store(RUNG, Ordering::Release);
        omittable!("slots/no-ring", bell.wake());
    }
}
