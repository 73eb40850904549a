//! `join_context`: a half is told that it migrated when, and only when, it runs on another thread
//! than the caller.

use crate::common::{pool, watchdog};
use drowse::FnContext;
use std::sync::Barrier;
use std::thread::{self, ThreadId};

/// Whether a half was told that it moved, and where it ran.
fn witness(context: FnContext) -> (bool, ThreadId) {
    (context.migrated(), thread::current().id())
}

/// What a half was told must agree with where it ran.
#[track_caller]
fn assert_truth((told, ran_on): (bool, ThreadId), caller: ThreadId) {
    assert_eq!(told, ran_on != caller, "told that it migrated: {told}");
}

#[test]
fn nothing_migrates_in_a_pool_of_one() {
    watchdog(|| {
        let moved = pool(1).install(|| drowse::join_context(|a| a.migrated(), |b| b.migrated()));
        assert_eq!(moved, (false, false));
    });
}

#[test]
fn a_stolen_half_has_migrated_and_the_first_half_has_not() {
    watchdog(|| {
        for width in [2, 8] {
            let (pool, both) = (pool(width), Barrier::new(2));
            let meet = |context| {
                both.wait();
                witness(context)
            };
            pool.install(|| {
                let caller = thread::current().id();
                for _ in 0..100 {
                    let (a, b) = drowse::join_context(meet, meet);
                    assert_eq!(a, (false, caller));
                    assert!(
                        b.0 && b.1 != caller,
                        "whoever ran the other half at the same time was another"
                    );
                }
            });
        }
    });
}

#[test]
fn from_outside_both_halves_migrate() {
    watchdog(|| {
        for _ in 0..100 {
            let (a, b) = drowse::join_context(witness, witness);
            assert!(a.0 && b.0);
            assert_truth(a, thread::current().id());
            assert_truth(b, thread::current().id());
        }
    });
}

#[test]
fn from_outside_the_second_half_has_migrated_also_if_the_first_ran_it() {
    watchdog(|| {
        let caller = thread::current().id();
        for _ in 0..100 {
            // The first half helps, and what it finds is, as a rule, the second half.
            let (_, b) = drowse::join_context(|_| drowse::yield_local(), witness);
            assert_truth(b, caller);
        }
    });
}

#[test]
fn a_half_that_its_own_worker_ran_early_has_not_migrated() {
    watchdog(|| {
        let pool = pool(1);
        let (ran, moved) =
            pool.install(|| drowse::join_context(|_| drowse::yield_local(), |b| b.migrated()));
        assert_eq!((ran, moved), (Some(drowse::Yield::Executed), false));
    });
}

#[test]
fn a_half_that_waits_under_spawned_jobs_has_not_migrated() {
    watchdog(|| {
        let pool = pool(1);
        let ((), moved) =
            pool.install(|| drowse::join_context(|_| drowse::spawn(|| ()), |b| b.migrated()));
        assert!(!moved);
    });
}

#[test]
fn the_flag_is_the_truth_all_over_a_tree() {
    fn grow(height: u32) -> usize {
        if height == 0 {
            return 1;
        }
        let caller = thread::current().id();
        let check = |context: FnContext| {
            assert_truth(witness(context), caller);
            grow(height - 1)
        };
        let (a, b) = drowse::join_context(check, check);
        a + b
    }
    watchdog(|| {
        for width in [2, 8, 64] {
            assert_eq!(pool(width).install(|| grow(12)), 4_096);
        }
    });
}

#[test]
fn install_into_another_pool_is_no_migration_of_the_join_within() {
    watchdog(|| {
        let (one, other) = (pool(1), pool(1));
        let moved = one
            .install(|| other.install(|| drowse::join_context(|a| a.migrated(), |b| b.migrated())));
        assert_eq!(moved, (false, false), "the join was called by the worker that ran it");
    });
}
