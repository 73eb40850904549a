//! The real pool, whose threads come when they are needed and leave whenever they have slept, under
//! random schedules.
#![cfg(drowse_shuttle)]

use drowse::{Start, ThreadPool, ThreadPoolBuilder};
use drowse_models::{Choose, for_each_protocol, mutual_wait, random_schedules};
use drowse_sync::Arc;
use drowse_sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

fn with_pool(choose: Choose, leave: bool, f: impl FnOnce(&ThreadPool)) {
    let builder =
        ThreadPoolBuilder::new().num_threads(3).sleep_protocol(choose()).start(Start::OnDemand);
    let builder = if leave { builder.idle_timeout(Duration::from_nanos(1)) } else { builder };
    let pool = builder.build().unwrap();
    f(&pool);
    pool.shutdown();
}

fn threads_that_come_find_what_they_came_for(choose: Choose) {
    random_schedules(1_000, move || {
        with_pool(choose, false, |pool| {
            mutual_wait(pool);
            assert_eq!(pool.broadcast(|context| context.index()), [0, 1, 2]);
        });
    });
}

fn nothing_is_lost_when_they_leave(choose: Choose) {
    random_schedules(1_000, move || {
        let done = Arc::new(AtomicUsize::new(0));
        with_pool(choose, true, |pool| {
            let (one, other) = (Arc::clone(&done), Arc::clone(&done));
            mutual_wait(pool);
            pool.spawn(move || _ = one.fetch_add(1, Ordering::Relaxed));
            pool.spawn_broadcast(move |_| _ = other.fetch_add(10, Ordering::Relaxed));
        });
        assert_eq!(done.load(Ordering::Relaxed), 31);
    });
}

for_each_protocol!(threads_that_come_find_what_they_came_for, nothing_is_lost_when_they_leave);
