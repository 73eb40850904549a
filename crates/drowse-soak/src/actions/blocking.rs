//! Jobs that block, while others work in their place.

use super::{Action, action};
use crate::place::Home;
use crate::turn::Turn;
use std::thread;
use std::time::Duration;

pub(super) const ACTIONS: &[Action] = &[
    action("blocking_nap", 2, nap),
    action("blocking_at_work", 1, at_work).of_jobs(2).when(somebody_stands_in),
    action("blocking_install", 1, install).when(somebody_stands_in),
];

/// In a pool that lasts and has spares: nobody knows what index one has who is away.
fn somebody_stands_in(turn: &Turn) -> bool {
    matches!(turn.home, Home::Pool(pool) if turn.world.plan.pools[pool].lends())
}

/// What is short enough for nobody to think that it lasts for ever.
fn a_moment(turn: &mut Turn) -> Duration {
    Duration::from_micros(turn.dice.pick(&[0, 20, 200, 2_000]))
}

fn nap(turn: &mut Turn) {
    let (place, number, time) = (turn.place(), turn.some(3), a_moment(turn));
    for job in turn.jobs(number, place.home) {
        place.spawn(|| job.go());
    }
    drowse::blocking(|| thread::park_timeout(time));
}

/// Who is away works, instead of blocking.
fn at_work(turn: &mut Turn) {
    let time = a_moment(turn);
    let [a, b] = turn.these(turn.home);
    let tokens = (a.token(), b.token());
    let got = drowse::blocking(|| {
        thread::park_timeout(time);
        drowse::join(|| a.run(), || b.run())
    });
    turn.demand("the result", got, tokens);
}

/// Waits for another pool, or this one.
fn install(turn: &mut Turn) {
    let place = turn.place();
    let [job] = turn.these(place.home);
    let token = job.token();
    turn.demand("the result", drowse::blocking(|| place.install(|| job.run())), token);
}
