//! Workers that run nothing but their own while they wait. The jobs themselves notice others.

use super::{Action, action};
use crate::place::Home;
use crate::turn::Turn;

pub(super) const ACTIONS: &[Action] = &[
    action("isolate_join", 3, join).of_jobs(2).when(may_isolate),
    action("isolate_scope", 2, scope).when(may_isolate),
    action("isolate_handle", 1, handle).when(may_isolate),
    // Whoever waits for the lock must not be one whom its holder waits for.
    action("isolate_lock", 3, lock).of_jobs(2).when(|turn| is_in_pool(turn) && !turn.is_locked()),
];

fn may_isolate(turn: &Turn) -> bool {
    turn.world.plan.isolates
}

/// In a pool that lasts.
fn is_in_pool(turn: &Turn) -> bool {
    may_isolate(turn) && matches!(turn.home, Home::Pool(_))
}

/// A lock, held across a join.
fn lock(turn: &mut Turn) {
    turn.locked(|turn| {
        let here = turn.here();
        let [a, b] = turn.these(here.home);
        let tokens = (a.token(), b.token());
        turn.demand("the result", here.join(|| a.run(), || b.run()), tokens);
    });
}

fn join(turn: &mut Turn) {
    turn.isolated(|turn| {
        let place = turn.place();
        let [a, b] = turn.these(place.home);
        let tokens = (a.token(), b.token());
        turn.demand("the result", place.join(|| a.run(), || b.run()), tokens);
    });
}

fn scope(turn: &mut Turn) {
    turn.isolated(|turn| {
        let (place, number) = (turn.place(), turn.some(8));
        let jobs = turn.jobs(number, place.home);
        place.scope(|s| {
            for job in jobs {
                s.spawn(|_| job.go());
            }
        });
    });
}

fn handle(turn: &mut Turn) {
    turn.isolated(|turn| {
        let place = turn.place();
        let [job] = turn.these(place.home);
        let token = job.token();
        let got = place.spawn_handle(|| job.run()).join().ok();
        turn.demand("the result", got, Some(token));
    });
}
