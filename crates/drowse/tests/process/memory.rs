//! What many jobs took up is given back when they are done.
#![cfg(all(target_os = "linux", target_env = "gnu"))]

use crate::common::child::{in_child, this_test};
use crate::common::{pool, until, until_all_sleep};
use drowse::{ThreadPoolBuilder, Yield};
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many jobs there are at a time, about: their deque takes up 64 MB, with all that it has
/// outgrown.
const JOBS: usize = 3_000_000;

/// How much more memory an idle pool may take up than a new one.
const MORE: usize = 10_000_000;

/// How much memory the process takes up that is there, in bytes, without what the allocator keeps
/// of what was freed.
fn resident() -> usize {
    // SAFETY: takes no pointers, and touches nothing that is in use.
    let page = unsafe {
        libc::malloc_trim(0);
        libc::sysconf(libc::_SC_PAGESIZE)
    };
    let statm = fs::read_to_string("/proc/self/statm").expect("Linux says how much");
    let pages: usize =
        statm.split(' ').nth(1).expect("the second number").parse().expect("a number");
    pages * usize::try_from(page).expect("a size")
}

#[test]
fn a_pool_that_is_idle_after_a_flood() {
    // In a process where nobody else takes up memory, and where the allocator, with one arena, can
    // be made to give back all that was freed.
    let ended = in_child(this_test!(), &[("MALLOC_ARENA_MAX", "1")], || {
        for width in [1, 2] {
            let pool = pool(width);
            pool.install(|| ());
            until_all_sleep(&pool);
            let before = resident();
            // The second flood finds a deque that is large enough.
            for _ in 0..2 {
                static DONE: AtomicUsize = AtomicUsize::new(0);
                DONE.store(0, Ordering::Relaxed);
                pool.install(|| {
                    for _ in 0..JOBS {
                        drowse::spawn(|| _ = DONE.fetch_add(1, Ordering::Relaxed));
                    }
                });
                until("all jobs are done", || DONE.load(Ordering::Relaxed) == JOBS);
                until_all_sleep(&pool);
                until("the flood has left no more than a little", || resident() < before + MORE);
            }
        }
    });
    ended.assert_done();
}

/// The worker gives back what a guest has filled in its seat, though the guest leaves no job.
#[test]
fn a_pool_that_is_idle_after_the_flood_of_a_guest() {
    let ended = in_child(this_test!(), &[("MALLOC_ARENA_MAX", "1")], || {
        let pool = ThreadPoolBuilder::new().num_threads(1).guests(true).build().unwrap();
        pool.install(|| ());
        until_all_sleep(&pool);
        let (before, guests) = (resident(), || pool.metrics().total().sleep.guests);
        let guests_before = guests();
        pool.install(|| {
            (0..JOBS / 3).for_each(|_| drowse::spawn(|| ()));
            while drowse::yield_local() == Some(Yield::Executed) {}
        });
        assert_eq!(guests(), guests_before + 1);
        until("the flood has left no more than a little", || resident() < before + MORE);
    });
    ended.assert_done();
}
