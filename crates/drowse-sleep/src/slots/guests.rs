//! Seats, and guests that take them.

use super::{AWAKE, GUEST_AWAKE, GUEST_PREPARED, QUIET, RUNG, Slots, VACANT};
use drowse_sync::atomic::Ordering;
use drowse_sync::{WaitWord, faulty, mutant, omittable};

impl Slots {
    /// There will be guests.
    pub(crate) fn let_guests_in(&mut self) {
        self.bells = (0..self.count()).map(|_| WaitWord::new(QUIET)).collect();
    }

    /// Whether there will be guests.
    pub(crate) fn are_for_guests(&self) -> bool {
        !self.bells.is_empty()
    }

    /// Guest: takes the seat of a worker that is asleep in its main loop. False if it is not.
    #[must_use]
    pub(crate) fn sit(&self, worker: usize) -> bool {
        let slot = &self.slots[worker];
        // ORDERING: acquire pairs with the release in `park`, and in `vacate`: what the worker, or
        // the guest before us, has left here is ours. Relaxed for the look before it.
        let acquire = mutant::weaken("slots/sit-relaxed", Ordering::Acquire);
        slot.load(Ordering::Relaxed) == VACANT && slot.replace(VACANT, GUEST_AWAKE, acquire)
    }

    /// Guest, which is prepared as if it were to park: gives the seat back, and lets the worker
    /// sleep. False if a waker was quicker: then the guest must [rise](Self::rise).
    #[must_use]
    pub(crate) fn vacate(&self, worker: usize) -> bool {
        let slot = &self.slots[worker];
        // ORDERING: release pairs with the acquire of the worker that wakes, or of the next guest.
        // Belt and braces: the fence after the commitment has released all that the guest did.
        faulty!("slots/vacate-overwrites", slot.replace(GUEST_PREPARED, VACANT, Ordering::Release), {
            slot.store(VACANT, Ordering::Release);
            true
        })
    }

    /// Guest: gives the seat back to the worker, and wakes it.
    pub(crate) fn rise(&self, worker: usize) {
        let slot = &self.slots[worker];
        // ORDERING: release pairs with the acquire of the worker in `park`.
        slot.store(AWAKE, mutant::weaken("slots/rise-relaxed", Ordering::Release));
        omittable!("slots/rise-alone", slot.wake());
    }

    /// Guest: blocks until it was claimed.
    pub(super) fn wait_for_bell(&self, worker: usize) {
        let bell = &self.bells[worker];
        // WAKE: whoever claims a guest that is parked rings, once. (So nobody rings later, for a
        // sleep that is over.)
        bell.wait_while(QUIET);
        // ORDERING: relaxed; whoever rings next has seen the guest parked again.
        bell.store(QUIET, Ordering::Relaxed);
    }

    pub(super) fn ring(&self, worker: usize) {
        let bell = &self.bells[worker];
        // ORDERING: release pairs with the guest's acquire as it wakes: its next search sees the
        // news. Belt and braces: if not, the look after its next fence does.
        bell.store(RUNG, Ordering::Release);
        omittable!("slots/no-ring", bell.wake());
    }
}
