//! The real pool under random schedules: every job runs once, everyone who waits is woken, every
//! worker ends.
#![cfg(drowse_shuttle)]

use drowse::{ThreadPool, ThreadPoolBuilder};
use drowse_models::{Choose, Gate, for_each_protocol, mutual_wait, random_schedules, with_pool};
use drowse_sync::atomic::{AtomicUsize, Ordering};
use drowse_sync::{Arc, thread};
use std::panic::{self, AssertUnwindSafe};

fn tree_sum(depth: u32) -> usize {
    if depth == 0 {
        return 1;
    }
    let (a, b) = drowse::join(|| tree_sum(depth - 1), || tree_sum(depth - 1));
    a + b
}

fn a_tree_of_joins(choose: Choose) {
    random_schedules(2_000, move || {
        with_pool(choose, 4, |pool| assert_eq!(pool.install(|| tree_sum(4)), 16))
    });
}

fn a_tree_of_joins_on_many_workers(choose: Choose) {
    random_schedules(300, move || {
        with_pool(choose, 16, |pool| assert_eq!(pool.install(|| tree_sum(4)), 16))
    });
}

fn halves_that_wait_for_each_other(choose: Choose) {
    random_schedules(2_000, move || {
        with_pool(choose, 4, mutual_wait);
    });
}

/// Takes longer than a waiter takes to fall asleep.
fn take_long() {
    for _ in 0..40 {
        drowse_sync::hint::spin_loop();
    }
}

fn a_join_sleeps_until_its_stolen_half_is_done(choose: Choose) {
    random_schedules(1_000, move || {
        with_pool(choose, 4, |pool| {
            pool.join(|| (), take_long);
        });
    });
}

fn a_scope_sleeps_until_its_jobs_are_done(choose: Choose) {
    random_schedules(1_000, move || {
        with_pool(choose, 4, |pool| {
            pool.scope(|s| {
                s.spawn(|_| take_long());
                s.spawn(|_| take_long());
            });
        });
    });
}

fn a_job_from_outside_wakes_a_pool_that_has_fallen_asleep(choose: Choose) {
    random_schedules(1_000, move || {
        with_pool(choose, 4, |pool| {
            for n in 0..3 {
                take_long();
                assert_eq!(pool.install(|| n), n);
            }
        });
    });
}

/// The second job wakes nobody if somebody searches: a worker, perhaps, which has just found the
/// first one, and will wait in it for the second. It must pass the baton.
fn a_job_waits_for_one_that_is_posted_after_it(choose: Choose) {
    random_schedules(1_000, move || {
        with_pool(choose, 2, |pool| {
            let gate = Arc::new(Gate::new());
            take_long();
            for opens in [false, true] {
                let gate = Arc::clone(&gate);
                pool.spawn(move || if opens { gate.open() } else { gate.pass() });
            }
        });
    });
}

/// Jobs that wait for each other, and so need a worker each. The first one opens the gate at its
/// end.
fn jobs_that_meet(end: Arc<Gate>) -> [Box<dyn FnOnce() + Send>; 2] {
    let (a, b) = (Arc::new(Gate::new()), Arc::new(Gate::new()));
    let (other_a, other_b) = (Arc::clone(&a), Arc::clone(&b));
    let first = move || {
        a.open();
        b.pass();
        end.open();
    };
    let second = move || {
        other_a.pass();
        other_b.open();
    };
    [Box::new(first), Box::new(second)]
}

fn jobs_that_come_at_once_from_outside_meet(choose: Choose) {
    random_schedules(1_000, move || {
        with_pool(choose, 2, |pool| {
            take_long();
            pool.spawn_all(jobs_that_meet(Arc::new(Gate::new())));
        });
    });
}

/// The worker that spawns them does not come back before one of them has run.
fn jobs_that_come_at_once_from_a_worker_meet(choose: Choose) {
    random_schedules(1_000, move || {
        with_pool(choose, 3, |pool| {
            pool.install(|| {
                take_long();
                let end = Arc::new(Gate::new());
                drowse::spawn_all(jobs_that_meet(Arc::clone(&end)));
                end.pass();
            });
        });
    });
}

fn a_scope_whose_jobs_spawn_more(choose: Choose) {
    random_schedules(1_000, move || {
        with_pool(choose, 4, |pool| {
            let count = AtomicUsize::new(0);
            pool.scope(|s| {
                for _ in 0..3 {
                    s.spawn(|s| {
                        count.fetch_add(1, Ordering::Relaxed);
                        s.spawn(|_| {
                            count.fetch_add(1, Ordering::Relaxed);
                        });
                    });
                }
            });
            assert_eq!(count.load(Ordering::Relaxed), 6);
        });
    });
}

/// Counts when it goes.
struct Counted<'a>(&'a AtomicUsize);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// A job calls the scope off, and the others run, or are dropped: all of them are gone at its end.
fn jobs_of_a_scope_that_is_cancelled_run_or_are_dropped(choose: Choose) {
    random_schedules(1_000, move || {
        with_pool(choose, 4, |pool| {
            let gone = AtomicUsize::new(0);
            pool.scope(|s| {
                for cancels in [false, true, false] {
                    let first = Counted(&gone);
                    s.spawn(move |s| {
                        let second = Counted(first.0);
                        s.spawn(move |_| drop(second));
                        if cancels {
                            s.cancel();
                        }
                        drop(first);
                    });
                }
                let everywhere = Counted(&gone);
                s.spawn_broadcast(move |_, _| {
                    assert_eq!(size_of_val(&everywhere), size_of::<usize>())
                });
            });
            // Those that began have brought one more.
            assert!((5..=7).contains(&gone.load(Ordering::Relaxed)));
        });
    });
}

fn what_was_spawned_runs_although_the_pool_is_dropped(choose: Choose) {
    random_schedules(1_000, move || {
        let count = Arc::new(AtomicUsize::new(0));
        with_pool(choose, 4, |pool| {
            for _ in 0..4 {
                let count = Arc::clone(&count);
                pool.spawn(move || {
                    count.fetch_add(1, Ordering::Relaxed);
                });
            }
        });
        assert_eq!(count.load(Ordering::Relaxed), 4);
    });
}

fn several_threads_install_at_once(choose: Choose) {
    random_schedules(500, move || {
        with_pool(choose, 4, |pool| {
            let pool = &pool;
            shuttle::thread::scope(|s| {
                for n in 0..4 {
                    s.spawn(move || {
                        assert_eq!(pool.install(|| drowse::join(|| n, || n + 1)), (n, n + 1))
                    });
                }
            });
        });
    });
}

fn two_pools_install_into_each_other(choose: Choose) {
    random_schedules(500, move || {
        with_pool(choose, 3, |one| {
            with_pool(choose, 3, |two| {
                let there_and_back = |a: &ThreadPool, b: &ThreadPool| {
                    a.install(|| b.install(|| a.install(|| tree_sum(1))))
                };
                let (x, y) = one.install(|| {
                    drowse::join(|| there_and_back(two, one), || there_and_back(one, two))
                });
                assert_eq!((x, y), (2, 2));
            });
        });
    });
}

fn a_broadcast_reaches_every_worker(choose: Choose) {
    random_schedules(500, move || {
        with_pool(choose, 5, |pool| {
            assert_eq!(pool.broadcast(|context| context.index()), [0, 1, 2, 3, 4]);
            let inside =
                pool.install(|| drowse::join(|| drowse::broadcast(|_| 1).len(), || tree_sum(1)));
            assert_eq!(inside, (5, 2));
        });
    });
}

fn a_panic_reaches_who_waits_and_spares_the_pool(choose: Choose) {
    random_schedules(500, move || {
        with_pool(choose, 4, |pool| {
            let outcome = panic::catch_unwind(AssertUnwindSafe(|| {
                pool.join(|| tree_sum(1), || panic::resume_unwind(Box::new("b")));
            }));
            assert_eq!(*outcome.unwrap_err().downcast::<&str>().unwrap(), "b");
            assert_eq!(pool.install(|| tree_sum(2)), 4);
        });
    });
}

fn a_pool_that_is_never_used_ends(choose: Choose) {
    random_schedules(1_000, move || with_pool(choose, 8, |_pool| {}));
}

fn the_calling_thread_as_a_worker(choose: Choose) {
    random_schedules(500, move || {
        let mut handles = Vec::new();
        let builder =
            ThreadPoolBuilder::new().num_threads(3).use_current_thread().sleep_protocol(choose());
        let pool = builder
            .spawn_handler(|worker| {
                handles.push(thread::Builder::new().spawn(|| worker.run())?);
                Ok(())
            })
            .build()
            .unwrap();
        assert_eq!(tree_sum(3), 8);
        assert_eq!(pool.current_thread_index(), Some(0));
        drop(pool);
        for handle in handles {
            handle.join().unwrap();
        }
    });
}

/// The first half of a join spawns a job, and after the join its worker blocks until that job is
/// done. By then the second half may have been stolen and be done: then all that the join finds in
/// its deque is the spawned job, which it must leave there for the other worker to see.
fn a_job_that_a_join_leaves_in_the_deque_is_not_lost(choose: Choose) {
    random_schedules(4_000, move || {
        with_pool(choose, 2, |pool| {
            let (half_done, job_done) = (Gate::new(), Arc::new(Gate::new()));
            pool.install(|| {
                drowse::join(
                    || {
                        let job_done = Arc::clone(&job_done);
                        drowse::spawn(move || job_done.open());
                        half_done.pass();
                    },
                    || half_done.open(),
                );
                job_done.pass();
            });
        });
    });
}

for_each_protocol!(
    a_tree_of_joins,
    a_tree_of_joins_on_many_workers,
    halves_that_wait_for_each_other,
    a_join_sleeps_until_its_stolen_half_is_done,
    a_scope_sleeps_until_its_jobs_are_done,
    a_job_from_outside_wakes_a_pool_that_has_fallen_asleep,
    a_job_waits_for_one_that_is_posted_after_it,
    jobs_that_come_at_once_from_outside_meet,
    jobs_that_come_at_once_from_a_worker_meet,
    a_scope_whose_jobs_spawn_more,
    jobs_of_a_scope_that_is_cancelled_run_or_are_dropped,
    what_was_spawned_runs_although_the_pool_is_dropped,
    several_threads_install_at_once,
    two_pools_install_into_each_other,
    a_broadcast_reaches_every_worker,
    a_panic_reaches_who_waits_and_spares_the_pool,
    a_pool_that_is_never_used_ends,
    the_calling_thread_as_a_worker,
    a_job_that_a_join_leaves_in_the_deque_is_not_lost,
);
