//! The threads that look after a pool: they are there when they are needed, idle when they are not,
//! and end with the pool.
#![cfg(target_os = "linux")]

use crate::common::child::{in_child, this_test};
use crate::common::deadlocks::{SOON, listen};
use crate::common::{assert_works, tasks, until, until_all_sleep};
use drowse::{ThreadPoolBuilder, mark_blocked};
use std::cell::RefCell;
use std::time::{Duration, Instant};

#[test]
fn a_lookout_comes_with_the_first_suspicion_rests_and_goes_with_the_pool() {
    let ended = in_child(this_test!(), &[], || {
        let lookouts = || tasks::named("drowse-lookout");
        let before = tasks::count();
        let (pool, alarms) = listen(ThreadPoolBuilder::new().num_threads(2).deadlock_after(SOON));
        assert_works(&pool);
        until_all_sleep(&pool);
        assert_eq!(lookouts().len(), 0, "nobody is blocked");
        let mark = pool.install(mark_blocked);
        assert_eq!(alarms.recv().unwrap().blocked.len(), 1);
        drop(mark);
        let lookouts = lookouts();
        assert_eq!(lookouts.len(), 1);
        // It is blocked, and no timer wakes it, by and by.
        let seen = RefCell::new((Instant::now(), lookouts[0].activity()));
        until("it rests", || {
            let (mut seen, now) = (seen.borrow_mut(), lookouts[0].activity());
            if seen.1 != now {
                *seen = (Instant::now(), now);
            }
            lookouts[0].is_asleep() && seen.0.elapsed() > SOON * 50
        });
        let activity = lookouts[0].activity();
        assert_works(&pool);
        until_all_sleep(&pool);
        assert_eq!(lookouts[0].activity(), activity);
        // Another suspicion, and the same lookout.
        let mark = pool.install(mark_blocked);
        assert_eq!(alarms.iter().next().unwrap().blocked.len(), 1);
        assert_eq!(tasks::named("drowse-lookout").len(), 1);
        drop((mark, pool));
        until("all are gone", || tasks::count() == before);
    });
    ended.assert_done();
}

/// A mark may outlive the workers: whoever looks out for them goes with them.
#[test]
fn a_mark_that_is_kept_keeps_no_lookout() {
    let ended = in_child(this_test!(), &[], || {
        let before = tasks::count();
        let (pool, alarms) = listen(ThreadPoolBuilder::new().num_threads(1).deadlock_after(SOON));
        let mark = pool.install(mark_blocked);
        alarms.recv().unwrap();
        drop(pool);
        until("all are gone", || tasks::count() == before);
        drop(mark);
    });
    ended.assert_done();
}

#[test]
fn a_stall_watch_ends_with_its_pool() {
    let ended = in_child(this_test!(), &[("DROWSE_STALL", "0.01")], || {
        let before = tasks::count();
        for long in [None, Some(Duration::from_secs(3_600))] {
            let builder = ThreadPoolBuilder::new().num_threads(1);
            let builder = long.into_iter().fold(builder, |builder, long| builder.stall_watch(long));
            let pool = builder.build().unwrap();
            assert_works(&pool);
            until("the watch has its name", || tasks::named("drowse-stalls").len() == 1);
            drop(pool);
            until("all are gone", || tasks::count() == before);
        }
    });
    ended.assert_done();
    assert_eq!(ended.complaints(), [""; 0]);
}
