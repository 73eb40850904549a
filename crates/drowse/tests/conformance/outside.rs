//! News from threads that are not workers.

use crate::common::{Dice, assert_works, until_all_sleep};
use crate::subject::{Subject, WIDTHS, rounds};
use drowse::ThreadPool;
use std::sync::mpsc::{self, Receiver};
use std::thread;

/// Installs and spawns by turns, as fast as the pool answers: the workers are caught in every
/// state.
pub(crate) fn no_wake_up_is_lost_from_outside(subject: Subject) {
    for width in WIDTHS {
        let pool = subject.pool(width);
        let (sender, receiver) = mpsc::channel();
        for round in 0..rounds(width, 5_000) {
            assert_eq!(pool.install(|| round), round);
            let sender = sender.clone();
            pool.spawn(move || sender.send(round).unwrap());
            assert_eq!(receiver.recv(), Ok(round));
        }
        assert_works(&pool);
    }
}

pub(crate) fn no_install_is_lost_in_a_pool_that_sleeps(subject: Subject) {
    for width in WIDTHS {
        let pool = subject.pool(width);
        for round in 0..rounds(width, 800) {
            until_all_sleep(&pool);
            assert_eq!(pool.install(|| round), round);
        }
    }
}

pub(crate) fn no_spawn_is_lost_in_a_pool_that_sleeps(subject: Subject) {
    for width in WIDTHS {
        let pool = subject.pool(width);
        for round in 0..rounds(width, 800) {
            until_all_sleep(&pool);
            let done = spawn(&pool, 1);
            assert_eq!(done.iter().count(), 1, "round {round}");
        }
    }
}

/// So many jobs, and the receiver that hears of each one's end.
fn spawn(pool: &ThreadPool, jobs: usize) -> Receiver<()> {
    let (sender, receiver) = mpsc::channel();
    for _ in 0..jobs {
        let sender = sender.clone();
        pool.spawn(move || sender.send(()).unwrap());
    }
    receiver
}

/// Some jobs at once, after some time or none: into pools that sleep, and pools that are about to.
pub(crate) fn no_burst_is_lost(subject: Subject) {
    let mut dice = Dice::new(1);
    for width in WIDTHS {
        let pool = subject.pool(width);
        for _ in 0..rounds(width, 1_500) {
            let jobs = 1 + dice.below(10) as usize;
            assert_eq!(spawn(&pool, jobs).iter().count(), jobs);
            for _ in 0..dice.below(3_000) {
                std::hint::spin_loop();
            }
        }
        assert_works(&pool);
    }
}

pub(crate) fn nothing_is_lost_from_several_threads_at_once(subject: Subject) {
    for width in WIDTHS {
        let pool = subject.pool(width);
        let sums: Vec<usize> = thread::scope(|threads| {
            let install =
                || (0..rounds(width, 1_000)).map(|round| pool.install(|| round % 2)).sum();
            let handles: Vec<_> = (0..4).map(|_| threads.spawn(install)).collect();
            handles.into_iter().map(|handle| handle.join().unwrap()).collect()
        });
        assert_eq!(sums, [rounds(width, 1_000) / 2; 4]);
        assert_works(&pool);
    }
}

pub(crate) fn a_scope_from_outside_ends(subject: Subject) {
    for width in WIDTHS {
        let pool = subject.pool(width);
        for round in 0..rounds(width, 300) {
            if round % 4 == 0 {
                until_all_sleep(&pool);
            }
            let mut done = [false; 3];
            pool.in_place_scope(|s| done.iter_mut().for_each(|flag| s.spawn(|_| *flag = true)));
            assert_eq!(done, [true; 3]);
        }
    }
}
