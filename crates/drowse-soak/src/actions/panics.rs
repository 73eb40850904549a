//! Panics, and where they arrive.

use super::broadcast::{Letters, all_stay};
use super::{Action, action};
use crate::book::Page;
use crate::plan::MAX_WIDTH;
use crate::turn::{Job, Turn};
use crate::verdict::fail;
use crate::world::Bomb;
use std::panic::{AssertUnwindSafe, catch_unwind};

pub(super) const ACTIONS: &[Action] = &[
    action("panic_in_join", 2, in_join).of_jobs(2),
    action("panic_in_scope", 1, in_scope),
    action("panic_in_scope_body", 1, in_scope_body).of_jobs(2),
    action("panic_in_install", 1, in_install),
    action("panic_spawned", 1, spawned),
    action("panic_in_handle", 1, in_handle),
    action("panic_in_broadcast", 1, in_broadcast).of_jobs(MAX_WIDTH).when(all_stay),
];

/// Calls `f`, whose panic must be that of one of these jobs.
fn must_panic<R>(among: &[Page], whose: &str, f: impl FnOnce() -> R) {
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(_) => fail(&format!("{whose} swallowed the panic of {among:?}")),
        Err(payload) => Bomb::demand(&*payload, among, whose),
    }
}

/// One half, or the other, or both: then the first counts.
fn in_join(turn: &mut Turn) {
    let place = turn.place();
    let [a, b] = turn.these(place.home);
    let (a, b, whose) = match turn.dice.below(3) {
        0 => (a.panicking(), b, 0),
        1 => (a, b.panicking(), 1),
        _ => (a.panicking(), b.panicking(), 0),
    };
    let page = [a.page(), b.page()][whose];
    must_panic(&[page], "join", || place.join(|| a.run(), || b.run()));
}

/// Some of the jobs: then the first in time counts.
fn in_scope(turn: &mut Turn) {
    let (place, number) = (turn.place(), turn.some(8));
    let panicking = 1 + turn.dice.below(number);
    let mut jobs = turn.jobs(number, place.home);
    jobs = jobs
        .into_iter()
        .enumerate()
        .map(|(i, job)| if i < panicking { job.panicking() } else { job })
        .collect();
    let among: Vec<_> = jobs[..panicking].iter().map(Job::page).collect();
    must_panic(&among, "scope", || {
        place.scope(|s| {
            for job in jobs {
                s.spawn(|_| job.go());
            }
        });
    });
}

/// The body, before its jobs have ended.
fn in_scope_body(turn: &mut Turn) {
    let place = turn.place();
    let number = turn.some(6).max(2);
    let mut jobs = turn.jobs(number, place.home);
    let body = jobs.pop().expect("two at least").panicking();
    must_panic(&[body.page()], "scope", || {
        place.scope(|s| {
            for job in jobs {
                s.spawn(|_| job.go());
            }
            body.run();
        });
    });
}

fn in_install(turn: &mut Turn) {
    let place = turn.place();
    let [job] = turn.these(place.home);
    let job = job.panicking();
    must_panic(&[job.page()], "install", || place.install(|| job.run()));
}

/// Nobody waits: the pool's handler hears of it.
fn spawned(turn: &mut Turn) {
    let (place, number) = (turn.place(), turn.some(4));
    for job in turn.jobs(number, place.home) {
        let job = job.loud();
        if turn.dice.one_in(2) {
            place.spawn_fifo(|| job.go());
        } else {
            place.spawn(|| job.go());
        }
    }
}

fn in_handle(turn: &mut Turn) {
    let place = turn.place();
    let [job] = turn.these(place.home);
    let job = job.panicking();
    let page = job.page();
    let handle = place.spawn_handle(|| job.run());
    if turn.dice.one_in(3) {
        return;
    }
    match handle.join() {
        Ok(_) => fail("a handle lost a panic"),
        Err(error) => Bomb::demand(&*error.into_panic(), &[page], "a handle"),
    }
}

/// On some workers: then the lowest counts.
fn in_broadcast(turn: &mut Turn) {
    let place = turn.place();
    let (width, mut first) = (place.width(), None);
    let jobs: Vec<_> = turn.jobs(width, place.home);
    let last = turn.dice.below(width);
    let mut some = |(index, job): (usize, Job)| {
        if index == last || turn.dice.one_in(8) {
            first.get_or_insert(job.page());
            return job.panicking();
        }
        job
    };
    let jobs = jobs.into_iter().enumerate().map(&mut some).collect();
    let letters = Letters::of(jobs);
    let first = first.expect("one of them panics");
    must_panic(&[first], "broadcast", || {
        place.broadcast(|context| letters.take(context.index()).run())
    });
}
