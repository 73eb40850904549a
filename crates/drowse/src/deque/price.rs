//! What an owner pays for light fences.

use drowse_sync::{LightFences, want_light_fences};
use std::cell::Cell;

/// Slow pushes that cost about as much as one heavy fence. (A push and a pop with full fences take
/// some nanoseconds longer than with light ones; a heavy fence takes tens of microseconds.)
const A_HEAVY_FENCE: u32 = 1_000;

/// The most that an owner pays before it tries light fences again.
const MOST: u32 = 4 * A_HEAVY_FENCE;

/// An owner that gets none, though it has paid, tries again after this many slow pushes.
const A_FEW: u32 = if cfg!(any(drowse_loom, drowse_shuttle)) { 1 } else { 64 };

/// After it was refused so often it is worth asking the system for light fences, which may mean to
/// start a thread.
const OFTEN: u32 = 16;

/// Light fences make pushes cheap, and have others execute heavy ones. An owner that pushes a
/// little, sleeps, and pushes a little again is better off without. So it pays for the heavy fences
/// that it was the cause of, by slow pushes, before it gets light ones again: neither then costs
/// more than twice what the better of the two would have cost.
///
/// A new owner, and one whose light fences have cost nobody anything, gets them at once.
#[derive(Debug)]
pub(super) struct Price {
    /// Slow pushes to go.
    due: Cell<u32>,
    /// How often it was refused since it last asked the system.
    refusals: Cell<u32>,
}

impl Price {
    /// Nothing is due.
    pub(super) const fn new() -> Self {
        Self { due: Cell::new(0), refusals: Cell::new(0) }
    }

    /// A slow push. Whether more are due after it, or it is the last.
    pub(super) fn is_still_due(&self) -> bool {
        let due = self.due.get();
        self.due.set(due.saturating_sub(1));
        due > 0
    }

    /// Whether the owner may have light fences.
    pub(super) fn is_paid(&self) -> bool {
        self.due.get() == 0
    }

    /// It did not get any.
    pub(super) fn refused(&self) {
        self.due.set(A_FEW);
        let refusals = self.refusals.get() + 1;
        self.refusals.set(refusals % OFTEN);
        if refusals == OFTEN {
            want_light_fences();
        }
    }

    /// The owner gives them back.
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
        // Light fences of this very thread are no reason to fence others.
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
