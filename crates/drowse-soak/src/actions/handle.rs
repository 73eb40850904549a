//! `spawn_handle`, and what is done with the handle.

use super::look::may_yield;
use super::{Action, action};
use crate::turn::Turn;
use crate::verdict::fail;

pub(super) const ACTIONS: &[Action] = &[
    action("spawn_handle", 3, joined),
    action("spawn_handle_detached", 1, detached),
    action("spawn_handle_polled", 1, polled).when(may_yield),
];

/// Several, waited for in some order.
fn joined(turn: &mut Turn) {
    let (place, number) = (turn.place(), turn.some(6));
    let mut handles: Vec<_> = turn
        .jobs(number, place.home)
        .into_iter()
        .map(|job| (job.token(), place.spawn_handle(|| job.run())))
        .collect();
    while !handles.is_empty() {
        let (token, handle) = handles.swap_remove(turn.dice.below(handles.len()));
        match handle.join() {
            Ok(got) => turn.demand("the result", got, token),
            Err(_) => fail("a handle has a panic, and nobody panicked"),
        }
    }
}

fn detached(turn: &mut Turn) {
    let (place, number) = (turn.place(), turn.some(3));
    for job in turn.jobs(number, place.home) {
        drop(place.spawn_handle(|| job.run()));
    }
}

/// Waited for by helping until it is done.
fn polled(turn: &mut Turn) {
    let [job] = turn.these(turn.home);
    let token = job.token();
    let handle = drowse::spawn_handle(|| job.run());
    for _ in 0..100 {
        if handle.is_finished() || drowse::yield_now() != Some(drowse::Yield::Executed) {
            break;
        }
    }
    match handle.join() {
        Ok(got) => turn.demand("the result", got, token),
        Err(_) => fail("a handle has a panic, and nobody panicked"),
    }
}
