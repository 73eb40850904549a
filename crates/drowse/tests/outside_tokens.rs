//! A thread outside that waits for a pool gives up its token meanwhile, however it waits. If it had the only one, nobody could run
//! what it waits for.

mod common;

use common::{until_all_sleep, watchdog};
use drowse::{ThreadPool, ThreadPoolBuilder};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Calls `wait` on a thread outside, and counts how often it gives up its token.
fn released_by(wait: impl FnOnce(&ThreadPool)) -> usize {
    let (here, released) = (thread::current().id(), Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&released);
    let pool = ThreadPoolBuilder::new()
        .num_threads(2)
        .acquire_thread_handler(|| ())
        .release_thread_handler(move || {
            if thread::current().id() == here {
                count.fetch_add(1, Ordering::SeqCst);
            }
        })
        .build()
        .unwrap();
    until_all_sleep(&pool);
    wait(&pool);
    released.load(Ordering::SeqCst)
}

#[test]
fn an_install_gives_it_up() {
    watchdog(|| assert_eq!(released_by(|pool| pool.install(|| ())), 1));
}

#[test]
fn a_broadcast_gives_it_up() {
    watchdog(|| assert_eq!(released_by(|pool| assert_eq!(pool.broadcast(|_| ()).len(), 2)), 1));
}

#[test]
fn a_scope_in_place_gives_it_up() {
    watchdog(|| assert_eq!(released_by(|pool| pool.in_place_scope(|s| s.spawn(|_| ()))), 1));
}
