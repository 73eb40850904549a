//! A thread outside that waits for a pool gives up its token while it waits, however it waits. If
//! it had the only one, nobody could run what it waits for.

use crate::common::{self, until_all_sleep, watchdog};
use drowse::{SleepProtocol, ThreadPool, ThreadPoolBuilder};
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

/// A worker that calls them is about to sleep, or has just been woken. What they spawn goes the way
/// of all jobs from outside.
#[test]
fn handlers_may_spawn() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            let other = Arc::new(ThreadPoolBuilder::new().num_threads(1).build().unwrap());
            let (on_acquire, on_release, ran) =
                (Arc::clone(&other), Arc::clone(&other), Arc::new(AtomicUsize::new(0)));
            let (acquired, released) = (Arc::clone(&ran), Arc::clone(&ran));
            let count = |pool: &ThreadPool, ran: &Arc<AtomicUsize>| {
                let ran = Arc::clone(ran);
                assert_eq!(drowse::current_thread_index(), None, "no worker meanwhile");
                pool.spawn(move || _ = ran.fetch_add(1, Ordering::SeqCst));
            };
            let pool = ThreadPoolBuilder::new()
                .num_threads(2)
                .sleep_protocol(protocol)
                .acquire_thread_handler(move || count(&on_acquire, &acquired))
                .release_thread_handler(move || count(&on_release, &released))
                .build()
                .unwrap();
            for _ in 0..20 {
                until_all_sleep(&pool);
                assert_eq!(pool.install(|| 6 * 7), 42);
            }
            common::until("what they spawned has run", || ran.load(Ordering::SeqCst) >= 2 + 20 * 4);
        }
    });
}
