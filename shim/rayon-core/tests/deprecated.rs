//! What rayon-core keeps for old programs does what it did. True of rayon-core itself too.

#![allow(deprecated)]

mod common;

use common::{in_child, watchdog};
use rayon_core::{Configuration, ThreadPool, ThreadPoolBuilder};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};

/// The order in which one thread runs what one job has spawned.
fn order(pool: &ThreadPool) -> Vec<u32> {
    let ran = Mutex::new(Vec::new());
    pool.scope(|scope| {
        for i in 0..8 {
            let ran = &ran;
            scope.spawn(move |_| ran.lock().unwrap().push(i));
        }
    });
    ran.into_inner().unwrap()
}

fn oldest_first() -> Vec<u32> {
    (0..8).collect()
}

#[test]
fn breadth_first_runs_the_oldest_first() {
    watchdog(|| {
        let newest_first = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        assert_eq!(order(&newest_first), (0..8).rev().collect::<Vec<_>>());
        let pool = ThreadPoolBuilder::new().num_threads(1).breadth_first().build().unwrap();
        assert_eq!(order(&pool), oldest_first());
    });
}

#[test]
fn breadth_first_is_level_by_level() {
    watchdog(|| {
        let pool = ThreadPoolBuilder::new().num_threads(1).breadth_first().build().unwrap();
        let ran = Mutex::new(Vec::new());
        pool.scope(|scope| {
            for i in 1..4 {
                let ran = &ran;
                scope.spawn(move |scope| {
                    ran.lock().unwrap().push(i);
                    scope.spawn(move |_| ran.lock().unwrap().push(10 * i));
                });
            }
        });
        assert_eq!(ran.into_inner().unwrap(), [1, 2, 3, 10, 20, 30]);
    });
}

#[test]
fn breadth_first_keeps_the_order_of_spawns_without_a_scope() {
    watchdog(|| {
        let pool = ThreadPoolBuilder::new().num_threads(1).breadth_first().build().unwrap();
        let (ran, heard) = mpsc::channel();
        pool.install(|| {
            for i in 0..8 {
                let ran = ran.clone();
                rayon_core::spawn(move || ran.send(i).unwrap());
            }
        });
        drop(ran);
        assert_eq!(heard.iter().collect::<Vec<u32>>(), oldest_first());
    });
}

#[test]
fn breadth_first_joins_are_still_joins() {
    fn sum(n: u32) -> u32 {
        if n < 2 {
            return n;
        }
        let (a, b) = rayon_core::join(|| sum(n / 2), || sum(n - n / 2));
        a + b
    }
    watchdog(|| {
        for threads in [1, 2, 4] {
            let pool =
                ThreadPoolBuilder::new().num_threads(threads).breadth_first().build().unwrap();
            assert_eq!(pool.install(|| sum(1000)), 1000);
        }
    });
}

/// A configuration with everything, and what its handlers have noted.
fn configured() -> (Configuration, Arc<Mutex<Vec<String>>>) {
    let notes = Arc::new(Mutex::new(Vec::new()));
    let note = |what: &'static str| {
        let notes = Arc::clone(&notes);
        move |index: usize| notes.lock().unwrap().push(format!("{what} {index}"))
    };
    let panicked = note("panicked");
    let configuration = Configuration::new()
        .num_threads(1)
        .thread_name(|index| format!("configured-{index}"))
        .stack_size(1 << 20)
        .breadth_first()
        .panic_handler(move |_| panicked(0))
        .start_handler(note("started"))
        .exit_handler(note("ended"));
    (configuration, notes)
}

/// Uses a pool of [`configured`], and demands that each of the settings has come through.
fn try_out(pool: ThreadPool, notes: &Mutex<Vec<String>>) {
    assert_eq!(pool.current_num_threads(), 1);
    let name = pool.install(|| std::thread::current().name().map(String::from));
    assert_eq!(name.as_deref(), Some("configured-0"));
    assert_eq!(order(&pool), oldest_first());
    pool.spawn(|| std::panic::resume_unwind(Box::new("nobody waits for this")));
    pool.install(|| ());
    assert_eq!(*notes.lock().unwrap(), ["started 0", "panicked 0"]);
}

#[test]
fn a_pool_is_made_of_a_configuration_in_two_ways() {
    watchdog(|| {
        let (configuration, notes) = configured();
        try_out(configuration.build().unwrap(), &notes);
        let (configuration, notes) = configured();
        try_out(ThreadPool::new(configuration).unwrap(), &notes);
    });
}

#[test]
fn initialize_makes_the_global_pool_once() {
    in_child("initialize_makes_the_global_pool_once", &[("RAYON_NUM_THREADS", "5")], || {
        rayon_core::initialize(Configuration::new().num_threads(3)).unwrap();
        assert_eq!(rayon_core::current_num_threads(), 3);
        let again = rayon_core::initialize(Configuration::new().num_threads(4)).unwrap_err();
        assert_eq!(again.to_string(), "The global thread pool has already been initialized.");
        assert_eq!(rayon_core::current_num_threads(), 3);
    });
}
