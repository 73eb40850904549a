//! The end of pools, whatever their workers are doing.

use crate::common::{assert_works, sleeping, until_all_sleep};
use crate::subject::{Subject, WIDTHS, rounds};
use drowse::{SleepPolicy, SleepProtocol, ThreadPool};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

/// Builds a pool, does something with it, drops it, and waits until every worker has left; many
/// times for each width.
#[track_caller]
fn begin_and_end(subject: Subject, most: usize, meanwhile: impl Fn(&ThreadPool)) {
    for width in WIDTHS {
        for round in 0..rounds(width, most) {
            let (sender, exits) = mpsc::channel();
            let sender = Mutex::new(sender);
            let builder = subject
                .builder(width)
                .exit_handler(move |_| sender.lock().unwrap().send(()).unwrap());
            let pool = builder.build().unwrap();
            meanwhile(&pool);
            // They have places of workers, for a while, and handlers like them.
            let spares = pool.metrics().loans.threads_started as usize;
            drop(pool);
            // Ends when the handler is gone, and with it the last thread.
            assert_eq!(exits.iter().count(), width + spares, "round {round}");
        }
    }
}

pub(crate) fn of_pools_that_have_just_begun(subject: Subject) {
    begin_and_end(subject, 200, |_| ());
}

pub(crate) fn of_pools_that_have_worked(subject: Subject) {
    begin_and_end(subject, 100, assert_works);
}

pub(crate) fn of_pools_that_sleep(subject: Subject) {
    begin_and_end(subject, 100, until_all_sleep);
}

/// Nobody ever gets sleepy; or, by a protocol that lets few search, nobody who need not.
pub(crate) fn of_pools_that_search(subject: Subject) {
    let patient = SleepPolicy { rounds_until_sleepy: u32::MAX, ..SleepPolicy::default() };
    begin_and_end(subject.with(patient), 60, |pool| {
        assert_eq!(pool.install(|| 1), 1);
        let most = if subject.protocol == SleepProtocol::Relay {
            pool.current_num_threads() - 1
        } else {
            0
        };
        assert!(sleeping(pool) <= most);
    });
}

/// A worker that finds nothing goes to sleep, and does so at once.
pub(crate) fn of_pools_that_are_eager_to_sleep(subject: Subject) {
    let eager = SleepPolicy {
        rounds_until_sleepy: 0,
        rounds_while_sleepy: 0,
        rounds_on_watch: 0,
        pause: drowse::Pause::Spin(0),
    };
    begin_and_end(subject.with(eager), 100, |_| ());
    begin_and_end(subject.with(eager), 50, assert_works);
}

/// A pool ends when it has run what was spawned.
pub(crate) fn of_pools_with_jobs_left(subject: Subject) {
    let done = Arc::new(AtomicUsize::new(0));
    let spawned = AtomicUsize::new(0);
    begin_and_end(subject, 100, |pool| {
        for _ in 0..20 {
            spawned.fetch_add(1, Ordering::SeqCst);
            let done = Arc::clone(&done);
            pool.spawn(move || _ = done.fetch_add(1, Ordering::SeqCst));
        }
    });
    assert_eq!(done.load(Ordering::SeqCst), spawned.into_inner());
}
