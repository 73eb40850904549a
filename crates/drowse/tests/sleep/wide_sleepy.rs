//! The sleepy-worker protocol on a pool that is far too wide: each worker waits for its turn to get
//! sleepy, and lets others run in the meantime.

use crate::common::{self, until_all_sleep, watchdog};
use drowse::{SleepProtocol, ThreadPoolBuilder};

#[test]
fn a_thousand_workers_fall_asleep_one_after_the_other() {
    watchdog(|| {
        let builder =
            ThreadPoolBuilder::new().num_threads(1_000).sleep_protocol(SleepProtocol::Sleepy);
        let pool = builder.build().unwrap();
        until_all_sleep(&pool);
        for _ in 0..40 {
            assert_eq!(pool.install(|| common::fib(5)), 5);
        }
        until_all_sleep(&pool);
    });
}
