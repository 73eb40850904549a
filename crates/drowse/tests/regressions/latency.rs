//! Halves that wait for each other: the second is begun at once, and not when a timer of the
//! runtime says so.

use crate::common::watchdog;
use drowse::ThreadPoolBuilder;
use std::fs;
use std::sync::Barrier;
use std::time::{Duration, Instant};

/// A call that takes longer has waited for a timer, or for a processor.
const SLOW: Duration = Duration::from_millis(4);

/// How long the threads of this process have waited for a processor, as far as the system tells.
fn waited_for_processors() -> Option<Duration> {
    let mut nanos = 0_u64;
    for task in fs::read_dir("/proc/self/task").ok()? {
        let text = fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
        nanos += text.split_whitespace().nth(1)?.parse::<u64>().ok()?;
    }
    Some(Duration::from_nanos(nanos))
}

/// Calls `call` so often, which says how long it took. Returns the time of the slow ones in sum,
/// less what threads of this process spent waiting for a processor: so a busy machine does not
/// count. Nothing where the system does not tell.
fn unexplained(calls: u32, call: impl FnMut(u32) -> Duration) -> Duration {
    let before = waited_for_processors();
    let slow: Duration = (0..calls).map(call).filter(|took| *took > SLOW).sum();
    let waited = before.and_then(|before| waited_for_processors()?.checked_sub(before));
    waited.map_or(Duration::ZERO, |waited| slow.saturating_sub(waited))
}

#[test]
fn halves_that_wait_for_each_other_do_not_wait_for_a_timer() {
    watchdog(|| {
        // Kept to the end: how long a thread has waited is not known when it has ended.
        let pools = [(); 5].map(|()| ThreadPoolBuilder::new().num_threads(2).build().unwrap());
        for pool in &pools {
            let unexplained = unexplained(400, |_| {
                let (both, start) = (Barrier::new(2), Instant::now());
                pool.install(|| drowse::join(|| both.wait(), || both.wait()));
                start.elapsed()
            });
            assert!(unexplained < Duration::from_millis(10), "{unexplained:?} in slow calls");
        }
    });
}
