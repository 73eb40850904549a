//! Wakes that are deferred, by a thread outside that waits, or by a worker that keeps the door.

use crate::common::{until, until_all_sleep, watchdog};
use drowse::{SleepProtocol, ThreadPool, ThreadPoolBuilder};

fn pool(guests: bool) -> ThreadPool {
    let builder = ThreadPoolBuilder::new().num_threads(2).sleep_protocol(SleepProtocol::Relay);
    builder.guests(guests).build().expect("a pool")
}

/// How many workers are woken by a fork that enters the pool while all sleep.
fn wakes_of_an_entry(pool: &ThreadPool) -> u64 {
    until_all_sleep(pool);
    let before = pool.metrics();
    assert_eq!(pool.join(|| 1, || 2), (1, 2));
    until_all_sleep(pool);
    pool.metrics().since(&before).total().sleep.all_wakes()
}

/// Without that it would be two each time: the one who runs the fork, and the one whom it wakes. (A
/// machine that is busy may be slow enough for the caller to pay.)
#[test]
fn a_short_fork_from_outside_wakes_one_worker() {
    watchdog(|| {
        let pool = pool(false);
        until("the other one is left asleep", || wakes_of_an_entry(&pool) == 1);
    });
}

#[test]
fn a_short_fork_of_a_guest_wakes_nobody_where_guests_come_and_go() {
    watchdog(|| {
        let pool = pool(true);
        until("somebody keeps the door", || wakes_of_an_entry(&pool) == 0);
    });
}
