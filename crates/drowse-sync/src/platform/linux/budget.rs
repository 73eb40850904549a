//! How many heavy fences there may be.
//!
//! A heavy fence takes tens of microseconds from every processor that runs the process. That is
//! well spent if it saves the others a million full ones. Where sleepers and thieves execute
//! thousands a second, it is not: then those who have light fences give them back, and nobody gets
//! any until that is over.

use crate::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// What one fence costs of the budget: so many a second can go on for ever.
const EACH: Duration = Duration::from_millis(2);

/// What can be spent at once.
const CREDIT: Duration = Duration::from_millis(100);

/// A bucket that each fence fills by [`EACH`], and that time empties.
#[derive(Debug)]
pub(super) struct Budget {
    /// When it will be empty: nanoseconds since some beginning.
    empty_at: AtomicU64,
    overdrawn: AtomicBool,
}

impl Budget {
    pub(super) const fn new() -> Self {
        Self { empty_at: AtomicU64::new(0), overdrawn: AtomicBool::new(false) }
    }

    /// Whether there were too many.
    pub(super) fn is_overdrawn(&self) -> bool {
        // ORDERING: relaxed; a measure, which nothing depends on but speed.
        self.overdrawn.load(Ordering::Relaxed)
    }

    /// One more, or one that there would be if somebody had light fences.
    pub(super) fn spend(&self, now: Duration) {
        let now = nanos(now);
        let fuller = |empty_at: u64| {
            // So that it is not overdrawn for long after the last one.
            (empty_at.max(now) + nanos(EACH)).min(now + nanos(2 * CREDIT))
        };
        // ORDERING: relaxed, all of them; a measure.
        let mut seen = self.empty_at.load(Ordering::Relaxed);
        while let Err(other) =
            self.empty_at.compare_exchange(seen, fuller(seen), Ordering::Relaxed, Ordering::Relaxed)
        {
            seen = other;
        }
        if fuller(seen) > now + nanos(CREDIT) {
            self.overdrawn.store(true, Ordering::Relaxed);
        }
    }

    /// Somebody would like to have light fences: they are to be had again if half of the credit is
    /// back.
    pub(super) fn recover(&self, now: Duration) {
        // ORDERING: relaxed, both; a measure.
        if self.is_overdrawn() && self.empty_at.load(Ordering::Relaxed) <= nanos(now + CREDIT / 2) {
            self.overdrawn.store(false, Ordering::Relaxed);
        }
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX / 2)
}

#[cfg(test)]
mod tests {
    use super::{Budget, CREDIT, EACH};
    use std::time::Duration;

    const START: Duration = Duration::from_secs(5);

    fn after_a_burst(fences: u32) -> Budget {
        let budget = Budget::new();
        (0..fences).for_each(|_| budget.spend(START));
        budget
    }

    #[test]
    fn a_burst_is_within_the_budget() {
        let most = u32::try_from(CREDIT.as_nanos() / EACH.as_nanos()).unwrap();
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
