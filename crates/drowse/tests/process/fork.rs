//! P18: `fork`, and what its child can do with pools. In rayon's, the child waits for ever.
#![cfg(target_os = "linux")]

use crate::common::child::{in_child, this_test};
use crate::common::forks::{
    assert_aborted, assert_done, assert_left_behind, fork_and_wait, forked,
    wait_for_a_half_of_the_parent,
};
use crate::common::{assert_works, fib, mutual_wait, occupy, pool, until};
use drowse::{SleepProtocol, ThreadPool, ThreadPoolBuilder};
use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// A parallel loop, and what else a program does, in the global pool.
fn use_global_pool() {
    assert_eq!(fib(16), 987);
    let sum = AtomicUsize::new(0);
    drowse::scope(|s| {
        for i in 0..100 {
            let sum = &sum;
            s.spawn(move |_| _ = sum.fetch_add(i, Ordering::Relaxed));
        }
    });
    assert_eq!(sum.into_inner(), 4950);
    assert_eq!(drowse::broadcast(|context| context.index()).len(), drowse::current_num_threads());
    assert_eq!(drowse::spawn_handle(|| 42).join().unwrap(), 42);
}

#[test]
fn the_global_pool_starts_anew_in_the_child() {
    for protocol in ["sleepy", "counters", "jec", "relay"] {
        let variables = [("DROWSE_NUM_THREADS", "3"), ("DROWSE_SLEEP", protocol)];
        let ended = in_child(this_test!(), &variables, || {
            use_global_pool();
            assert_done(forked(|| {
                use_global_pool();
                // And once more, in its own child.
                assert_done(forked(use_global_pool));
                use_global_pool();
            }));
            use_global_pool();
        });
        ended.assert_done();
    }
}

#[test]
fn a_child_of_a_process_without_a_pool_has_one() {
    let ended = in_child(this_test!(), &[], || {
        assert_done(forked(use_global_pool));
        assert_done(forked(|| assert_works(&pool(2))));
    });
    ended.assert_done();
}

#[test]
fn light_fences_work_in_the_child() {
    let ended = in_child(this_test!(), &[("DROWSE_NUM_THREADS", "2")], || {
        let heavy = || drowse::metrics().total().heavy_fences;
        // As soon as it pays, the workers use them.
        until("there are heavy fences", || {
            mutual_wait(&pool(2));
            assert_eq!(fib(18), 2584);
            // A worker steals one half, and sleeps afterwards beside one that works.
            let both = std::sync::Barrier::new(2);
            drowse::join(|| both.wait(), || both.wait());
            heavy() > 0
        });
        assert_done(forked(|| {
            for _ in 0..100 {
                assert_eq!(fib(12), 144);
            }
        }));
    });
    ended.assert_done();
    assert_eq!(ended.complaints(), [""; 0], "nothing was refused");
}

#[test]
fn pools_in_the_midst_of_work() {
    let ended = in_child(this_test!(), &[("DROWSE_NUM_THREADS", "4")], || {
        let over = Arc::new(AtomicBool::new(false));
        let own = Arc::new(pool(4));
        let workers = [true, false].map(|global| {
            let (over, own) = (Arc::clone(&over), Arc::clone(&own));
            thread::spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    let flood = || {
                        for _ in 0..100 {
                            drowse::spawn(|| ());
                        }
                        fib(12)
                    };
                    let result =
                        if global { drowse::join(flood, || ()).0 } else { own.install(flood) };
                    assert_eq!(result, 144);
                }
            })
        });
        for _ in 0..50 {
            assert_done(forked(|| {
                use_global_pool();
                assert_works(&pool(2));
                assert_left_behind(|| own.install(|| ()));
            }));
        }
        over.store(true, Ordering::Relaxed);
        workers.into_iter().for_each(|thread| thread.join().unwrap());
    });
    ended.assert_done();
}

#[test]
fn an_inherited_pool_says_what_it_is() {
    let ended = in_child(this_test!(), &[], || {
        panic::set_hook(Box::new(|_| ()));
        for protocol in SleepProtocol::ALL {
            for guests in [false, true] {
                let builder = ThreadPoolBuilder::new().num_threads(2).sleep_protocol(protocol);
                let pool = builder.guests(guests).deadlock_handler(|_| ()).build().unwrap();
                assert_works(&pool);
                let busy = occupy(&pool, 1);
                let handle = pool.spawn_handle(|| 1);
                let held = occupy(&pool, 1);
                let never = pool.spawn_handle(|| 1);
                assert_done(forked(|| {
                    assert_left_behind(|| pool.install(|| ()));
                    assert_left_behind(|| pool.install_blocking(|| ()));
                    assert_left_behind(|| pool.join(|| (), || ()));
                    assert_left_behind(|| pool.scope(|_| ()));
                    assert_left_behind(|| pool.in_place_scope(|_| ()));
                    assert_left_behind(|| pool.spawn(|| ()));
                    assert_left_behind(|| pool.spawn_all([|| ()]));
                    assert_left_behind(|| pool.spawn_fifo(|| ()));
                    assert_left_behind(|| pool.broadcast(|_| ()));
                    assert_left_behind(|| pool.spawn_broadcast(|_| ()));
                    assert_left_behind(|| never.join());
                    assert_left_behind(|| {
                        let other = self::pool(1);
                        other.install(|| pool.install(|| ()))
                    });
                    assert_eq!(pool.current_num_threads(), 2);
                    // It ends without a wait.
                    drop(pool);
                }));
                drop((busy, held));
                assert_eq!(handle.join().unwrap(), 1);
            }
        }
    });
    ended.assert_done();
}

#[test]
fn an_inherited_pool_ends_without_a_wait() {
    let ended = in_child(this_test!(), &[], || {
        let ends: [fn(ThreadPool); 3] =
            [drop, ThreadPool::shutdown, |pool| pool.shutdown_timeout(Duration::ZERO).unwrap()];
        for end in ends {
            let pool = pool(3);
            let busy = occupy(&pool, 2);
            assert_done(forked(|| end(pool)));
            drop(busy);
        }
        assert_eq!(fib(10), 55);
        assert_done(forked(drowse::shutdown_global));
        drowse::shutdown_global();
    });
    ended.assert_done();
}

#[test]
fn a_job_may_fork_and_its_child_go_on_by_itself() {
    let ended = in_child(this_test!(), &[], || {
        for protocol in SleepProtocol::ALL {
            for guests in [false, true] {
                let builder = ThreadPoolBuilder::new().num_threads(3).sleep_protocol(protocol);
                let pool = builder.guests(guests).deadlock_handler(|_| ()).build().unwrap();
                let status = pool.install(|| {
                    forked(|| {
                        assert_eq!(fib(14), 377);
                        let mut done = [false; 3];
                        drowse::scope(|s| {
                            done.iter_mut().for_each(|done| s.spawn(|_| *done = true))
                        });
                        assert_eq!(done, [true; 3]);
                        drowse::spawn(|| ());
                        while drowse::yield_now() == Some(drowse::Yield::Executed) {}
                        let marked = drowse::mark_blocked();
                        drop(marked);
                    })
                });
                assert_done(status);
                assert_works(&pool);
            }
        }
    });
    ended.assert_done();
}

#[test]
fn a_job_whose_child_waits_for_others_is_aborted() {
    let ended = in_child(this_test!(), &[], || {
        let pool = pool(2);
        assert_aborted(pool.install(wait_for_a_half_of_the_parent));
    });
    ended.assert_done();
    let complaints = ended.complaints();
    assert_eq!(complaints.len(), 1, "{ended:?}");
    assert!(complaints[0].contains("fork()"), "{complaints:?}");
}

#[test]
fn a_job_whose_child_returns_from_it_is_aborted() {
    let ended = in_child(this_test!(), &[], || {
        let pool = pool(2);
        let status = pool.install(fork_and_wait);
        assert_aborted(status.expect("only the parent comes here"));
        assert_works(&pool);
    });
    ended.assert_done();
    assert_eq!(ended.complaints().len(), 1, "{ended:?}");
}

#[test]
fn a_scope_from_before_is_not_waited_for() {
    let ended = in_child(this_test!(), &[], || {
        let pool = pool(1);
        let busy = occupy(&pool, 1);
        let mut status = None;
        pool.in_place_scope(|s| {
            s.spawn(|_| ());
            status = fork_and_wait();
            if status.is_some() {
                drop(busy);
            }
        });
        assert_aborted(status.expect("only the parent comes here"));
    });
    ended.assert_done();
    assert!(ended.stderr.contains("made before fork()"), "{ended:?}");
}

#[test]
fn a_thread_that_was_taken_over_goes_on_alone() {
    let ended = in_child(this_test!(), &[], || {
        let builder = ThreadPoolBuilder::new().num_threads(3).use_current_thread();
        let pool = builder.build().unwrap();
        assert_works(&pool);
        assert_done(forked(|| {
            assert_eq!(fib(14), 377);
            assert_eq!(pool.install(|| fib(10)), 55);
            assert_left_behind(|| pool.broadcast(|_| ()));
        }));
        assert_works(&pool);
    });
    ended.assert_done();
}
