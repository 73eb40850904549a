//! Workers that run nothing but their own while they wait. The jobs themselves notice others.

use super::{Action, action};
use crate::place::Home;
use crate::turn::Turn;

pub(super) const ACTIONS: &[Action] = &[
    action("isolate_join", 3, join).of_jobs(2).when(may_isolate),
    action("isolate_scope", 2, scope).when(may_isolate),
    // A thread outside that waits for a handle, and is let in as a guest, helps with anything.
    action("isolate_handle", 1, handle).when(|turn| may_isolate(turn) && turn.home != Home::Outside),
];

fn may_isolate(turn: &Turn<'_>) -> bool {
    turn.world.plan.isolates
}

fn join(turn: &mut Turn<'_>) {
    turn.isolated(|turn| {
        let place = turn.place();
        let [a, b] = turn.these(place.home);
        let tokens = (a.token(), b.token());
        turn.demand("the result", place.join(|| a.run(), || b.run()), tokens);
    });
}

fn scope(turn: &mut Turn<'_>) {
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

fn handle(turn: &mut Turn<'_>) {
    turn.isolated(|turn| {
        let place = turn.place();
        let [job] = turn.these(place.home);
        let token = job.token();
        let got = place.spawn_handle(|| job.run()).join().ok();
        turn.demand("the result", got, Some(token));
    });
}
