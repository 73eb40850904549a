//! The system's heavy fences come late, or go: pools work before, during and after. Each test is a
//! process of its own.
#![cfg(target_os = "linux")]

use crate::common::child::{Ended, in_child, this_test};
use crate::common::seccomp::{Answer, Whom, answer};
use crate::common::{self, assert_works, fib, mutual_wait, pool, until, until_all_sleep};
use drowse::ThreadPool;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

static TRAPPED: AtomicUsize = AtomicUsize::new(0);

extern "C" fn count(_signal: libc::c_int) {
    TRAPPED.fetch_add(1, Ordering::Relaxed);
}

/// From now on calls of this kind are counted, for the whole process. (What they answer is not
/// defined, and not an error.)
fn count_calls(call: libc::c_long) {
    // SAFETY: the handler does nothing but count.
    unsafe { libc::signal(libc::SIGSYS, count as *const () as libc::sighandler_t) };
    answer(call, Answer::Trap, Whom::Everyone);
}

/// Whether the system was told that there will be heavy fences; `None` if it does not say.
fn is_registered() -> Option<bool> {
    const GET_REGISTRATIONS: libc::c_int = 1 << 9;
    // SAFETY: plain integers.
    let answer = unsafe { libc::syscall(libc::SYS_membarrier, GET_REGISTRATIONS, 0, 0) };
    let private_expedited = libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED as libc::c_long;
    (answer >= 0).then_some(answer & private_expedited != 0)
}

/// A thread that is there for as long as the process.
fn another_thread() {
    thread::spawn(|| {
        loop {
            thread::park();
        }
    });
}

/// Gives the pool work until it goes by light fences, as far as the system tells.
fn work_until_told(pool: &ThreadPool) {
    until("the system was told", || {
        assert_eq!(pool.install(|| fib(16)), 987);
        is_registered() != Some(false) && common::tasks::named("drowse-fences").is_empty()
    });
}

#[test]
fn a_pool_that_starts_beside_other_threads_does_not_wait_for_the_system() {
    let ended = in_child(this_test!(), &[], || {
        another_thread();
        count_calls(libc::SYS_membarrier);
        let pool = pool(8);
        assert_works(&pool);
        mutual_wait(&pool);
        until_all_sleep(&pool);
        assert_eq!(TRAPPED.load(Ordering::Relaxed), 0);
    });
    ended.assert_done();
}

#[test]
fn the_start_of_a_pool_asks_for_no_random_numbers() {
    let ended = in_child(this_test!(), &[], || {
        count_calls(libc::SYS_getrandom);
        let pool = pool(8);
        assert_works(&pool);
        until_all_sleep(&pool);
        assert_eq!(TRAPPED.load(Ordering::Relaxed), 0);
    });
    ended.assert_done();
}

#[test]
fn the_system_is_told_at_once_by_a_process_of_one_thread() {
    let ended = in_child(this_test!(), &[], || {
        // The test runner has a second thread at times; what counts is what this process had.
        let alone = common::tasks::count() == 1;
        let pool = pool(2);
        if alone {
            assert_ne!(is_registered(), Some(false));
        }
        assert_works(&pool);
    });
    ended.assert_done();
}

#[test]
fn workers_that_would_profit_see_to_it_that_the_system_is_told() {
    let ended = in_child(this_test!(), &[], || {
        another_thread();
        let pool = pool(3);
        assert_ne!(is_registered(), Some(true));
        work_until_told(&pool);
        // Some go by light fences now, others not yet.
        for _ in 0..200 {
            mutual_wait(&pool);
            assert_eq!(pool.install(|| fib(10)), 55);
        }
        assert_works(&pool);
    });
    ended.assert_done();
}

/// A pool at work is put into a sandbox that answers `membarrier` with this error.
fn sandboxed_later(test: &str, errno: i32) -> Ended {
    in_child(test, &[], || {
        let pool = pool(3);
        work_until_told(&pool);
        for _ in 0..20 {
            assert_eq!(pool.install(|| fib(18)), 2584);
            mutual_wait(&pool);
        }
        let busy = common::occupy(&pool, 1);
        answer(libc::SYS_membarrier, Answer::Error(errno), Whom::Everyone);
        let heavy_fences = || pool.metrics().total().heavy_fences;
        let before = heavy_fences();
        let work = || {
            assert_eq!(pool.install(|| fib(20)), 6765);
            mutual_wait(&pool);
        };
        // Enough for workers that have given their light fences back to get them once more.
        (0..240).for_each(|_| work());
        // On a busy machine it may take longer until a worker needs a heavy fence at all.
        until("a heavy fence was asked for in the sandbox", || {
            work();
            heavy_fences() > before
        });
        drop(busy);
        assert_works(&pool);
        until_all_sleep(&pool);
        mutual_wait(&pool);
        assert_works(&common::pool(2));
    })
}

#[test]
fn a_sandbox_that_arrives_later_slows_a_pool_down_and_says_so() {
    let ended = sandboxed_later(this_test!(), libc::EPERM);
    ended.assert_done();
    let complaints = ended.complaints();
    assert_eq!(complaints.len(), 1, "{complaints:?}");
    assert!(
        complaints[0].contains("membarrier") && complaints[0].contains("sandbox"),
        "{complaints:?}"
    );
}

#[test]
fn a_system_that_is_short_of_memory_is_asked_again() {
    let ended = sandboxed_later(this_test!(), libc::ENOMEM);
    ended.assert_done();
    assert_eq!(ended.complaints(), [""; 0]);
}

#[test]
fn whoever_holds_the_standard_error_holds_up_nobody() {
    let ended = in_child(this_test!(), &[], || {
        let pool = pool(3);
        work_until_told(&pool);
        let stderr = std::io::stderr().lock();
        answer(libc::SYS_membarrier, Answer::Error(libc::EPERM), Whom::Everyone);
        for _ in 0..20 {
            assert_eq!(pool.install(|| fib(15)), 610);
            mutual_wait(&pool);
        }
        assert_works(&pool);
        drop(stderr);
    });
    ended.assert_done();
    assert_eq!(ended.complaints().len(), 1, "{ended:?}");
}
