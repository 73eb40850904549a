//! Pools that are dropped leave no thread behind.
#![cfg(target_os = "linux")]

use crate::common::child::{in_child, this_test};
use crate::common::{self, tasks, until, watchdog};
use drowse::ThreadPoolBuilder;
use std::io;
use std::sync::mpsc;
use std::thread;

#[test]
fn ten_thousand_pools_created_used_and_dropped() {
    // In a process of its own, where nobody else starts threads.
    let ended = in_child(this_test!(), &[], || {
        let before = tasks::count();
        for i in 0..10_000 {
            let width = 1 + i % 2;
            let pool = ThreadPoolBuilder::new().num_threads(width).build().unwrap();
            assert_eq!(pool.join(|| 1, || 2), (1, 2));
        }
        until("the last thread has ended", || tasks::count() == before);
    });
    ended.assert_done();
}

#[test]
fn pools_dropped_before_they_have_started_or_run_everything() {
    watchdog(|| {
        let (sender, receiver) = mpsc::channel();
        for i in 0..500 {
            let builder = ThreadPoolBuilder::new().num_threads(4).thread_name(|_| "early".into());
            let pool = builder.build().unwrap();
            if i % 2 == 0 {
                let sender = sender.clone();
                pool.spawn(move || sender.send(()).unwrap());
            }
        }
        drop(sender);
        assert_eq!(receiver.iter().count(), 250);
        until("the last thread has ended", || tasks::named("early").is_empty());
    });
}

#[test]
fn a_wide_pool() {
    watchdog(|| {
        for _ in 0..10 {
            let builder = ThreadPoolBuilder::new().num_threads(64).thread_name(|_| "wide".into());
            let pool = builder.build().unwrap();
            common::assert_works(&pool);
            assert_eq!(tasks::named("wide").len(), 64);
            drop(pool);
            until("the last thread has ended", || tasks::named("wide").is_empty());
        }
    });
}

#[test]
fn a_pool_that_could_not_be_built() {
    watchdog(|| {
        for _ in 0..100 {
            let result = ThreadPoolBuilder::new()
                .num_threads(4)
                .spawn_handler(|worker| match worker.index() {
                    3 => Err(io::Error::other("one too many")),
                    _ => thread::Builder::new()
                        .name("partial".into())
                        .spawn(|| worker.run())
                        .map(drop),
                })
                .build();
            assert!(result.is_err());
        }
        until("the last thread has ended", || tasks::named("partial").is_empty());
    });
}

#[test]
fn pools_that_call_each_other() {
    watchdog(|| {
        for _ in 0..100 {
            let build =
                || ThreadPoolBuilder::new().num_threads(2).thread_name(|_| "nested".into()).build();
            let (a, b) = (build().unwrap(), build().unwrap());
            assert_eq!(a.install(|| b.install(|| a.install(|| 42))), 42);
        }
        until("the last thread has ended", || tasks::named("nested").is_empty());
    });
}
