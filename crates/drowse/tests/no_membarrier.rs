//! On a system that refuses `membarrier`, as some sandboxes do, the slow paths do what the fast ones cannot.
#![cfg(target_os = "linux")]

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;

mod common;

/// Makes the system answer ENOSYS to `membarrier`, for this thread and those that it starts.
fn refuse_membarrier() {
    const LOAD_SYSCALL_NUMBER: libc::sock_filter =
        libc::sock_filter { code: (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16, jt: 0, jf: 0, k: 0 };
    let skip_unless_membarrier = libc::sock_filter {
        code: (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16,
        jt: 0,
        jf: 1,
        k: libc::SYS_membarrier as u32,
    };
    let answer = |k| libc::sock_filter { code: (libc::BPF_RET | libc::BPF_K) as u16, jt: 0, jf: 0, k };
    let mut filter = [
        LOAD_SYSCALL_NUMBER,
        skip_unless_membarrier,
        answer(libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32),
        answer(libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the program is valid and outlives the calls, which copy it.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program), 0);
        // It holds.
        assert_eq!(libc::syscall(libc::SYS_membarrier, 0, 0, 0), -1);
    }
}

fn fib(n: u32) -> u32 {
    if n < 2 {
        return n;
    }
    let (a, b) = drowse::join(|| fib(n - 1), || fib(n - 2));
    a + b
}

#[test]
fn works_without() {
    common::watchdog(|| {
        refuse_membarrier();
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

        // Halves that wait for each other: a job that was pushed must be seen by a worker about to sleep.
        let pool = drowse::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        for _ in 0..2_000 {
            let (to_b, from_a) = mpsc::channel();
            let (to_a, from_b) = mpsc::channel();
            pool.join(
                move || {
                    to_b.send(()).unwrap();
                    from_b.recv().unwrap();
                },
                move || {
                    from_a.recv().unwrap();
                    to_a.send(()).unwrap();
                },
            );
        }
    });
}
