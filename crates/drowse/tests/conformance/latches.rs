//! Workers that sleep until a latch is set.

use crate::common::{Dice, assert_works, fib, sleeping, until, until_all_sleep};
use crate::subject::{Subject, WIDTHS, rounds};
use drowse::ThreadPool;
use std::sync::mpsc;

/// Pools in which a half can be stolen.
const WIDE: [usize; 3] = [2, 8, 64];

/// Waits until all but so many workers sleep.
#[track_caller]
fn until_asleep_but(pool: &ThreadPool, awake: usize) {
    let asleep = pool.current_num_threads() - awake;
    until("the others sleep", || sleeping(pool) == asleep);
}

/// A join whose second half is stolen, and goes on with `outlast` when the first has ended.
fn join_outlasted<R: Send>(outlast: impl FnOnce() -> R + Send) -> R {
    let (started, starts) = mpsc::channel();
    let (stolen, result) = drowse::join(
        move || starts.recv().is_ok(),
        move || {
            started.send(()).unwrap();
            outlast()
        },
    );
    assert!(stolen);
    result
}

pub(crate) fn a_joiner_that_sleeps_is_woken(subject: Subject) {
    for width in WIDE {
        let pool = subject.pool(width);
        for round in 0..rounds(width, 800) {
            // The joiner sleeps, as does everyone but the thief.
            let result = pool.install(|| {
                join_outlasted(|| {
                    until_asleep_but(&pool, 1);
                    round
                })
            });
            assert_eq!(result, round);
        }
    }
}

/// The second half ends while the joiner searches, is sleepy, or sleeps.
pub(crate) fn a_joiner_is_woken_at_any_moment(subject: Subject) {
    for width in WIDE {
        let pool = subject.pool(width);
        let result = pool.install(|| {
            let mut dice = Dice::new(2);
            (0..rounds(width, 5_000)).fold(0, |sum, _| {
                let time = dice.below(2_000);
                sum + join_outlasted(|| {
                    (0..time).for_each(|_| std::hint::spin_loop());
                    1
                })
            })
        });
        assert_eq!(result, rounds(width, 5_000));
    }
}

/// Joins within second halves: each joiner sleeps until the next one has woken up.
pub(crate) fn a_chain_of_joiners_that_sleep_is_woken(subject: Subject) {
    fn chain(links: usize, end: &(impl Fn() + Sync)) -> usize {
        if links == 0 {
            end();
            return 0;
        }
        1 + join_outlasted(|| chain(links - 1, end))
    }
    for width in WIDE {
        let pool = subject.pool(width);
        for _ in 0..rounds(width, 60) {
            let links = pool.install(|| chain(width - 1, &|| until_asleep_but(&pool, 1)));
            assert_eq!(links, width - 1);
        }
        assert_works(&pool);
    }
}

pub(crate) fn a_scope_that_sleeps_is_woken(subject: Subject) {
    for width in WIDE {
        let pool = subject.pool(width);
        for _ in 0..rounds(width, 300) {
            let mut done = false;
            pool.scope(|s| {
                let (started, starts) = mpsc::channel();
                s.spawn(|_| {
                    started.send(()).unwrap();
                    until_asleep_but(&pool, 1);
                    done = true;
                    drop(started);
                });
                starts.recv().unwrap();
            });
            assert!(done);
        }
    }
}

pub(crate) fn a_worker_that_sleeps_for_another_pool_is_woken(subject: Subject) {
    for width in WIDTHS {
        let (home, away) = (subject.pool(width), subject.pool(1));
        for round in 0..rounds(width, 300) {
            let answer = home.install(|| {
                away.install(|| {
                    until_all_sleep(&home);
                    round
                })
            });
            assert_eq!(answer, round);
        }
    }
}

pub(crate) fn pools_that_call_each_other(subject: Subject) {
    for width in [1, 2, 8] {
        let (a, b) = (subject.pool(width), subject.pool(width));
        for _ in 0..rounds(width, 300) {
            assert_eq!(a.install(|| b.install(|| a.install(|| fib(3)))), 2);
        }
        assert_works(&a);
        assert_works(&b);
    }
}
