//! The names of threads: when they are asked for, and what they are where none were chosen.

use crate::common::{caught, occupy, pool, until, watchdog};
use drowse::{Start, ThreadPool, ThreadPoolBuilder};
use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

fn names(pool: &ThreadPool) -> Vec<Option<String>> {
    pool.broadcast(|_| thread::current().name().map(str::to_owned))
}

fn default_names(width: usize) -> Vec<Option<String>> {
    let is_drop_in = cfg!(feature = "rayon-names");
    (0..width).map(|index| (!is_drop_in).then(|| format!("drowse-{index}"))).collect()
}

#[test]
fn a_pool_that_chose_no_names_has_some() {
    watchdog(|| {
        assert_eq!(names(&pool(3)), default_names(3));
        let later = ThreadPoolBuilder::new().num_threads(3).start(Start::OnDemand).build().unwrap();
        assert_eq!(names(&later), default_names(3));
    });
}

#[test]
fn names_are_kept_for_threads_that_come_back() {
    watchdog(|| {
        let (mut calls, builder) = (0, ThreadPoolBuilder::new().num_threads(3));
        let builder = builder.idle_timeout(Duration::from_millis(1)).thread_name(move |index| {
            calls += 1;
            format!("dozer {index}, call {calls}")
        });
        let pool = builder.build().unwrap();
        for _ in 0..20 {
            let expected: Vec<_> =
                (0..3).map(|i| Some(format!("dozer {i}, call {}", i + 1))).collect();
            assert_eq!(names(&pool), expected);
            thread::park_timeout(Duration::from_millis(2));
        }
    });
}

#[test]
fn threads_of_a_spawn_handler_are_named_by_it() {
    watchdog(|| {
        let builder = ThreadPoolBuilder::new().num_threads(2).spawn_handler(|worker| {
            assert_eq!(worker.name(), None);
            thread::Builder::new()
                .name(format!("mine {}", worker.index()))
                .spawn(|| worker.run())
                .map(drop)
        });
        assert_eq!(
            names(&builder.build().unwrap()),
            [0, 1].map(|index| Some(format!("mine {index}")))
        );
    });
}

#[test]
fn who_is_busy_has_a_name() {
    watchdog(|| {
        let pool = pool(1);
        let busy = occupy(&pool, 1);
        let report = pool.shutdown_timeout(Duration::ZERO).unwrap_err();
        assert_eq!(report.threads()[0].name, default_names(1)[0]);
        drop(busy);
    });
}

#[test]
fn a_name_closure_that_panics_ends_what_was_started() {
    watchdog(|| {
        let (starts, exits) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (started, exited) = (Arc::clone(&starts), Arc::clone(&exits));
        let builder = ThreadPoolBuilder::new()
            .num_threads(8)
            .start_handler(move |_| _ = started.fetch_add(1, Ordering::SeqCst))
            .exit_handler(move |_| _ = exited.fetch_add(1, Ordering::SeqCst))
            .thread_name(|index| {
                if index == 5 {
                    panic::resume_unwind(Box::new("no name"));
                }
                format!("dozer {index}")
            });
        assert_eq!(caught::<&str, _>(|| builder.build()), "no name");
        // `build` waits for them, but on a busy machine not for long enough.
        until("those that were started have ended", || exits.load(Ordering::SeqCst) == 5);
        assert_eq!(starts.load(Ordering::SeqCst), 5);
    });
}
