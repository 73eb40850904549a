//! Guests of the real pool, under random schedules: whoever comes is served, whoever waits is
//! woken, and what is left behind is done.
#![cfg(drowse_shuttle)]

use drowse::{ThreadPool, ThreadPoolBuilder};
use drowse_models::{Choose, Gate, for_each_protocol, mutual_wait, random_schedules, with_pool_of};
use drowse_sync::Arc;
use drowse_sync::atomic::{AtomicUsize, Ordering};

fn with_pool(choose: Choose, workers: usize, f: impl FnOnce(&ThreadPool)) {
    let builder = ThreadPoolBuilder::new().num_threads(workers).sleep_protocol(choose());
    with_pool_of(builder.guests(true), f);
}

fn several_come_and_go(choose: Choose) {
    random_schedules(1_000, move || {
        with_pool(choose, 2, |pool| {
            let visits = |n: usize| {
                for _ in 0..2 {
                    assert_eq!(pool.install(|| drowse::join(|| n, || n + 1)), (n, n + 1));
                }
            };
            shuttle::thread::scope(|s| (0..3).for_each(|n| _ = s.spawn(move || visits(n))));
        });
    });
}

fn halves_of_a_guest_that_wait_for_each_other(choose: Choose) {
    random_schedules(1_000, move || {
        with_pool(choose, 3, |pool| {
            (0..2).for_each(|_| mutual_wait(pool));
        });
    });
}

fn what_a_guest_leaves_is_done(choose: Choose) {
    random_schedules(1_000, move || {
        let done = Arc::new(AtomicUsize::new(0));
        with_pool(choose, 2, |pool| {
            let (one, other) = (Arc::clone(&done), Arc::clone(&done));
            pool.install(move || {
                drowse::spawn(move || _ = one.fetch_add(1, Ordering::Relaxed));
                drowse::spawn_broadcast(move |_| _ = other.fetch_add(10, Ordering::Relaxed));
            });
            pool.in_place_scope(|s| s.spawn(|_| _ = done.fetch_add(100, Ordering::Relaxed)));
            assert!(done.load(Ordering::Relaxed) >= 100);
        });
        assert_eq!(done.load(Ordering::Relaxed), 121);
    });
}

/// The guest spawns jobs of a scope that is not its own, and the other worker runs them. The one
/// whose seat it has need not get up.
fn a_scope_that_a_guest_spawns_into_ends(choose: Choose) {
    random_schedules(1_000, move || {
        with_pool(choose, 2, |pool| {
            let jobs = [Gate::new(), Gate::new()];
            pool.in_place_scope(|s| {
                pool.install(|| {
                    // The second one leaves a count in stock.
                    jobs.iter().for_each(|job| s.spawn(|_| job.open()));
                    jobs.iter().for_each(Gate::pass);
                });
            });
        });
    });
}

for_each_protocol!(
    several_come_and_go,
    halves_of_a_guest_that_wait_for_each_other,
    what_a_guest_leaves_is_done,
    a_scope_that_a_guest_spawns_into_ends,
);
