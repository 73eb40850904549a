//! Where am I: the `current_*` functions, and the methods of pools that ask the same.

use crate::common::{pool, watchdog};
use drowse::{current_num_threads, current_thread_has_pending_tasks, current_thread_index};
use std::thread;

#[test]
fn a_thread_of_no_pool_is_nowhere() {
    watchdog(|| {
        let pool = pool(3);
        assert_eq!((current_thread_index(), current_thread_has_pending_tasks()), (None, None));
        assert_eq!(
            (pool.current_thread_index(), pool.current_thread_has_pending_tasks()),
            (None, None)
        );
        assert_eq!(pool.current_num_threads(), 3);
        drowse::join(|| (), || ());
        assert_eq!(current_thread_index(), None, "also once it has used the global pool");
    });
}

#[test]
fn outside_any_pool_the_number_of_threads_is_that_of_the_global_pool() {
    watchdog(|| {
        let width = current_num_threads();
        assert!(width >= 1);
        assert_eq!(drowse::join(current_num_threads, current_num_threads), (width, width));
        assert_eq!(drowse::broadcast(|_| ()).len(), width);
    });
}

#[test]
fn a_worker_knows_its_index_and_its_pool() {
    watchdog(|| {
        for width in [1, 2, 64] {
            let pool = pool(width);
            let seen = pool.broadcast(|context| {
                assert_eq!(current_num_threads(), width);
                assert_eq!(pool.current_num_threads(), width);
                assert_eq!(current_thread_index(), Some(context.index()));
                assert_eq!(pool.current_thread_index(), Some(context.index()));
                thread::current().id()
            });
            let mut distinct = seen.clone();
            distinct.sort_unstable_by_key(|id| format!("{id:?}"));
            distinct.dedup();
            assert_eq!(distinct.len(), width, "each index is a thread of its own");
            let again = pool.broadcast(|_| thread::current().id());
            assert_eq!(again, seen, "and stays on it");
        }
    });
}

#[test]
fn a_worker_is_not_one_of_another_pool() {
    watchdog(|| {
        let (home, away) = (pool(2), pool(3));
        home.install(|| {
            assert!(home.current_thread_index().is_some());
            assert_eq!(
                (away.current_thread_index(), away.current_thread_has_pending_tasks()),
                (None, None)
            );
            assert_eq!((current_num_threads(), away.current_num_threads()), (2, 3));
            away.install(|| {
                assert_eq!(current_num_threads(), 3);
                assert_eq!(current_thread_index(), away.current_thread_index());
                assert_eq!(home.current_thread_index(), None);
            });
            assert_eq!(current_num_threads(), 2, "back home");
        });
    });
}

#[test]
fn every_job_finds_itself_in_the_pool_it_was_given_to() {
    watchdog(|| {
        let pool = pool(3);
        pool.install(|| {
            assert_eq!(drowse::join(current_num_threads, current_num_threads), (3, 3));
            drowse::scope(|s| {
                s.spawn(|s| {
                    assert_eq!(current_num_threads(), 3);
                    s.spawn_broadcast(|_, _| assert_eq!(current_num_threads(), 3));
                });
            });
        });
        pool.in_place_scope(|s| s.spawn(|_| assert!(pool.current_thread_index().is_some())));
    });
}

#[test]
fn pending_jobs_are_those_in_the_workers_own_queue() {
    watchdog(|| {
        let pool = pool(1);
        pool.install(|| {
            let pending = || {
                let answer = current_thread_has_pending_tasks();
                assert_eq!(pool.current_thread_has_pending_tasks(), answer);
                answer.unwrap()
            };
            assert!(!pending());
            drowse::spawn(|| ());
            drowse::spawn_fifo(|| ());
            assert!(pending());
            drowse::yield_local();
            assert!(pending());
            drowse::yield_local();
            assert!(!pending());
            thread::scope(|threads| {
                threads.spawn(|| pool.spawn(|| ()));
            });
            assert!(!pending(), "what came from outside is nobody's own");
        });
    });
}

#[test]
fn the_second_half_of_a_join_is_pending_while_the_first_runs() {
    watchdog(|| {
        pool(1).install(|| {
            let pending = current_thread_has_pending_tasks;
            assert_eq!(drowse::join(pending, pending), (Some(true), Some(false)));
        });
    });
}

#[test]
fn a_pool_says_what_it_is() {
    watchdog(|| {
        let said = format!("{:?}", pool(3));
        assert!(said.starts_with("ThreadPool { num_threads: 3, protocol: \""), "{said}");
    });
}
