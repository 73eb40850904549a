//! What looks on, and what only helps.

use super::{Action, action};
use crate::place::Home;
use crate::turn::Turn;
use std::hint;

pub(super) const ACTIONS: &[Action] =
    &[action("yield", 1, yielding).of_jobs(2).when(may_yield), action("metrics", 1, metrics)];

/// In isolation it runs jobs of the whole region, which are others than those we wait for.
pub(super) fn may_yield(turn: &Turn) -> bool {
    turn.home != Home::Outside && !turn.is_isolated() && !turn.home.isolates(turn.world)
}

/// Helps with whatever there is, in the middle of a join.
fn yielding(turn: &mut Turn) {
    let here = turn.here();
    let [a, b] = turn.these(turn.home);
    let times = turn.dice.below(4);
    let help = move || {
        for _ in 0..times {
            drowse::yield_now();
            drowse::yield_local();
        }
        a.run()
    };
    here.join(help, || b.run());
}

/// Reads what pools say of themselves, while they are at it.
fn metrics(turn: &mut Turn) {
    let place = turn.place();
    let [job] = turn.these(place.home);
    for pool in turn.world.pools() {
        let metrics = pool.metrics();
        turn.demand("the number of workers", metrics.workers.len(), pool.current_num_threads());
        hint::black_box((format!("{pool:?}"), metrics.to_string()));
    }
    place.spawn(|| job.go());
}
