//! P20: a system that grants a few threads and no more. rayon's `build` returns the system's error
//! and its global pool panics.
#![cfg(all(target_os = "linux", target_pointer_width = "64"))]

use crate::common::child::{Ended, in_child, this_test};
use crate::common::{assert_works, fib, tasks, until};
use drowse::{SleepProtocol, Start, ThreadPoolBuilder};
use std::error::Error;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

/// Stacks of a gigabyte of addresses, which cost nothing but addresses.
const STACK: u64 = 1 << 30;

/// Runs `body` where so many threads can be started.
fn with_room_for(
    threads: usize,
    test: &str,
    variables: &[(&str, &str)],
    body: impl FnOnce(),
) -> Ended {
    let stack = STACK.to_string();
    // LeakSanitizer could not look, without a process of its own.
    let own = [("RUST_MIN_STACK", &*stack), ("ASAN_OPTIONS", "detect_leaks=0")];
    let variables = [variables, &own].concat();
    in_child(test, &variables, || {
        limit(threads as u64);
        body();
    })
}

/// Lets the process start so many threads more than it has now.
///
/// The system counts all threads of a user, and those of root it does not limit. So root becomes a
/// user whom nobody else is, and others, who cannot do that, do with few addresses.
fn limit(threads: u64) {
    let user = 1_000_000_000 + std::process::id();
    // SAFETY: a number.
    let is_alone = unsafe { libc::geteuid() == 0 && libc::setuid(user) == 0 };
    let (resource, most) = if is_alone {
        (libc::RLIMIT_NPROC, tasks::count() as u64 + threads)
    } else {
        let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
        let pages: u64 = statm.split(' ').next().unwrap().parse().unwrap();
        (libc::RLIMIT_AS, pages * 4096 + threads * STACK + STACK / 2)
    };
    let limits = libc::rlimit { rlim_cur: most, rlim_max: most };
    // SAFETY: a limit that outlives the call.
    assert_eq!(unsafe { libc::setrlimit(resource, &raw const limits) }, 0);
}

#[test]
fn a_pool_that_is_too_wide_is_an_error_that_says_how_many_there_could_be() {
    let ended = with_room_for(3, this_test!(), &[], || {
        for protocol in SleepProtocol::ALL {
            let before = tasks::count();
            let builder = ThreadPoolBuilder::new().num_threads(8).sleep_protocol(protocol);
            let error = builder.build().unwrap_err();
            let said = error.to_string();
            for part in ["3 of 8", "fewer threads", "limit", "allow_fewer_threads"] {
                assert!(said.contains(part), "{part} in {said}");
            }
            let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>()).unwrap();
            assert_eq!(cause.kind(), io::ErrorKind::WouldBlock);
            until("those that were started are gone", || tasks::count() == before);
        }
    });
    ended.assert_done();
}

#[test]
fn a_pool_may_go_on_with_fewer() {
    let ended = with_room_for(3, this_test!(), &[], || {
        for protocol in SleepProtocol::ALL {
            let before = tasks::count();
            let builder = ThreadPoolBuilder::new().num_threads(8).sleep_protocol(protocol);
            let pool = builder.allow_fewer_threads(true).build().unwrap();
            let width = pool.current_num_threads();
            // Fewer, if the system was slow to count those of the first attempt as gone.
            assert!((1..=3).contains(&width), "{width}");
            assert_works(&pool);
            pool.shutdown();
            until("the threads are gone", || tasks::count() == before);
        }
    });
    ended.assert_done();
    assert_eq!(ended.complaints(), [""; 0], "it was allowed");
}

#[test]
fn the_calling_thread_alone_may_do_for_a_pool() {
    let ended = with_room_for(0, this_test!(), &[], || {
        let builder = ThreadPoolBuilder::new().num_threads(4).use_current_thread();
        let pool = builder.allow_fewer_threads(true).build().unwrap();
        assert_eq!(pool.current_num_threads(), 1);
        assert_eq!(pool.install(|| fib(10)), 55);
    });
    ended.assert_done();
}

#[test]
fn none_at_all_is_an_error_all_the_same() {
    let ended = with_room_for(0, this_test!(), &[], || {
        let said =
            ThreadPoolBuilder::new().num_threads(4).allow_fewer_threads(true).build().unwrap_err();
        assert!(said.to_string().contains("0 of 4"), "{said}");
    });
    ended.assert_done();
}

#[test]
fn the_global_pool_goes_on_with_fewer_and_says_so_once() {
    let ended = with_room_for(3, this_test!(), &[("DROWSE_NUM_THREADS", "8")], || {
        assert_eq!(fib(15), 610);
        let width = drowse::current_num_threads();
        assert!((1..=3).contains(&width), "{width}");
        assert_eq!(fib(15), 610);
    });
    ended.assert_done();
    let complaints = ended.complaints();
    assert_eq!(complaints.len(), 1, "{complaints:?}");
    assert!(complaints[0].contains("of 8 threads"), "{complaints:?}");
}

/// `true` once a thread that has left its pool drops its thread-locals, and until a spawn returns.
static LEAVES: AtomicBool = AtomicBool::new(false);
static HAS_SPAWNED: AtomicBool = AtomicBool::new(false);

/// A thread-local whose drop waits for a spawn of another thread.
struct Late;

impl Drop for Late {
    fn drop(&mut self) {
        if !LEAVES.swap(true, Ordering::SeqCst) {
            until("the spawn returns", || HAS_SPAWNED.load(Ordering::SeqCst));
        }
    }
}

std::thread_local! {
    static LATE: Late = const { Late };
}

#[test]
fn a_spawn_that_is_refused_a_thread_does_not_wait_for_one_that_leaves() {
    let own = [("ASAN_OPTIONS", "detect_leaks=0")];
    let ended = in_child(this_test!(), &own, || {
        let builder = ThreadPoolBuilder::new().num_threads(2).start(Start::OnDemand);
        let pool = builder.idle_timeout(Duration::from_millis(1)).build().unwrap();
        // The first worker always has a thread. While it is busy, the next job needs another one.
        let (begin, begun) = mpsc::channel();
        let (hold, held) = mpsc::channel::<()>();
        let held = Arc::new(Mutex::new(held));
        let occupy_the_first = || {
            let (begin, held) = (begin.clone(), Arc::clone(&held));
            pool.spawn(move || {
                let is_first = drowse::current_thread_index() == Some(0);
                begin.send(is_first).unwrap();
                if is_first {
                    let _ = held.lock().unwrap().recv();
                }
            });
            begun.recv().unwrap()
        };
        until("the first worker is busy", occupy_the_first);
        pool.spawn(|| LATE.with(|_| ()));
        until("the thread leaves", || LEAVES.load(Ordering::SeqCst));
        limit(0);
        pool.spawn(|| ());
        HAS_SPAWNED.store(true, Ordering::SeqCst);
        drop(hold);
    });
    ended.assert_done();
}

#[test]
fn a_shutdown_with_a_limit_starts_no_thread_where_there_is_none_to_join() {
    let ended = in_child(this_test!(), &[("ASAN_OPTIONS", "detect_leaks=0")], || {
        let mut threads = Vec::new();
        let builder = ThreadPoolBuilder::new().num_threads(2).spawn_handler(|worker| {
            threads.push(std::thread::spawn(|| worker.run()));
            Ok(())
        });
        let pool = builder.build().unwrap();
        assert_works(&pool);
        limit(0);
        pool.shutdown_timeout(Duration::MAX).unwrap();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
    ended.assert_done();
}
