//! Counts only ever grow, no matter who looks, and when.

use crate::common::{pool, watchdog};
use drowse::{Metrics, Reason, WorkerMetrics};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Everything that is counted of one worker.
fn counts(worker: &WorkerMetrics) -> Vec<u128> {
    let sleep = &worker.sleep;
    let mut counts = vec![
        worker.searches.into(),
        worker.steals.into(),
        worker.injected.into(),
        sleep.sleeps.into(),
        sleep.fruitless.into(),
        sleep.kept_awake.into(),
        sleep.parked.as_nanos(),
    ];
    counts.extend(Reason::ALL.map(|reason| u128::from(sleep.wakes(reason))));
    counts
}

fn assert_grown(before: &Metrics, after: &Metrics) {
    for (before, after) in before.workers.iter().zip(&after.workers) {
        let (before, after) = (counts(before), counts(after));
        assert!(
            before.iter().zip(&after).all(|(before, after)| before <= after),
            "{before:?}, {after:?}"
        );
    }
}

#[test]
fn no_count_runs_backwards() {
    watchdog(|| {
        let pool = pool(2);
        let enough = AtomicBool::new(false);
        thread::scope(|s| {
            s.spawn(|| {
                while pool.metrics().total().sleep.sleeps < 5_000 {
                    pool.install(|| drowse::join(|| (), || ()));
                }
                enough.store(true, Ordering::Release);
            });
            for _ in 0..2 {
                s.spawn(|| {
                    let mut before = pool.metrics();
                    while !enough.load(Ordering::Acquire) {
                        let after = pool.metrics();
                        assert_grown(&before, &after);
                        before = after;
                    }
                });
            }
        });
    });
}
