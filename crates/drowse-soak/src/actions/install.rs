//! From pool to pool.

use super::{Action, action};
use crate::place::Home;
use crate::turn::Turn;

pub(super) const ACTIONS: &[Action] = &[
    action("install", 4, install),
    action("install_there_and_back", 1, there_and_back)
        .of_jobs(2)
        .when(|turn| !turn.world.plan.upward && !turn.is_locked()),
    // Who blocks must not be needed by whom it waits for.
    action("install_blocking", 2, blocking).when(may_block),
];

fn may_block(turn: &Turn) -> bool {
    turn.world.plan.upward || turn.world.plan.ample || turn.home == Home::Outside
}

fn install(turn: &mut Turn) {
    let place = turn.place();
    let [job] = turn.these(place.home);
    let token = job.token();
    turn.demand("the result", place.install(|| job.run()), token);
}

fn there_and_back(turn: &mut Turn) {
    let (there, back) = (turn.place(), turn.pool());
    let mut jobs = turn.jobs(2, there.home);
    let b = jobs.pop().expect("two were made").at(back.home);
    let a = jobs.pop().expect("two were made");
    let tokens = (a.token(), b.token());
    let got = there.install(|| (a.run(), back.install(|| b.run())));
    turn.demand("the results", got, tokens);
}

fn blocking(turn: &mut Turn) {
    let place = turn.place();
    let [job] = turn.these(place.home);
    let token = job.token();
    let got = match place.pool {
        Some(pool) => pool.install_blocking(|| job.run()),
        None => place.install(|| job.run()),
    };
    turn.demand("the result", got, token);
}
