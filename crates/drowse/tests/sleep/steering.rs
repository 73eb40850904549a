//! A worker that is woken by a working one is kept off that one's processor for the length of the
//! wake, and not a moment longer.
//!
//! What a job sees of its thread's mask is what the user made it, on every path; and some workers
//! are left alone.
#![cfg(target_os = "linux")]

use crate::common::child::{in_child, this_test};
use crate::common::cpus::{Cpus, mask, mask_of, set_mask};
use crate::common::seccomp::{Answer, Whom, answer};
use crate::common::{self, assert_works, until_all_sleep, watchdog};
use drowse::{SleepMetrics, SleepProtocol, Steering, ThreadPool, ThreadPoolBuilder};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

/// Whether there is a choice at all. With one processor, nobody is steered, and that is tested
/// below.
fn several_cpus() -> bool {
    mask().len() > 1
}

fn builder(width: usize) -> ThreadPoolBuilder {
    ThreadPoolBuilder::new().num_threads(width).steering(Steering::Always)
}

fn slept(pool: &ThreadPool) -> SleepMetrics {
    pool.metrics().total().sleep
}

/// Wakes workers from a working one, again and again, and calls `look` in each half.
fn wake_from_within(pool: &ThreadPool, times: usize, look: impl Fn() + Sync) {
    for _ in 0..times {
        until_all_sleep(pool);
        pool.install(|| {
            drowse::join(
                || {
                    look();
                    // Until somebody has come for the other half.
                    common::until("the other half was taken", || {
                        drowse::current_thread_has_pending_tasks() == Some(false)
                    });
                },
                &look,
            )
        });
    }
}

#[test]
fn jobs_see_the_mask_that_the_user_made() {
    watchdog(|| {
        for protocol in [SleepProtocol::Counters(Default::default()), SleepProtocol::Jec] {
            let pool = builder(3).sleep_protocol(protocol).build().unwrap();
            let mine = mask();
            wake_from_within(&pool, 100, || assert_eq!(mask(), mine));
            assert_eq!(slept(&pool).steered > 0, several_cpus(), "{}", pool.metrics());
        }
    });
}

#[test]
fn threads_that_jobs_start_inherit_it() {
    watchdog(|| {
        let pool = builder(2).build().unwrap();
        let mine = mask();
        wake_from_within(&pool, 20, || assert_eq!(thread::spawn(mask).join().unwrap(), mine));
    });
}

#[test]
fn handlers_see_it_too_however_long_they_take() {
    watchdog(|| {
        let mine = mask();
        let look = move || {
            let start = Instant::now();
            while start.elapsed() < Duration::from_micros(100) {
                assert_eq!(mask(), mine);
            }
        };
        let look_again = look.clone();
        let pool = builder(3)
            .acquire_thread_handler(look)
            .release_thread_handler(look_again)
            .build()
            .unwrap();
        // Somebody is always about to sleep, or to wake another.
        for _ in 0..300 {
            pool.install(|| {
                drowse::scope(|s| (0..3).for_each(|_| s.spawn(|_| _ = drowse::join(|| (), || ()))));
            });
        }
    });
}

#[test]
fn a_thread_that_cannot_change_its_own_mask_keeps_it() {
    let ended = in_child(this_test!(), &[], || {
        let mine = mask();
        // Worker 0 is this thread, which may do as it likes. The other may not.
        let refuse = |index| {
            if index > 0 {
                answer(libc::SYS_sched_setaffinity, Answer::Error(libc::EPERM), Whom::ThisThread);
            }
        };
        let pool = builder(2).use_current_thread().start_handler(refuse).build().unwrap();
        for _ in 0..50 {
            common::until("the other sleeps", || common::sleeping(&pool) == 1);
            drowse::join(
                || {
                    common::until("the other half was taken", || {
                        drowse::current_thread_has_pending_tasks() == Some(false)
                    });
                },
                || assert_eq!(mask(), mine),
            );
        }
        assert_eq!(slept(&pool).steered, 0);
    });
    ended.assert_done();
}

#[test]
fn a_mask_of_the_users_own_is_kept() {
    watchdog(|| {
        if !several_cpus() {
            return;
        }
        // As many as can be had, but not all, unless there are only two.
        let all = mask();
        let own: Cpus = all.iter().copied().take((all.len() - 1).max(2)).collect();
        let (theirs, expected) = (own.clone(), own);
        let pool = builder(2).start_handler(move |_| set_mask(&theirs)).build().unwrap();
        wake_from_within(&pool, 50, || assert_eq!(mask(), expected));
    });
}

#[test]
fn a_worker_that_was_pinned_is_left_alone() {
    watchdog(|| {
        let cpus: Vec<_> = mask().into_iter().collect();
        let pin = move |index| set_mask(&Cpus::from([cpus[index % cpus.len()]]));
        let pool = builder(2).start_handler(pin).build().unwrap();
        wake_from_within(&pool, 50, || assert_eq!(mask().len(), 1));
        assert_eq!(slept(&pool).steered, 0);
    });
}

#[test]
fn a_mask_that_changes_later_is_kept_as_well() {
    watchdog(|| {
        let pool = builder(2).build().unwrap();
        wake_from_within(&pool, 10, || ());
        let one = Cpus::from([*mask().first().unwrap()]);
        pool.broadcast(|_| set_mask(&one));
        wake_from_within(&pool, 50, || assert_eq!(mask(), one));
    });
}

#[test]
fn the_threads_of_a_pool_that_is_ending_have_theirs() {
    watchdog(|| {
        let mine = mask();
        for _ in 0..20 {
            let (ended, ends) = std::sync::mpsc::channel();
            let ended = Mutex::new(ended);
            let exit = move |_| ended.lock().unwrap().send(mask()).unwrap();
            let pool = builder(2).exit_handler(exit).build().unwrap();
            wake_from_within(&pool, 2, || ());
            drop(pool);
            assert_eq!(ends.iter().collect::<Vec<_>>(), [mine.clone(), mine.clone()]);
        }
    });
}

#[test]
fn a_job_that_panics_leaves_it_alone() {
    watchdog(|| {
        let pool = builder(2).build().unwrap();
        let mine = mask();
        for _ in 0..20 {
            until_all_sleep(&pool);
            let caught = std::panic::catch_unwind(|| pool.join(|| (), || std::panic::panic_any(7)));
            assert!(caught.is_err());
        }
        assert_eq!(pool.broadcast(|_| mask()), [mine.clone(), mine]);
    });
}

#[test]
fn nobody_is_steered_who_was_not_to_be() {
    watchdog(|| {
        let pool = builder(2).steering(Steering::Never).build().unwrap();
        wake_from_within(&pool, 20, || ());
        let slept = slept(&pool);
        assert_eq!((slept.steered, slept.unsteered, slept.behind_waker), (0, 0, 0));
    });
}

#[test]
fn nobody_is_steered_by_those_who_do_not_work() {
    watchdog(|| {
        let pool = builder(3).build().unwrap();
        for _ in 0..50 {
            until_all_sleep(&pool);
            pool.install(|| ());
            pool.broadcast(|_| ());
        }
        assert_eq!(slept(&pool).steered, 0);
    });
}

#[test]
fn nobody_is_steered_on_one_processor() {
    watchdog(|| {
        let one = Cpus::from([*mask().first().unwrap()]);
        set_mask(&one);
        let pool = builder(3).build().unwrap();
        wake_from_within(&pool, 10, || assert_eq!(mask(), one));
        assert_eq!(slept(&pool).steered, 0);
    });
}

#[test]
fn the_environment_decides_for_those_who_did_not() {
    for (value, steered) in [("0", false), ("1", true)] {
        let ended = in_child(this_test!(), &[("DROWSE_STEER", value)], || {
            let steered = std::env::var("DROWSE_STEER").as_deref() == Ok("1");
            let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
            wake_from_within(&pool, 20, || ());
            assert_eq!(slept(&pool).steered > 0, steered && several_cpus());
        });
        ended.assert_done();
        assert_eq!(ended.complaints(), [""; 0], "{value} {steered}");
    }
}

#[test]
fn more_workers_than_processors_all_get_their_masks_back() {
    watchdog(|| {
        let pool = builder(32).build().unwrap();
        let mine = mask();
        let look = || assert_eq!(mask(), mine);
        for _ in 0..10 {
            until_all_sleep(&pool);
            pool.scope(|s| {
                for _ in 0..200 {
                    s.spawn(|_| {
                        look();
                        assert_eq!(common::fib(8), 21);
                    });
                }
            });
        }
    });
}

#[test]
fn two_pools_do_not_mind_each_other() {
    watchdog(|| {
        let pools = [builder(2).build().unwrap(), builder(2).build().unwrap()];
        let mine = mask();
        thread::scope(|s| {
            for pool in &pools {
                s.spawn(|| wake_from_within(pool, 50, || assert_eq!(mask(), mine)));
            }
        });
    });
}

#[test]
fn a_sandbox_that_refuses_leaves_everybody_to_the_system() {
    for call in ["set", "get"] {
        let ended = in_child(this_test!(), &[("DROWSE_TEST_CALL", call)], || {
            let pool = builder(2).build().unwrap();
            wake_from_within(&pool, 5, || ());
            let refused = if std::env::var("DROWSE_TEST_CALL").as_deref() == Ok("set") {
                libc::SYS_sched_setaffinity
            } else {
                libc::SYS_sched_getaffinity
            };
            answer(refused, Answer::Error(libc::EPERM), Whom::Everyone);
            let before = slept(&pool).steered;
            wake_from_within(&pool, 20, || ());
            assert_eq!(slept(&pool).steered, before);
            assert_works(&pool);
        });
        ended.assert_done();
    }
}

/// The workers' threads, by their names.
fn threads_named(prefix: &str) -> Vec<libc::pid_t> {
    common::tasks::named(prefix).iter().map(common::tasks::Task::id).collect()
}

#[test]
fn a_child_that_was_forked_leaves_its_parents_workers_alone() {
    let ended = in_child(this_test!(), &[], || {
        let pool = builder(2).thread_name(|index| format!("forked {index}")).build().unwrap();
        wake_from_within(&pool, 5, || ());
        until_all_sleep(&pool);
        // The child runs on a thread of the pool, as far as it can tell, and wakes the other one,
        // which it does not have.
        let child = pool.install(|| {
            // SAFETY: the child calls nothing but drowse, whose locks nobody holds, and `_exit`.
            let child = unsafe { libc::fork() };
            if child == 0 {
                drowse::spawn(|| ());
                // SAFETY: ends the child.
                unsafe { libc::_exit(0) };
            }
            child
        });
        let mut status = 0;
        // SAFETY: room for the status.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert_eq!(status, 0);
        for thread in threads_named("forked") {
            assert_eq!(mask_of(thread), mask());
        }
        assert_works(&pool);
    });
    ended.assert_done();
}
