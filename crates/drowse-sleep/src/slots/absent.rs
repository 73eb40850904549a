//! Slots of workers without a thread, and of sleepers that get up after the idle timeout.

use super::{
    ABSENT, AWAKE, GUEST, GUEST_ALONE_PARKED, GUEST_ALONE_PREPARED, GUEST_AWAKE, GUEST_PARKED,
    GUEST_PREPARED, PARKED, PREPARED, Slots, VACANT,
};
use drowse_sync::atomic::Ordering;
use drowse_sync::{faulty, hint, mutant};
use std::time::Duration;

/// Time after which a sleeper is bored, and its way to get up.
pub(crate) struct Boredom<'a> {
    pub(crate) after: Duration,
    /// Calls [`Slots::get_bored`], directly or under a lock. Returns `false` if the worker was
    /// claimed.
    pub(crate) get_up: &'a dyn Fn() -> bool,
}

impl Slots {
    /// Leaves the seat without a thread, instead of parking, once the slot is prepared. Returns
    /// `false` if a waker claimed it first.
    #[must_use]
    pub(crate) fn depart(&self, worker: usize) -> bool {
        let slot = &self.slots[worker];
        // ORDERING: release pairs with the acquire in `claim`: the waker finds what was left at the
        // seat. Not strictly needed: the fence in `commit` has released all that, and the waker has
        // acquired the count. A failure, by a claim, acquires.
        faulty!("absent/depart-overwrites", slot.replace(PREPARED, ABSENT, Ordering::Release), {
            slot.store(ABSENT, Ordering::Release);
            true
        })
    }

    /// Returns `true` if the worker has no thread, as far as the caller can see.
    pub(crate) fn is_absent(&self, worker: usize) -> bool {
        // ORDERING: relaxed; a hint.
        self.slots[worker].load(Ordering::Relaxed) == ABSENT
    }

    /// Gets the parked worker up by itself. Returns `false` if it was claimed, or its state has
    /// changed in another way.
    #[must_use]
    pub(crate) fn get_bored(&self, worker: usize) -> bool {
        let slot = &self.slots[worker];
        // ORDERING: no other thread acts on it. From VACANT, acquire pairs with the release in
        // `vacate`: a guest may have come and gone since this thread parked, and this thread has
        // the core next. From PARKED, relaxed: no other thread has had the core. A failure, by a
        // claim, acquires.
        let vacant = mutant::weaken("absent/get-up-relaxed", Ordering::Acquire);
        faulty!(
            "absent/get-up-overwrites",
            slot.replace(PARKED, AWAKE, Ordering::Relaxed) || slot.replace(VACANT, AWAKE, vacant),
            {
                slot.store(AWAKE, Ordering::Relaxed);
                true
            }
        )
    }

    /// Blocks the parked worker until it is claimed or made a guard. Returns `true` if it got up by
    /// itself because it was bored.
    pub(super) fn wait_until_claimed(&self, worker: usize, boredom: Option<&Boredom<'_>>) -> bool {
        let slot = &self.slots[worker];
        let Some(boredom) = boredom else {
            slot.wait_while_any(&[
                PARKED,
                VACANT,
                GUEST_AWAKE,
                GUEST_PREPARED,
                GUEST_PARKED,
                GUEST_ALONE_PREPARED,
                GUEST_ALONE_PARKED,
            ]);
            return false;
        };
        loop {
            // ORDERING: acquire, for the case that this load sees a claim.
            match slot.load(Ordering::Acquire) {
                now @ (PARKED | VACANT) => {
                    if slot.wait_while_for(now, boredom.after) && (boredom.get_up)() {
                        return true;
                    }
                }
                // WAKE: a guest that leaves the seat to us (`rise`) wakes us. If it vacates the
                // seat, we notice that after the time-out and begin again.
                now if now & GUEST != 0 => {
                    // Model checkers have no clock: let the guest run.
                    hint::spin_loop();
                    slot.wait_while_for(now, boredom.after);
                }
                _ => return false,
            }
        }
    }
}
