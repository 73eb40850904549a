//! `join`, `join_context`.

use super::{Action, action};
use crate::place::Home;
use crate::turn::Turn;
use std::thread;

pub(super) const ACTIONS: &[Action] = &[
    action("join", 12, join).of_jobs(2),
    action("join_context", 2, join_context).of_jobs(2).when(|turn| turn.home != Home::Outside),
];

fn join(turn: &mut Turn) {
    let place = turn.place();
    let [a, b] = turn.these(place.home);
    let tokens = (a.token(), b.token());
    turn.demand("the result", place.join(|| a.run(), || b.run()), tokens);
}

fn join_context(turn: &mut Turn) {
    let [a, b] = turn.these(turn.home);
    let tokens = (a.token(), b.token());
    let here = thread::current().id();
    let got = drowse::join_context(
        |context| (a.run(), context.migrated()),
        |context| (b.run(), !context.migrated() && thread::current().id() != here),
    );
    turn.demand("the result", got, ((tokens.0, false), (tokens.1, false)));
}
