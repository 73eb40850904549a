//! Jobs that nobody waits for. The end of the round does.

use super::{Action, action};
use crate::turn::Turn;

pub(super) const ACTIONS: &[Action] = &[
    action("spawn", 4, spawn),
    action("spawn_fifo", 2, spawn_fifo),
    action("spawn_all", 2, spawn_all),
    action("spawn_all_unsized", 1, spawn_all_unsized),
];

fn spawn(turn: &mut Turn) {
    let (place, number) = (turn.place(), turn.some(4));
    for job in turn.jobs(number, place.home) {
        place.spawn(|| job.go());
    }
}

fn spawn_fifo(turn: &mut Turn) {
    let (place, number) = (turn.place(), turn.some(8));
    for job in turn.jobs(number, place.home) {
        place.spawn_fifo(|| job.go());
    }
}

fn spawn_all(turn: &mut Turn) {
    let (place, number) = (turn.place(), turn.some(50));
    let jobs = turn.jobs(number, place.home);
    place.spawn_all(jobs.into_iter().map(|job| || job.go()));
}

/// By an iterator that does not know its length.
fn spawn_all_unsized(turn: &mut Turn) {
    let (place, number) = (turn.place(), turn.some(20));
    let jobs = turn.jobs(number, place.home);
    place.spawn_all(jobs.into_iter().filter(|_| true).map(|job| || job.go()));
}
