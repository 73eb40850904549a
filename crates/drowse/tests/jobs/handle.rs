//! Spawned closures that somebody waits for.

use crate::common::{until, until_all_sleep, watchdog};
use drowse::{JoinHandle, SleepProtocol, ThreadPool, ThreadPoolBuilder};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

fn pools() -> impl Iterator<Item = ThreadPool> {
    let build = |protocol, threads| {
        ThreadPoolBuilder::new().num_threads(threads).sleep_protocol(protocol).build()
    };
    SleepProtocol::ALL
        .into_iter()
        .flat_map(move |protocol| [1, 2, 8].map(|n| build(protocol, n).expect("a pool")))
}

#[test]
fn the_result_arrives_whoever_waits_and_whenever() {
    watchdog(|| {
        for pool in pools() {
            for _ in 0..20 {
                until_all_sleep(&pool);
                assert_eq!(pool.spawn_handle(|| 42).join().unwrap(), 42);
                assert_eq!(pool.install(|| drowse::spawn_handle(|| 42).join().unwrap()), 42);
                let done = pool.spawn_handle(|| 42);
                until("it has ended", || done.is_finished());
                assert_eq!(done.join().unwrap(), 42);
            }
        }
    });
}

/// A worker that waits for a handle runs what the handle stands for, if nobody else can.
#[test]
fn a_tree_of_handles() {
    fn sum(depth: u32) -> u32 {
        if depth == 0 {
            return 1;
        }
        let halves = [0, 1].map(|_| drowse::spawn_handle(move || sum(depth - 1)));
        halves.map(|half| half.join().expect("no panic")).iter().sum()
    }
    watchdog(|| {
        for pool in pools() {
            assert_eq!(pool.install(|| sum(6)), 64);
        }
    });
}

#[test]
fn a_panic_is_in_the_handle_and_the_pool_lives_on() {
    watchdog(|| {
        for pool in pools() {
            let handle: JoinHandle<()> = pool.spawn_handle(|| panic!("bad dream"));
            assert_eq!(
                *handle.join().unwrap_err().into_panic().downcast::<&str>().unwrap(),
                "bad dream"
            );
            assert_eq!(pool.spawn_handle(|| 42).join().unwrap(), 42);
        }
    });
}

/// Counts how often one of them is dropped.
struct Token(Arc<AtomicUsize>);

impl Drop for Token {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Release);
    }
}

#[test]
fn a_handle_that_is_dropped_leaves_the_closure_alone_and_its_result_is_dropped_once() {
    watchdog(|| {
        for pool in pools() {
            let drops = Arc::new(AtomicUsize::new(0));
            let (go_on, wait) = mpsc::channel::<()>();
            let token = Token(Arc::clone(&drops));
            let early = pool.spawn_handle(move || {
                wait.recv().unwrap();
                token
            });
            drop(early);
            assert_eq!(drops.load(Ordering::Acquire), 0);
            go_on.send(()).unwrap();
            until("the result is dropped", || drops.load(Ordering::Acquire) == 1);
            let token = Token(Arc::clone(&drops));
            let late = pool.spawn_handle(move || token);
            until("it has ended", || late.is_finished());
            drop(late);
            until("the result is dropped", || drops.load(Ordering::Acquire) == 2);
            let token = Token(Arc::clone(&drops));
            drop(pool.spawn_handle(move || token).join());
            assert_eq!(drops.load(Ordering::Acquire), 3);
        }
    });
}

#[test]
fn a_handle_outlives_its_pool() {
    watchdog(|| {
        for pool in pools() {
            let handle = pool.spawn_handle(|| 42);
            drop(pool);
            assert_eq!(thread::spawn(|| handle.join().unwrap()).join().unwrap(), 42);
        }
    });
}
