//! The metrics of pools that have come to rest.

use super::{sleeping, until};
use drowse::{Metrics, Reason, ThreadPool};

/// Waits until so many workers sleep and the books say so too, and returns the books.
///
/// A waker counts the wake before it goes on; but a sleeper is asleep a moment before it counts its
/// sleep. So wait until each sleep is there that has not ended.
#[track_caller]
pub(crate) fn at_rest(pool: &ThreadPool, asleep: usize) -> Metrics {
    until("the pool is at rest", || {
        let all = pool.metrics().total().sleep;
        sleeping(pool) == asleep && all.sleeps == all.all_wakes() + asleep as u64
    });
    pool.metrics()
}

/// What happened to a pool since it was at rest, now that it is again, with as many asleep.
#[track_caller]
pub(crate) fn since(pool: &ThreadPool, before: &Metrics) -> Metrics {
    let all = before.total().sleep;
    at_rest(pool, (all.sleeps - all.all_wakes()) as usize).since(before)
}

/// These were the wakes, by reason, and there were no others.
#[track_caller]
pub(crate) fn assert_wakes(metrics: &Metrics, expected: &[(Reason, u64)]) {
    let all = metrics.total().sleep;
    for (reason, wakes) in expected {
        assert_eq!(all.wakes(*reason), *wakes, "{reason:?}\n{metrics}");
    }
    assert_eq!(all.all_wakes(), expected.iter().map(|(_, wakes)| wakes).sum(), "{metrics}");
}
