//! The real pool, whose workers block and lend their places to spares, under random schedules:
//! whoever waits is served, and no two who run have the same index.
#![cfg(drowse_shuttle)]

use drowse::{ThreadPool, ThreadPoolBuilder, Waiting};
use drowse_models::{Choose, Gate, for_each_protocol, random_schedules};
use drowse_sync::Arc;
use drowse_sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Those who run with each index.
type Indices = [AtomicUsize; 3];

fn pool_of(choose: Choose, workers: usize, spares: usize) -> ThreadPoolBuilder {
    let builder = ThreadPoolBuilder::new().num_threads(workers).sleep_protocol(choose());
    builder.max_spare_threads(spares)
}

fn with_pool(builder: ThreadPoolBuilder, f: impl FnOnce(&ThreadPool)) {
    let pool = builder.build().unwrap();
    f(&pool);
    pool.shutdown();
}

/// Does something with its index, if it has one, that nobody else may do meanwhile.
fn use_index(indices: &Indices) {
    if let Some(index) = drowse::current_thread_index() {
        assert_eq!(indices[index].fetch_add(1, Ordering::Relaxed), 0, "two have index {index}");
        drowse_sync::hint::spin_loop();
        indices[index].fetch_sub(1, Ordering::Relaxed);
    }
}

/// Blocks until a child of its own has run.
fn ask_a_child(indices: &Arc<Indices>) {
    let gate = Arc::new(Gate::new());
    let (answer, of_child) = (Arc::clone(&gate), Arc::clone(indices));
    drowse::spawn(move || {
        use_index(&of_child);
        answer.open();
    });
    use_index(indices);
    drowse::blocking(|| gate.pass());
    use_index(indices);
}

fn one_worker_blocks_until_its_child_has_run(choose: Choose) {
    random_schedules(1_000, move || {
        with_pool(pool_of(choose, 1, 1), |pool| {
            let indices = Arc::default();
            pool.install(|| (0..2).for_each(|_| ask_a_child(&indices)));
            assert_eq!(pool.install(drowse::current_thread_index), Some(0));
        });
    });
}

/// So do its children.
fn all_workers_block_until_their_children_have_run(choose: Choose) {
    random_schedules(1_000, move || {
        with_pool(pool_of(choose, 2, 2), |pool| {
            let indices = Arc::default();
            pool.join(|| ask_a_child(&indices), || ask_a_child(&indices));
        });
    });
}

/// Where there are fewer spares than workers that block, one after the other gets its answer.
fn there_are_fewer_spares_than_workers_that_block(choose: Choose) {
    random_schedules(1_000, move || {
        with_pool(pool_of(choose, 3, 1), |pool| {
            let indices = Arc::default();
            pool.scope(|s| (0..3).for_each(|_| s.spawn(|_| ask_a_child(&indices))));
        });
    });
}

/// Those who block, and those who come back, are broadcast to like others.
fn letters_come_while_workers_block(choose: Choose) {
    random_schedules(600, move || {
        with_pool(pool_of(choose, 2, 1), |pool| {
            let indices: Arc<Indices> = Arc::default();
            let (_, letters) = pool
                .join(|| ask_a_child(&indices), || pool.broadcast(|_| use_index(&indices)).len());
            assert_eq!(letters, 2);
        });
    });
}

/// In isolation, a worker that waits for another pool lends its place.
fn pools_that_call_each_other_in_isolation(choose: Choose) {
    random_schedules(600, move || {
        let builder = || pool_of(choose, 1, 1).waiting(Waiting::Isolate);
        with_pool(builder(), |one| {
            with_pool(builder(), |two| {
                let there_and_back =
                    one.install(|| two.install(|| one.install(|| drowse::join(|| 1, || 2))));
                assert_eq!(there_and_back, (1, 2));
            });
        });
    });
}

/// The spare that blocks gets its place back from the worker, which has run a job of the scope, and
/// then waits for the scope.
fn a_scope_ends_while_its_worker_waits_for_a_place(choose: Choose) {
    random_schedules(1_000, move || {
        with_pool(pool_of(choose, 1, 2), |pool| {
            let gates = [(); 5].map(|()| Arc::new(Gate::new()));
            let [first, second, is_back, has_place, end] = gates.clone();
            pool.spawn(move || drowse::blocking(|| first.pass()));
            pool.spawn(move || {
                drowse::blocking(|| second.pass());
                is_back.open();
                while drowse::current_thread_index().is_none() {
                    drowse_sync::hint::spin_loop();
                }
                has_place.open();
                end.pass();
            });
            let [unblock_first, unblock_second, is_back, has_place, end] = gates;
            pool.in_place_scope(|s| {
                s.spawn(|_| {
                    unblock_second.open();
                    is_back.pass();
                });
                unblock_first.open();
                has_place.pass();
            });
            end.open();
        });
    });
}

/// Of two workers one is busy. The other one blocks, as does its spare; it comes back, has nothing
/// to do, and leaves, if it may, while the spare asks for its place again.
fn a_place_that_is_wanted_does_not_stay_with_a_worker_that_leaves(choose: Choose) {
    random_schedules(3_000, move || {
        with_pool(pool_of(choose, 2, 2).idle_timeout(Duration::from_nanos(1)), |pool| {
            let gates = [(); 6].map(|()| Arc::new(Gate::new()));
            let [is_busy, end, first, first_ends, second, second_ends] = gates.clone();
            pool.spawn(move || {
                is_busy.open();
                end.pass();
            });
            gates[0].pass();
            pool.spawn(move || {
                drowse::blocking(|| first.pass());
                first_ends.open();
            });
            pool.spawn(move || {
                drowse::blocking(|| second.pass());
                while drowse::current_thread_index().is_none() {
                    drowse_sync::hint::spin_loop();
                }
                second_ends.open();
            });
            gates[2].open();
            gates[3].pass();
            // The worker may be anywhere on its way to leave.
            for _ in 0..drowse_sync::random_seed() % 128 {
                drowse_sync::hint::spin_loop();
            }
            gates[4].open();
            gates[5].pass();
            gates[1].open();
        });
    });
}

/// Without a spare: what comes back descends from what the worker waits for. In the other pool it
/// is sent by two workers, if the other half is stolen.
fn what_comes_back_in_isolation_is_run_by_the_worker_that_waits(choose: Choose) {
    random_schedules(1_000, move || {
        let builder = |workers| pool_of(choose, workers, 0).waiting(Waiting::Isolate);
        with_pool(builder(1), |one| {
            with_pool(builder(2), |two| {
                let back = |number| one.install(move || number);
                let forked = one.install(|| two.install(|| drowse::join(|| back(1), || back(2))));
                assert_eq!(forked, (1, 2));
            });
        });
    });
}

for_each_protocol!(
    what_comes_back_in_isolation_is_run_by_the_worker_that_waits,
    a_place_that_is_wanted_does_not_stay_with_a_worker_that_leaves,
    a_scope_ends_while_its_worker_waits_for_a_place,
    one_worker_blocks_until_its_child_has_run,
    all_workers_block_until_their_children_have_run,
    there_are_fewer_spares_than_workers_that_block,
    letters_come_while_workers_block,
    pools_that_call_each_other_in_isolation,
);
