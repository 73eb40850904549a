//! Seats without a thread, and sleepers that get tired of sleeping.

use super::{
    ABSENT, AWAKE, GUEST, GUEST_ALONE_PARKED, GUEST_ALONE_PREPARED, GUEST_AWAKE, GUEST_PARKED,
    GUEST_PREPARED, PARKED, PREPARED, Slots, VACANT,
};
use drowse_sync::atomic::Ordering;
use drowse_sync::faulty;
use std::time::Duration;

/// When a sleeper has had enough, and how it gets up.
pub(crate) struct Boredom<'a> {
    pub(crate) after: Duration,
    /// Calls [`Slots::get_bored`], one way or other. False if the worker was claimed.
    pub(crate) get_up: &'a dyn Fn() -> bool,
}

impl Slots {
    /// Worker, which is prepared as if it were to park: its thread leaves. False if a waker was
    /// quicker.
    #[must_use]
    pub(crate) fn depart(&self, worker: usize) -> bool {
        let slot = &self.slots[worker];
        // ORDERING: release pairs with the acquire of whoever claims the seat: it finds what was
        // left there. A failure, by a claim, acquires.
        faulty!("absent/depart-overwrites", slot.replace(PREPARED, ABSENT, Ordering::Release), {
            slot.store(ABSENT, Ordering::Release);
            true
        })
    }

    /// Whether the worker has no thread, as far as the caller can see.
    pub(crate) fn is_absent(&self, worker: usize) -> bool {
        // ORDERING: relaxed; a look.
        self.slots[worker].load(Ordering::Relaxed) == ABSENT
    }

    /// Worker, which is parked: gets up by itself. False if it was claimed, or something else came
    /// in between.
    #[must_use]
    pub(crate) fn get_bored(&self, worker: usize) -> bool {
        let slot = &self.slots[worker];
        // ORDERING: relaxed, all; nobody else acts on it. A failure, by a claim, acquires.
        faulty!(
            "absent/get-up-overwrites",
            slot.replace(PARKED, AWAKE, Ordering::Relaxed) || slot.replace(VACANT, AWAKE, Ordering::Relaxed),
            {
                slot.store(AWAKE, Ordering::Relaxed);
                true
            }
        )
    }

    /// Worker, which is parked: blocks until it is claimed, or told to be on guard. True if it got
    /// up by itself, out of boredom.
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
            // ORDERING: acquire, as a claim must be, if this is how it is found.
            match slot.load(Ordering::Acquire) {
                now @ (PARKED | VACANT) => {
                    if slot.wait_while_for(now, boredom.after) && (boredom.get_up)() {
                        return true;
                    }
                }
                // WAKE: a guest that leaves its seat to us wakes us. If it does not, we begin anew.
                now if now & GUEST != 0 => {
                    slot.wait_while_for(now, boredom.after);
                }
                _ => return false,
            }
        }
    }
}
