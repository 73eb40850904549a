//! News from workers: jobs pushed where others sleep.

use crate::common::{assert_works, until_all_sleep};
use crate::subject::{Subject, rounds};
use drowse::ThreadPool;
use std::sync::mpsc;
use std::sync::{Arc, Barrier};

/// Pools in which two jobs can run at once.
const WIDE: [usize; 3] = [2, 8, 64];

/// Two halves, each of which can only end when the other has begun.
fn meet(both: &Barrier) {
    let wait = || both.wait().is_leader();
    let (a, b) = drowse::join(wait, wait);
    assert_ne!(a, b, "one of two is the leader");
}

pub(crate) fn halves_that_wait_for_each_other(subject: Subject) {
    let both = Barrier::new(2);
    for width in WIDE {
        let pool = subject.pool(width);
        pool.install(|| (0..rounds(width, 5_000)).for_each(|_| meet(&both)));
        (0..rounds(width, 1_500)).for_each(|_| pool.install(|| meet(&both)));
        assert_works(&pool);
    }
}

pub(crate) fn halves_that_wait_for_each_other_in_a_pool_that_sleeps(subject: Subject) {
    let both = Barrier::new(2);
    for width in WIDE {
        let pool = subject.pool(width);
        for _ in 0..rounds(width, 300) {
            until_all_sleep(&pool);
            pool.install(|| meet(&both));
        }
        assert_works(&pool);
    }
}

/// A tree of joins whose leaves all wait for each other. `first` says how many of the leaves are in
/// the first half.
fn meet_all(everyone: &Barrier, leaves: usize, first: fn(usize) -> usize) {
    if leaves == 1 {
        everyone.wait();
        return;
    }
    let first_leaves = first(leaves);
    drowse::join(
        || meet_all(everyone, first_leaves, first),
        || meet_all(everyone, leaves - first_leaves, first),
    );
}

/// All workers are free to meet once more.
#[track_caller]
fn assert_all_free(pool: &ThreadPool) {
    let everyone = Barrier::new(pool.current_num_threads());
    let leaders = pool.broadcast(|_| everyone.wait().is_leader());
    assert_eq!(leaders.into_iter().filter(|&leader| leader).count(), 1);
}

pub(crate) fn all_workers_meet_in_joins(subject: Subject) {
    // A balanced tree; all second halves on one worker; each second half on another.
    let shapes: [fn(usize) -> usize; 3] = [|leaves| leaves / 2, |leaves| leaves - 1, |_| 1];
    for width in WIDE {
        let (pool, everyone) = (subject.pool(width), Barrier::new(width));
        for round in 0..rounds(width, 120) {
            if round % 2 == 0 {
                until_all_sleep(&pool);
            }
            pool.install(|| meet_all(&everyone, width, shapes[round % 3]));
        }
        assert_all_free(&pool);
    }
}

pub(crate) fn all_workers_meet_in_a_scope(subject: Subject) {
    for width in WIDE {
        let (pool, everyone) = (subject.pool(width), Barrier::new(width));
        let everyone = &everyone;
        for round in 0..rounds(width, 80) {
            if round % 2 == 0 {
                until_all_sleep(&pool);
            }
            pool.scope(|s| (0..width).for_each(|_| s.spawn(move |_| _ = everyone.wait())));
            pool.in_place_scope(|s| (0..width).for_each(|_| s.spawn(move |_| _ = everyone.wait())));
        }
        assert_all_free(&pool);
    }
}

pub(crate) fn all_workers_meet_in_spawned_jobs(subject: Subject) {
    for width in WIDE {
        let (pool, everyone) = (subject.pool(width), Arc::new(Barrier::new(width)));
        let (sender, receiver) = mpsc::channel();
        let job = || {
            let (everyone, sender) = (Arc::clone(&everyone), sender.clone());
            move || sender.send(everyone.wait().is_leader()).unwrap()
        };
        for round in 0..rounds(width, 80) {
            if round % 2 == 0 {
                until_all_sleep(&pool);
            }
            // From one worker, then from outside.
            pool.install(|| (0..width).for_each(|_| drowse::spawn(job())));
            let inside = receiver.iter().take(width).filter(|&leader| leader).count();
            (0..width).for_each(|_| pool.spawn(job()));
            let outside = receiver.iter().take(width).filter(|&leader| leader).count();
            assert_eq!((inside, outside), (1, 1));
        }
    }
}

/// A worker that pushes a job and then does not run it itself: somebody must come for it.
pub(crate) fn jobs_of_a_lone_worker_find_help(subject: Subject) {
    for width in WIDE {
        let pool = subject.pool(width);
        for round in 0..rounds(width, 1_500) {
            if round % 4 == 0 {
                until_all_sleep(&pool);
            }
            let spawn = if round % 2 == 0 { drowse::spawn } else { drowse::spawn_fifo };
            let heard = pool.install(|| {
                let (sender, receiver) = mpsc::channel();
                spawn(Box::new(move || sender.send(round).unwrap()) as Box<dyn FnOnce() + Send>);
                receiver.recv()
            });
            assert_eq!(heard, Ok(round));
        }
    }
}
