//! Scopes of all kinds.

use super::{Action, action};
use crate::turn::{Job, Turn};
use drowse::{Scope, ScopeFifo};
use std::sync::atomic::{AtomicUsize, Ordering};

pub(super) const ACTIONS: &[Action] = &[
    action("scope", 4, scope),
    action("scope_nested", 2, scope_nested),
    action("scope_spawn_all", 2, scope_spawn_all),
    action("in_place_scope", 2, in_place_scope),
    action("scope_fifo", 2, scope_fifo),
    action("in_place_scope_fifo", 1, in_place_scope_fifo),
];

/// Most jobs that one scope has at first.
const MOST: usize = 12;

/// How many jobs of the scope have ended: borrowed from the frame around the scope.
#[derive(Default)]
struct Ended(AtomicUsize);

impl Ended {
    fn run(&self, job: Job) {
        job.run();
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn demand(&self, turn: &Turn, jobs: usize) {
        turn.demand("the number of jobs that have ended", self.0.load(Ordering::Relaxed), jobs);
    }
}

fn scope(turn: &mut Turn) {
    let (place, number, ended) = (turn.place(), turn.some(MOST), Ended::default());
    let jobs = turn.jobs(number, place.home);
    let result = place.scope(|s| {
        for job in jobs {
            s.spawn(|_| ended.run(job));
        }
        number
    });
    turn.demand("the result", result, number);
    ended.demand(turn, number);
}

/// Each job spawns the next, and half of them from the job's end.
fn scope_nested(turn: &mut Turn) {
    fn add<'scope>(s: &Scope<'scope>, mut jobs: Vec<Job>, ended: &'scope Ended) {
        if let Some(job) = jobs.pop() {
            s.spawn(move |s| {
                let others = jobs.split_off(jobs.len() / 2);
                add(s, others, ended);
                ended.run(job);
                add(s, jobs, ended);
            });
        }
    }
    let (place, number, ended) = (turn.place(), turn.some(MOST), Ended::default());
    let jobs = turn.jobs(number, place.home);
    place.scope(|s| add(s, jobs, &ended));
    ended.demand(turn, number);
}

fn scope_spawn_all(turn: &mut Turn) {
    let (place, number, ended) = (turn.place(), turn.some(2 * MOST), Ended::default());
    let jobs = turn.jobs(number, place.home);
    let ended_ref = &ended;
    place.scope(|s| {
        s.spawn_all(jobs.into_iter().map(|job| move |_: &Scope<'_>| ended_ref.run(job)))
    });
    ended.demand(turn, number);
}

fn in_place_scope(turn: &mut Turn) {
    let (place, number, ended) = (turn.place(), turn.some(MOST), Ended::default());
    let jobs = turn.jobs(number, place.home);
    let thread = std::thread::current().id();
    let stayed = place.in_place_scope(|s| {
        for job in jobs {
            s.spawn(|_| ended.run(job));
        }
        std::thread::current().id() == thread
    });
    turn.demand("whether it stayed", stayed, true);
    ended.demand(turn, number);
}

fn scope_fifo(turn: &mut Turn) {
    fn add<'scope>(s: &ScopeFifo<'scope>, mut jobs: Vec<Job>, ended: &'scope Ended) {
        if let Some(job) = jobs.pop() {
            s.spawn_fifo(move |s| {
                add(s, jobs, ended);
                ended.run(job);
            });
        }
    }
    let (place, number, ended) = (turn.place(), turn.some(MOST), Ended::default());
    let mut jobs = turn.jobs(number, place.home);
    let others = jobs.split_off(number / 2);
    place.scope_fifo(|s| {
        add(s, jobs, &ended);
        add(s, others, &ended);
    });
    ended.demand(turn, number);
}

fn in_place_scope_fifo(turn: &mut Turn) {
    let (place, number, ended) = (turn.place(), turn.some(MOST), Ended::default());
    let jobs = turn.jobs(number, place.home);
    place.in_place_scope_fifo(|s| {
        for job in jobs {
            s.spawn_fifo(|_| ended.run(job));
        }
    });
    ended.demand(turn, number);
}
