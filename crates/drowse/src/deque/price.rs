//! Price that an owner pays for light fences.

use drowse_sync::{LightFences, want_light_fences};
use std::cell::Cell;

/// Slow pushes that cost about as much as one heavy fence. (A push and a pop with full fences take
/// some nanoseconds longer than with light ones; a heavy fence takes tens of microseconds.)
const A_HEAVY_FENCE: u32 = 1_000;

/// Most slow pushes that an owner pays before it tries light fences again.
const MOST: u32 = 4 * A_HEAVY_FENCE;

/// Slow pushes after which an owner tries again that has paid but got no light fences.
const A_FEW: u32 = if cfg!(any(drowse_loom, drowse_shuttle)) { 1 } else { 64 };

/// Refusals after which it is worth asking the system for light fences, which may start a thread.
const OFTEN: u32 = 16;

/// Slow pushes that an owner owes before it gets light fences.
///
/// Light fences make pushes cheap, but make other threads execute heavy ones. An owner that pushes
/// a little, sleeps, and pushes a little again is better off without them. So it pays for the heavy
/// fences that it has caused, by slow pushes, before it gets light ones again: this costs at most
/// twice as much as the better of the two choices.
///
/// A new owner gets them at once, and so does an owner whose light fences caused no heavy ones.
#[derive(Debug)]
pub(super) struct Price {
    /// Slow pushes that are still due.
    due: Cell<u32>,
    /// Refusals since the owner last asked the system.
    refusals: Cell<u32>,
}

impl Price {
    pub(super) const fn new() -> Self {
        Self { due: Cell::new(0), refusals: Cell::new(0) }
    }

    /// Counts a slow push. Returns `true` if it was still due.
    pub(super) fn is_still_due(&self) -> bool {
        let due = self.due.get();
        self.due.set(due.saturating_sub(1));
        due > 0
    }

    /// Returns `true` if the owner may have light fences.
    pub(super) fn is_paid(&self) -> bool {
        self.due.get() == 0
    }

    /// Notes that the owner was refused light fences.
    pub(super) fn refused(&self) {
        self.due.set(A_FEW);
        let refusals = self.refusals.get() + 1;
        self.refusals.set(refusals % OFTEN);
        if refusals == OFTEN {
            want_light_fences();
        }
    }

    /// Gives the owner's fences back, and sets their price.
    pub(super) fn give_back(&self, fences: Option<LightFences>) {
        let heavy = fences.map_or(0, |fences| fences.cost());
        let heavy = u32::try_from(heavy).unwrap_or(u32::MAX);
        let due = heavy.saturating_mul(A_HEAVY_FENCE).min(MOST);
        // Fences cost nothing in models. One push is enough there.
        self.due.set(if cfg!(any(drowse_loom, drowse_shuttle)) { 1 } else { due });
    }
}

#[cfg(all(test, not(any(drowse_loom, drowse_shuttle))))]
mod tests {
    use super::{A_FEW, A_HEAVY_FENCE, Price};
    use drowse_sync::{LightFences, heavy_fence, heavy_fences_executed};

    fn slow_pushes_until_paid(price: &Price) -> u32 {
        let pushes = (0..).take_while(|_| price.is_still_due()).count();
        assert!(price.is_paid());
        pushes.try_into().unwrap()
    }

    #[test]
    fn light_fences_that_cost_nothing_are_free() {
        let price = Price::new();
        price.give_back(None);
        assert!(price.is_paid());
    }

    #[test]
    fn whoever_gets_none_tries_again() {
        let price = Price::new();
        price.refused();
        assert!(!price.is_paid());
        assert_eq!(slow_pushes_until_paid(&price), A_FEW);
    }

    #[test]
    fn heavy_fences_are_paid_for() {
        let price = Price::new();
        let Some(fences) = LightFences::at_any_cost() else { return };
        // Light fences of the calling thread alone would cause no heavy fence.
        std::thread::scope(|s| {
            s.spawn(|| {
                heavy_fence("");
                assert_eq!(heavy_fences_executed(), 1);
            });
        });
        price.give_back(Some(fences));
        assert!((A_HEAVY_FENCE..=4 * A_HEAVY_FENCE).contains(&slow_pushes_until_paid(&price)));
    }
}
