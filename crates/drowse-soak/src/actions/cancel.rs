//! Scopes that are called off: each job runs, or is dropped.

use super::{Action, action};
use crate::turn::{Job, Turn};
use crate::verdict::fail;
use drowse::{CancelToken, Scope, ScopeFifo};

pub(super) const ACTIONS: &[Action] = &[
    action("cancel_by_body", 1, by_body).of_jobs(2),
    action("cancel_by_job", 2, by_job).of_jobs(2),
    action("cancel_by_token", 2, by_token).of_jobs(2),
    action("cancel_fifo", 1, fifo).of_jobs(2),
];

/// Most jobs of such a scope.
const MOST: usize = 16;

/// Jobs that need not run, and the last of them, which must not.
fn jobs(turn: &mut Turn, home: crate::place::Home) -> (Vec<Job>, Job) {
    let number = turn.some(MOST).max(2);
    let mut jobs: Vec<_> = turn.jobs(number, home).into_iter().map(Job::may_be_spared).collect();
    let last = jobs.pop().expect("two at least");
    (jobs, last)
}

/// One that comes too late.
fn too_late(job: Job) -> ! {
    drop(job);
    fail("a job began in a scope that was called off before");
}

fn by_body(turn: &mut Turn) {
    let place = turn.place();
    let (jobs, last) = jobs(turn, place.home);
    place.in_place_scope(|s| {
        for job in jobs {
            s.spawn(|_| job.go());
        }
        s.cancel();
        s.spawn_all([move |_: &Scope<'_>| too_late(last)]);
    });
}

/// One of them calls the others off, before it goes on or after.
fn by_job(turn: &mut Turn) {
    let place = turn.place();
    let (jobs, last) = jobs(turn, place.home);
    let (who, goes_on) = (turn.dice.below(jobs.len()), turn.dice.one_in(2));
    let mut last = Some(last);
    place.scope(|s| {
        for (number, job) in jobs.into_iter().enumerate() {
            let last = last.take_if(|_| number == who);
            s.spawn(move |s| {
                if let Some(last) = last.filter(|_| !goes_on) {
                    s.cancel();
                    s.spawn(|_| too_late(last));
                }
                job.go();
                if number == who {
                    s.cancel();
                }
            });
        }
    });
    drop(last);
}

/// A job elsewhere does, for two scopes.
fn by_token(turn: &mut Turn) {
    let (place, elsewhere) = (turn.place(), turn.place());
    let (mut jobs, caller) = jobs(turn, place.home);
    let caller = caller.at(elsewhere.home);
    let others = jobs.split_off(jobs.len() / 2);
    let (token, other) = (CancelToken::new(), CancelToken::new());
    let (at_once, cancelled) = (turn.dice.one_in(4), token.clone());
    elsewhere.spawn(move || {
        cancelled.cancel();
        caller.go();
    });
    place.scope(|s| {
        s.cancel_on(&token);
        for job in jobs {
            s.spawn(|_| job.go());
        }
        drowse::scope_fifo(|inner| {
            inner.cancel_on(if at_once { &other } else { &token });
            other.cancel();
            for job in others {
                inner.spawn_fifo(move |_| if at_once { too_late(job) } else { job.go() });
            }
        });
    });
}

fn fifo(turn: &mut Turn) {
    fn add<'scope>(s: &ScopeFifo<'scope>, mut jobs: Vec<Job>, left: usize) {
        let Some(job) = jobs.pop() else { return };
        s.spawn_fifo(move |s| {
            if jobs.len() < left {
                s.cancel();
            }
            add(s, jobs, left);
            job.go();
        });
    }
    let place = turn.place();
    let (jobs, last) = jobs(turn, place.home);
    let left = turn.dice.below(jobs.len() + 1);
    drop(last);
    place.scope_fifo(|s| add(s, jobs, left));
}
