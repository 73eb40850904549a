//! Jobs for each worker.

use super::{Action, action};
use crate::place::{Home, Place};
use crate::plan::MAX_WIDTH;
use crate::turn::{Job, Turn};
use crate::verdict::{demand, fail};
use std::sync::Mutex;

pub(super) const ACTIONS: &[Action] = &[
    action("broadcast", 2, broadcast).of_jobs(MAX_WIDTH).when(all_stay),
    action("spawn_broadcast", 1, spawn_broadcast).of_jobs(MAX_WIDTH).when(all_stay),
    action("scope_broadcast", 1, scope_broadcast).of_jobs(MAX_WIDTH).when(all_stay),
];

/// Where all workers read their letters: none leaves before, and none waits in isolation. (That one
/// takes a letter which it has made itself, or a thief of its, for what it waits for, if its deque
/// had got as far when it was made, however long that is ago.)
pub(super) fn all_stay(turn: &Turn) -> bool {
    turn.home != Home::TakenOver && !turn.world.plan.isolates
}

/// A job for each worker. Each takes its own.
pub(super) struct Letters(Vec<Mutex<Option<Job>>>);

impl Letters {
    pub(super) fn new(turn: &mut Turn, place: Place) -> Self {
        Self::of(turn.jobs(place.width(), place.home))
    }

    pub(super) fn of(jobs: Vec<Job>) -> Self {
        Self(jobs.into_iter().map(|job| Mutex::new(Some(job))).collect())
    }

    pub(super) fn take(&self, index: usize) -> Job {
        let letter = self.0[index].lock().map(|mut letter| letter.take());
        letter
            .ok()
            .flatten()
            .unwrap_or_else(|| fail(&format!("worker {index} runs a broadcast twice")))
    }
}

fn broadcast(turn: &mut Turn) {
    let place = turn.place();
    let jobs = turn.jobs(place.width(), place.home);
    let tokens: Vec<_> = jobs.iter().map(Job::token).collect();
    let letters = Letters::of(jobs);
    let got = place.broadcast(|context| {
        let index = context.index();
        let token = letters.take(index).run();
        demand!(context.index() == index, "worker {index} is now {}", context.index());
        token
    });
    turn.demand("the results", got, tokens);
}

fn spawn_broadcast(turn: &mut Turn) {
    let place = turn.place();
    let letters = Letters::new(turn, place);
    place.spawn_broadcast(move |context| letters.take(context.index()).go());
}

fn scope_broadcast(turn: &mut Turn) {
    let place = turn.place();
    let letters = Letters::new(turn, place);
    let letters = &letters;
    if turn.dice.one_in(2) {
        place.scope(|s| s.spawn_broadcast(move |_, context| letters.take(context.index()).go()));
    } else {
        let run =
            move |_: &_, context: drowse::BroadcastContext<'_>| letters.take(context.index()).go();
        place.in_place_scope_fifo(|s| s.spawn_broadcast(run));
    }
}
