//! Pools that are shut down leave nothing behind, at once.
#![cfg(all(target_os = "linux", target_env = "gnu"))]

use crate::common::child::{in_child, this_test};
use crate::common::{fib, tasks, until};
use drowse::{SleepProtocol, ThreadPoolBuilder};
use std::cell::Cell;
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How much memory the process takes up that is there, in bytes, without what the allocator keeps.
fn resident() -> usize {
    // SAFETY: takes no pointers, and touches nothing that is in use.
    unsafe { libc::malloc_trim(0) };
    let statm = fs::read_to_string("/proc/self/statm").expect("Linux says how much");
    let pages: usize = statm.split(' ').nth(1).expect("the second number").parse().expect("a number");
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
            let builder = ThreadPoolBuilder::new().sleep_protocol(protocols[round % protocols.len()]);
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
