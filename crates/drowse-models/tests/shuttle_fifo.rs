//! The order of jobs in isolation, under random schedules.
#![cfg(drowse_shuttle)]

use drowse::{ThreadPoolBuilder, Waiting};
use drowse_models::{Choose, for_each_protocol, random_schedules, with_pool_of};
use drowse_sync::{Mutex, hint};

/// The worker that spawns waits in between: it may run the newer two jobs of the fifo then, and not
/// the older two. Each worker runs what it may oldest first.
fn a_fifo_keeps_its_order(choose: Choose) {
    random_schedules(600, move || {
        let builder = ThreadPoolBuilder::new().num_threads(2).sleep_protocol(choose());
        with_pool_of(builder.waiting(Waiting::Isolate), |pool| {
            let runs: [_; 2] = std::array::from_fn(|_| Mutex::new(Vec::<usize>::new()));
            let index = || drowse::current_thread_index().expect("a worker");
            let (runs, run) = (&runs, |job| runs[index()].lock().push(job));
            pool.scope_fifo(move |s| {
                (0..2).for_each(|job| s.spawn_fifo(move |_| run(job)));
                drowse::join(
                    || (2..4).for_each(|job| s.spawn_fifo(move |_| run(job))),
                    || (0..40).for_each(|_| hint::spin_loop()),
                );
                let inside = runs[index()].lock().clone();
                assert!(
                    inside.is_sorted() && inside.iter().all(|job| *job >= 2),
                    "{inside:?} in the join"
                );
            });
            let of = |worker: usize| runs[worker].lock().clone();
            for worker in 0..2 {
                let in_order =
                    |jobs: [usize; 2]| of(worker).iter().filter(|it| jobs.contains(it)).is_sorted();
                assert!(in_order([0, 1]) && in_order([2, 3]), "{runs:?}");
            }
            let mut all = [of(0), of(1)].concat();
            all.sort_unstable();
            assert_eq!(all, [0, 1, 2, 3]);
        });
    });
}

for_each_protocol!(a_fifo_keeps_its_order);
