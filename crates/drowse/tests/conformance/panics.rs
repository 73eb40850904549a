//! Panics where others sleep: the payload arrives, and the pool lives on.

use crate::common::{assert_works, caught, sleeping, until, until_all_sleep};
use crate::subject::{Subject, WIDTHS, rounds};
use std::panic::resume_unwind;
use std::sync::Mutex;
use std::sync::mpsc;

/// A payload that is nothing else.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Oops(pub(crate) usize);

/// Panics without a word on the standard error.
pub(crate) fn oops(number: usize) {
    resume_unwind(Box::new(Oops(number)));
}

/// Panics as it is dropped.
#[derive(Debug)]
pub(crate) struct Bomb(pub(crate) usize);

impl Drop for Bomb {
    fn drop(&mut self) {
        oops(self.0);
    }
}

pub(crate) fn a_panic_arrives_while_the_others_sleep(subject: Subject) {
    for width in WIDTHS {
        let pool = subject.pool(width);
        for round in 0..rounds(width, 60) {
            until_all_sleep(&pool);
            assert_eq!(caught::<Oops, _>(|| pool.install(|| oops(round))), Oops(round));
            until_all_sleep(&pool);
            assert_eq!(caught::<Oops, _>(|| pool.join(|| (), || oops(round))), Oops(round));
            until_all_sleep(&pool);
            assert_eq!(caught::<Oops, _>(|| pool.join(|| oops(round), || ())), Oops(round));
            until_all_sleep(&pool);
            let scope = || pool.scope(|s| s.spawn(|s| s.spawn(|_| oops(round))));
            assert_eq!(caught::<Oops, _>(scope), Oops(round));
        }
        assert_works(&pool);
    }
}

/// The thief panics when everyone else sleeps, the joiner too.
pub(crate) fn a_panic_of_a_stolen_half_wakes_the_joiner(subject: Subject) {
    for width in [2, 8, 64] {
        let pool = subject.pool(width);
        for round in 0..rounds(width, 200) {
            let (started, starts) = mpsc::channel();
            let thief = || {
                started.send(()).unwrap();
                until("the others sleep", || sleeping(&pool) == width - 1);
                oops(round);
            };
            let payload = caught::<Oops, _>(|| pool.join(move || starts.recv().unwrap(), thief));
            assert_eq!(payload, Oops(round));
        }
        assert_works(&pool);
    }
}

pub(crate) fn a_panic_of_a_spawned_job_is_handed_over(subject: Subject) {
    for width in WIDTHS {
        let (sender, panics) = mpsc::channel();
        let sender = Mutex::new(sender);
        let builder = subject.builder(width).panic_handler(move |payload| {
            sender.lock().unwrap().send(*payload.downcast().unwrap()).unwrap()
        });
        let pool = builder.build().unwrap();
        for round in 0..rounds(width, 200) {
            until_all_sleep(&pool);
            pool.spawn(move || oops(round));
            assert_eq!(panics.recv(), Ok(Oops(round)));
        }
        assert_works(&pool);
    }
}

pub(crate) fn a_panic_on_every_worker(subject: Subject) {
    for width in WIDTHS {
        let pool = subject.pool(width);
        for round in 0..rounds(width, 60) {
            until_all_sleep(&pool);
            assert_eq!(caught::<Oops, _>(|| pool.broadcast(|_| oops(round))), Oops(round));
        }
        assert_works(&pool);
    }
}
