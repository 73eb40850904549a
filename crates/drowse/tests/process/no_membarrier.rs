//! On a system that refuses `membarrier`, as some sandboxes do, the slow paths do what the fast
//! ones cannot. In a process of its own.
#![cfg(target_os = "linux")]

use crate::common::child::{in_child, this_test};
use crate::common::seccomp::{Answer, Whom, answer};
use crate::common::{fib, mutual_wait};
use std::sync::atomic::{AtomicU32, Ordering};

/// Calls itself in the first half, so that `depth` second halves are pending at once.
fn dive(depth: u32, runs: &AtomicU32) -> u32 {
    if depth == 0 {
        return 0;
    }
    let count = || {
        runs.fetch_add(1, Ordering::Relaxed);
    };
    drowse::join(|| dive(depth - 1, runs), count).0 + 1
}

#[test]
fn works_without() {
    let ended = in_child(this_test!(), &[], || {
        answer(libc::SYS_membarrier, Answer::Error(libc::ENOSYS), Whom::ThisThread);
        for threads in [1, 2, 8] {
            let pool = drowse::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert_eq!(pool.install(|| fib(20)), 6765);

            let count = AtomicU32::new(0);
            pool.scope(|s| {
                for _ in 0..10_000 {
                    s.spawn(|_| {
                        count.fetch_add(1, Ordering::Relaxed);
                    });
                }
            });
            assert_eq!(count.into_inner(), 10_000);
        }

        // One takes back what it has pushed, from the newest on, and the others steal the oldest.
        for threads in [2, 8] {
            let pool = drowse::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            for _ in 0..2_000 {
                let runs = AtomicU32::new(0);
                assert_eq!(pool.install(|| dive(300, &runs)), 300);
                assert_eq!(runs.into_inner(), 300, "each second half once, {threads} threads");
            }
        }

        // Halves that wait for each other: a job that was pushed must be seen by a worker about to
        // sleep.
        let pool = drowse::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        for _ in 0..2_000 {
            mutual_wait(&pool);
        }
    });
    ended.assert_done();
}
