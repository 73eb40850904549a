//! What an owner pays for light fences.

use drowse_sync::{LightFences, want_light_fences};
use std::cell::Cell;

/// Slow pushes that cost about as much as one heavy fence. (A push and a pop with full fences take
/// some nanoseconds longer than with light ones; a heavy fence takes tens of microseconds.)
const A_HEAVY_FENCE: u32 = 1_000;

/// The most that an owner pays before it tries light fences again.
const MOST: u32 = 4 * A_HEAVY_FENCE;

/// After this many slow pushes it is worth asking the system for light fences, which may mean to
/// start a thread.
const MANY: u32 = 1_000;

/// Light fences make pushes cheap, and have others execute heavy ones. An owner that pushes a
/// little, sleeps, and pushes a little again is better off without. So it pays for the heavy fences
/// that it was the cause of, by slow pushes, before it gets light ones again: neither then costs
/// more than twice what the better of the two would have cost.
///
/// A new owner, and one whose light fences have cost nobody anything, gets them at once.
#[derive(Debug, Default)]
pub(super) struct Price {
    /// Slow pushes to go.
    due: Cell<u32>,
    /// Slow pushes since it last asked the system.
    slow_pushes: Cell<u32>,
}

impl Price {
    /// Whether the owner may have light fences, after so many more slow pushes.
    pub(super) fn is_paid_after(&self, pushes: u32) -> bool {
        self.due.set(self.due.get().saturating_sub(pushes));
        let slow_pushes = self.slow_pushes.get() + pushes;
        self.slow_pushes.set(slow_pushes % MANY);
        if slow_pushes >= MANY {
            want_light_fences();
        }
        self.due.get() == 0
    }

    /// The owner gives them back.
    pub(super) fn give_back(&self, fences: Option<LightFences>) {
        let heavy = fences.map_or(0, |fences| fences.cost());
        let heavy = u32::try_from(heavy).unwrap_or(u32::MAX);
        self.due.set(heavy.saturating_mul(A_HEAVY_FENCE).min(MOST));
    }
}

#[cfg(all(test, not(any(drowse_loom, drowse_shuttle))))]
mod tests {
    use super::{A_HEAVY_FENCE, Price};
    use drowse_sync::{LightFences, heavy_fence, heavy_fences_executed};

    #[test]
    fn light_fences_that_cost_nothing_are_free() {
        let price = Price::default();
        price.give_back(None);
        assert!(price.is_paid_after(1));
    }

    #[test]
    fn heavy_fences_are_paid_for() {
        let price = Price::default();
        let Some(fences) = LightFences::at_any_cost() else { return };
        // Light fences of this very thread are no reason to fence others.
        std::thread::scope(|s| {
            s.spawn(|| {
                heavy_fence("");
                assert_eq!(heavy_fences_executed(), 1);
            });
        });
        price.give_back(Some(fences));
        assert!(!price.is_paid_after(A_HEAVY_FENCE - 1));
        assert!(price.is_paid_after(4 * A_HEAVY_FENCE));
    }
}
