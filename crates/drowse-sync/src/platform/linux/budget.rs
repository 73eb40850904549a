//! Limit on the number of heavy fences.
//!
//! A heavy fence takes tens of microseconds from every processor that runs the process. That is
//! well spent if it saves other threads a million full fences, but not where sleepers and thieves
//! execute thousands a second. Then the threads that hold light fences give them back, and no
//! thread gets any until the rate has fallen.

use crate::atomic::{AtomicBool, AtomicU64, Ordering};

/// Cost of one fence, in nanoseconds: at a rate of one fence per `EACH` the budget is never
/// overdrawn.
const EACH: u64 = 2_000_000;

/// Amount that can be spent at once, in nanoseconds.
const CREDIT: u64 = 100_000_000;

/// Bucket that each fence fills by [`EACH`], and that time empties.
#[derive(Debug)]
pub(super) struct Budget {
    /// Time at which it will be empty, in nanoseconds since a fixed moment.
    empty_at: AtomicU64,
    overdrawn: AtomicBool,
}

impl Budget {
    pub(super) const fn new() -> Self {
        Self { empty_at: AtomicU64::new(0), overdrawn: AtomicBool::new(false) }
    }

    /// Returns `true` if there were too many heavy fences.
    pub(super) fn is_overdrawn(&self) -> bool {
        // ORDERING: relaxed; a statistic, on which only speed depends.
        self.overdrawn.load(Ordering::Relaxed)
    }

    /// Counts one heavy fence: executed, or one that would be if a thread held light fences.
    pub(super) fn spend(&self, now: u64) {
        let fuller = |empty_at: u64| {
            // The limit ends the overdraft soon after the last fence.
            (empty_at.max(now) + EACH).min(now + 2 * CREDIT)
        };
        // ORDERING: relaxed, all of them; a statistic.
        let mut seen = self.empty_at.load(Ordering::Relaxed);
        while let Err(other) =
            self.empty_at.compare_exchange(seen, fuller(seen), Ordering::Relaxed, Ordering::Relaxed)
        {
            seen = other;
        }
        if fuller(seen) > now + CREDIT {
            self.overdrawn.store(true, Ordering::Relaxed);
        }
    }

    /// Ends the overdraft if half of the credit is back. Called when a thread wants light fences.
    pub(super) fn recover(&self, now: u64) {
        // ORDERING: relaxed, both; a statistic.
        if self.is_overdrawn() && self.empty_at.load(Ordering::Relaxed) <= now + CREDIT / 2 {
            self.overdrawn.store(false, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Budget, CREDIT, EACH};

    const START: u64 = 5_000_000_000;

    fn after_a_burst(fences: u32) -> Budget {
        let budget = Budget::new();
        (0..fences).for_each(|_| budget.spend(START));
        budget
    }

    #[test]
    fn a_burst_is_within_the_budget() {
        let most = u32::try_from(CREDIT / EACH).unwrap();
        assert!(!after_a_burst(most).is_overdrawn());
        assert!(after_a_burst(most + 1).is_overdrawn());
    }

    #[test]
    fn so_many_a_second_can_go_on_for_ever() {
        let budget = Budget::new();
        for fence in 0..10_000 {
            budget.spend(START + fence * EACH);
            assert!(!budget.is_overdrawn());
        }
        for fence in 0..1_000 {
            budget.spend(START + fence * EACH / 2);
        }
        assert!(budget.is_overdrawn(), "twice as many cannot");
    }

    #[test]
    fn it_recovers_once_they_are_fewer() {
        let budget = after_a_burst(1_000_000);
        budget.recover(START + CREDIT);
        assert!(budget.is_overdrawn(), "too early");
        budget.recover(START + 2 * CREDIT);
        assert!(!budget.is_overdrawn());
    }
}
