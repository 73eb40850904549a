//! What may run in parallel does: halves and jobs that wait for each other all get a worker. No
//! clock is needed to tell.

use crate::common::{pool, until_all_sleep, watchdog};
use drowse::ThreadPool;
use std::sync::Barrier;
use std::sync::mpsc;

/// A join whose halves, neither of which contains another join, must both be running to end.
fn heavy_pair(both: &Barrier) {
    let meet = || both.wait().is_leader();
    let (a, b) = drowse::join(meet, meet);
    assert_ne!(a, b, "one of two is the leader");
}

#[test]
fn a_heavy_pair_from_inside() {
    watchdog(|| {
        for width in [2, 3, 8] {
            let both = Barrier::new(2);
            pool(width).install(|| (0..500).for_each(|_| heavy_pair(&both)));
        }
    });
}

#[test]
fn a_heavy_pair_from_outside() {
    watchdog(|| {
        for width in [2, 3, 8] {
            let (pool, both) = (pool(width), Barrier::new(2));
            (0..500).for_each(|_| pool.install(|| heavy_pair(&both)));
            for _ in 0..500 {
                let (a, b) = pool.join(|| both.wait().is_leader(), || both.wait().is_leader());
                assert_ne!(a, b);
            }
        }
    });
}

#[test]
fn a_heavy_pair_in_a_pool_that_sleeps() {
    watchdog(|| {
        for width in [2, 8] {
            let (pool, both) = (pool(width), Barrier::new(2));
            for _ in 0..100 {
                until_all_sleep(&pool);
                pool.install(|| heavy_pair(&both));
            }
        }
    });
}

#[test]
fn a_heavy_pair_among_others() {
    watchdog(|| {
        for width in [4, 8] {
            let (pool, one, other) = (pool(width), Barrier::new(2), Barrier::new(2));
            for _ in 0..200 {
                pool.join(|| heavy_pair(&one), || heavy_pair(&other));
            }
        }
    });
}

/// How a number of leaves can hang on joins.
#[derive(Clone, Copy)]
enum Shape {
    Balanced,
    /// The rest of the tree is in the first halves: all second halves are pending on one worker.
    First,
    /// The rest of the tree is in the second halves: each must be stolen before the next is there.
    Second,
}

/// Has so many leaves wait for each other.
fn meet(everyone: &Barrier, leaves: usize, shape: Shape) {
    if leaves == 1 {
        everyone.wait();
        return;
    }
    let first = match shape {
        Shape::Balanced => leaves / 2,
        Shape::First => leaves - 1,
        Shape::Second => 1,
    };
    drowse::join(|| meet(everyone, first, shape), || meet(everyone, leaves - first, shape));
}

/// Each of `rounds` times, a job on every worker at once.
fn all_meet(pool: &ThreadPool, shape: Shape, rounds: usize) {
    let everyone = Barrier::new(pool.current_num_threads());
    for _ in 0..rounds {
        pool.install(|| meet(&everyone, pool.current_num_threads(), shape));
    }
    assert_all_free(pool);
}

/// Nobody is still held up: all workers can meet once more.
#[track_caller]
fn assert_all_free(pool: &ThreadPool) {
    let everyone = Barrier::new(pool.current_num_threads());
    let leaders = pool.broadcast(|_| everyone.wait().is_leader());
    assert_eq!(leaders.into_iter().filter(|&leader| leader).count(), 1);
}

#[test]
fn all_workers_meet_through_a_balanced_tree() {
    watchdog(|| {
        [2, 3, 8, 64].into_iter().for_each(|width| all_meet(&pool(width), Shape::Balanced, 50))
    });
}

#[test]
fn all_workers_meet_through_first_halves() {
    watchdog(|| {
        [2, 3, 8, 64].into_iter().for_each(|width| all_meet(&pool(width), Shape::First, 50))
    });
}

#[test]
fn all_workers_meet_through_second_halves() {
    watchdog(|| {
        [2, 3, 8, 64].into_iter().for_each(|width| all_meet(&pool(width), Shape::Second, 50))
    });
}

#[test]
fn all_workers_meet_after_they_have_slept() {
    watchdog(|| {
        for width in [2, 8, 64] {
            let pool = pool(width);
            for shape in [Shape::Balanced, Shape::First, Shape::Second] {
                until_all_sleep(&pool);
                all_meet(&pool, shape, 1);
            }
        }
    });
}

#[test]
fn all_workers_meet_in_the_jobs_of_a_scope() {
    watchdog(|| {
        for width in [2, 8, 64] {
            let (pool, everyone) = (pool(width), Barrier::new(width));
            let meet = || {
                everyone.wait();
            };
            let meet = &meet;
            for _ in 0..20 {
                // The closure's own worker takes part once it waits.
                pool.scope(|s| (0..width).for_each(|_| s.spawn(move |_| meet())));
                pool.scope_fifo(|s| (0..width).for_each(|_| s.spawn_fifo(move |_| meet())));
                pool.in_place_scope(|s| (0..width).for_each(|_| s.spawn(move |_| meet())));
            }
            assert_all_free(&pool);
        }
    });
}

#[test]
fn all_workers_meet_in_spawned_jobs() {
    watchdog(|| {
        for width in [2, 8, 64] {
            let (pool, everyone) = (pool(width), std::sync::Arc::new(Barrier::new(width)));
            let (sender, receiver) = mpsc::channel();
            let job = || {
                let (everyone, sender) = (std::sync::Arc::clone(&everyone), sender.clone());
                move || sender.send(everyone.wait().is_leader()).unwrap()
            };
            for _ in 0..20 {
                // From outside, then from a worker.
                (0..width).for_each(|_| pool.spawn(job()));
                let outside = receiver.iter().take(width).filter(|&leader| leader).count();
                pool.install(|| (0..width).for_each(|_| drowse::spawn(job())));
                let inside = receiver.iter().take(width).filter(|&leader| leader).count();
                assert_eq!((outside, inside), (1, 1));
            }
        }
    });
}
