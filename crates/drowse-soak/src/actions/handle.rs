//! `spawn_handle`, and what is done with the handle.

use super::look::may_yield;
use super::{Action, action};
use crate::place::Place;
use crate::turn::{Token, Turn};
use crate::verdict::fail;
use drowse::{JoinError, JoinHandle};

pub(super) const ACTIONS: &[Action] = &[
    action("spawn_handle", 3, joined),
    action("spawn_handle_detached", 1, detached),
    action("spawn_handle_polled", 1, polled).when(may_yield),
];

/// Some jobs with handles, and what they are to return.
pub(super) fn spawn_handles(turn: &mut Turn, place: Place) -> Vec<(Token, JoinHandle<Token>)> {
    let number = turn.some(6);
    let jobs = turn.jobs(number, place.home).into_iter();
    jobs.map(|job| (job.token(), place.spawn_handle(|| job.run()))).collect()
}

/// Demands that a job, which was not to panic, has returned this.
pub(super) fn expect(turn: &Turn, token: Token, result: Result<Token, JoinError>) {
    match result {
        Ok(got) => turn.demand("the result", got, token),
        Err(_) => fail("a handle has a panic, and nobody panicked"),
    }
}

/// Several, waited for in some order.
fn joined(turn: &mut Turn) {
    let place = turn.place();
    let mut handles = spawn_handles(turn, place);
    while !handles.is_empty() {
        let (token, handle) = handles.swap_remove(turn.dice.below(handles.len()));
        expect(turn, token, handle.join());
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
    expect(turn, token, handle.join());
}
