//! Pools that are shut down leave nothing behind, at once.
#![cfg(all(target_os = "linux", target_env = "gnu"))]

use crate::common::child::{in_child, this_test};
use crate::common::{caught, fib, tasks, until};
use drowse::{SleepProtocol, ThreadPoolBuilder};
use std::cell::Cell;
use std::fs;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

/// How much memory the process takes up that is there, in bytes, without what the allocator keeps.
fn resident() -> usize {
    // SAFETY: takes no pointers, and touches nothing that is in use.
    unsafe { libc::malloc_trim(0) };
    let statm = fs::read_to_string("/proc/self/statm").expect("Linux says how much");
    let pages: usize =
        statm.split(' ').nth(1).expect("the second number").parse().expect("a number");
    pages * 4096
}

static DROPPED: AtomicUsize = AtomicUsize::new(0);

struct Local(Cell<u32>);

impl Drop for Local {
    fn drop(&mut self) {
        DROPPED.fetch_add(1, Ordering::Relaxed);
    }
}

thread_local!(static LOCAL: Local = const { Local(Cell::new(0)) });

/// P19. rayon's pools do not wait: the threads are still there when a pool was dropped.
#[test]
fn a_thousand_pools_created_used_and_shut_down() {
    // In a process of its own, where nobody else starts threads or takes up memory.
    let ended = in_child(this_test!(), &[("MALLOC_ARENA_MAX", "1")], || {
        let before = tasks::count();
        let (mut threads, mut level) = (0, 0);
        for round in 0..1_000 {
            let width = 1 + round % 4;
            let protocols = SleepProtocol::ALL;
            let builder =
                ThreadPoolBuilder::new().sleep_protocol(protocols[round % protocols.len()]);
            let pool = builder.num_threads(width).build().unwrap();
            assert_eq!(pool.install(|| fib(8)), 21);
            pool.broadcast(|_| LOCAL.with(|local| local.0.set(1)));
            pool.shutdown();
            threads += width;
            // The system wakes whoever joins a moment before it takes the thread off its list.
            until("the threads are gone", || tasks::count() == before);
            assert_eq!(DROPPED.load(Ordering::Relaxed), threads, "in round {round}");
            if round == 100 {
                level = resident();
            }
        }
        let more = resident().saturating_sub(level);
        assert!(more < 2_000_000, "{more} bytes more after 900 pools");
    });
    ended.assert_done();
}

#[test]
fn the_global_pool_leaves_no_thread_and_starts_anew() {
    let ended = in_child(this_test!(), &[("DROWSE_NUM_THREADS", "3")], || {
        let before = tasks::count();
        drowse::shutdown_global(); // There is none yet.
        for round in 1..=100 {
            let (sender, receiver) = mpsc::channel();
            assert_eq!(fib(8), 21);
            drowse::broadcast(|_| LOCAL.with(|local| local.0.set(1)));
            drowse::spawn(move || drowse::spawn(move || sender.send(round).unwrap()));
            drowse::shutdown_global();
            assert_eq!(receiver.try_recv(), Ok(round), "what was spawned has run");
            assert_eq!(DROPPED.load(Ordering::Relaxed), 3 * round);
            until("the threads are gone", || tasks::count() == before);
        }
        ThreadPoolBuilder::new().num_threads(2).build_global().unwrap();
        assert_eq!(drowse::current_num_threads(), 2, "it can be built as one likes again");
        drowse::shutdown_global();
        assert_eq!(drowse::current_num_threads(), 3, "or as the environment says");
    });
    ended.assert_done();
}

#[test]
fn the_global_pool_is_shut_down_under_those_who_use_it() {
    let ended = in_child(this_test!(), &[("DROWSE_NUM_THREADS", "3")], || {
        let (before, over) = (tasks::count(), AtomicBool::new(false));
        let spawned = Arc::new(AtomicUsize::new(0));
        thread::scope(|s| {
            let users = [(); 3].map(|()| {
                s.spawn(|| {
                    let mut mine = 0;
                    while !over.load(Ordering::Relaxed) {
                        assert_eq!(fib(8), 21);
                        let mut done = false;
                        drowse::in_place_scope(|s| s.spawn(|_| done = true));
                        assert!(done);
                        let spawned = Arc::clone(&spawned);
                        drowse::spawn(move || _ = spawned.fetch_add(1, Ordering::Relaxed));
                        assert_eq!(drowse::spawn_handle(|| 42).join().unwrap(), 42);
                        mine += 1;
                    }
                    mine
                })
            });
            for _ in 0..300 {
                drowse::shutdown_global();
            }
            over.store(true, Ordering::Relaxed);
            let all: usize = users.into_iter().map(|user| user.join().unwrap()).sum();
            drowse::shutdown_global();
            assert_eq!(spawned.load(Ordering::Relaxed), all, "nothing was lost");
        });
        until("the threads are gone", || tasks::count() == before);
    });
    ended.assert_done();
}

#[test]
fn whoever_would_wait_for_itself_is_told() {
    let ended = in_child(this_test!(), &[("DROWSE_NUM_THREADS", "2")], || {
        let message =
            drowse::spawn_handle(|| caught::<&str, _>(drowse::shutdown_global)).join().unwrap();
        assert!(message.contains("wait for itself"), "{message}");
        let message = drowse::in_place_scope(|_| caught::<&str, _>(drowse::shutdown_global));
        assert!(message.contains("wait for itself"), "{message}");
        assert_eq!(fib(8), 21, "and all goes on");
    });
    ended.assert_done();
}
