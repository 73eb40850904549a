//! Jobs that block until another one runs: what a lost wake-up cannot be hidden from. Elsewhere
//! whoever posts a job mostly comes back for it.

use super::{Action, action};
use crate::place::{Home, Place};
use crate::turn::{Job, Turn};
use std::sync::mpsc;

pub(super) const ACTIONS: &[Action] = &[
    action("meet_in_join", 2, in_join).of_jobs(2).when(has_room),
    action("meet_in_scope", 1, in_scope).of_jobs(2).when(has_room),
    action("meet_spawned", 1, spawned).of_jobs(2).when(has_room),
];

/// In a pool in which two can run at once.
fn has_room(turn: &Turn<'_>) -> bool {
    matches!(turn.home, Home::Pool(index) if turn.world.plan.pools[index].width > 1)
}

/// Calls `meet` with this job and the other half of a meeting, if nobody meets in this pool now;
/// otherwise the jobs are joined.
fn meeting(turn: &mut Turn<'_>, meet: fn(Place, Job, Job)) {
    let Home::Pool(pool) = turn.home else { unreachable!("see `has_room`") };
    let here = turn.here();
    let [a, b] = turn.these(turn.home);
    let mut pair = Some((a, b));
    let mut take = || pair.take().expect("it is taken once");
    let has_met = turn.world.alone_in(pool, || {
        let (a, b) = take();
        meet(here, a, b);
    });
    if !has_met {
        let (a, b) = take();
        here.join(|| a.run(), || b.run());
    }
}

/// The first half waits for the second. Not the other way round as well: a job from outside that
/// gets a turn where the join forks may wait for whoever runs the second half, before the first has
/// begun.
fn in_join(turn: &mut Turn<'_>) {
    meeting(turn, |here, a, b| {
        let (to_a, from_b) = mpsc::channel();
        here.join(
            move || {
                from_b.recv().expect("b comes");
                a.run();
            },
            move || {
                to_a.send(()).expect("a waits for it");
                b.run();
            },
        );
    });
}

fn in_scope(turn: &mut Turn<'_>) {
    meeting(turn, |here, a, b| {
        let (to_a, from_b) = mpsc::channel();
        here.scope(move |s| {
            s.spawn(move |_| {
                to_a.send(()).expect("a waits for it");
                b.run();
            });
            from_b.recv().expect("b comes");
            a.run();
        });
    });
}

fn spawned(turn: &mut Turn<'_>) {
    meeting(turn, |here, a, b| {
        let (to_a, from_b) = mpsc::channel();
        here.spawn(move || {
            to_a.send(()).expect("a waits for it");
            b.run();
        });
        from_b.recv().expect("b comes");
        a.run();
    });
}
