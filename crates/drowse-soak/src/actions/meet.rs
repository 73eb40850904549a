//! Jobs that block until another one runs: what a lost wake-up cannot be hidden from. Elsewhere
//! whoever posts a job mostly comes back for it.

use super::{Action, action};
use crate::place::Home;
use crate::turn::{Job, Turn};
use crate::world::Leave;
use std::sync::mpsc::{self, Receiver, Sender};

pub(super) const ACTIONS: &[Action] = &[
    action("meet_in_join", 2, in_join).of_jobs(2).when(is_in_pool),
    action("meet_in_scope", 1, in_scope).of_jobs(2).when(is_in_pool),
    action("meet_spawned", 1, spawned).of_jobs(2).when(is_in_pool),
    action("meet_spawned_all", 1, spawned_all).of_jobs(2).when(is_in_pool),
    action("meet_of_spawned", 3, both_spawned).of_jobs(2),
];

/// In a pool that lasts.
fn is_in_pool(turn: &Turn<'_>) -> bool {
    matches!(turn.home, Home::Pool(_))
}

/// A job that first waits for another one, which must not need the same worker.
struct Waits {
    job: Job,
    /// `None`: nobody may block now, and it does not wait.
    leave: Option<Leave>,
    other: Receiver<()>,
}

/// The other one.
struct Comes {
    job: Job,
    to: Sender<()>,
}

impl Waits {
    fn go(self) {
        if self.leave.is_some() {
            self.other.recv().expect("the other one comes");
        }
        drop(self.leave);
        self.job.go();
    }
}

impl Comes {
    fn go(self) {
        // Perhaps nobody waits.
        let _ = self.to.send(());
        self.job.go();
    }
}

fn pair(turn: &mut Turn<'_>, home: Home) -> (Waits, Comes) {
    let [a, b] = turn.these(home);
    let leave = match home {
        Home::Pool(pool) => turn.world.leave_to_block(pool),
        _ => None,
    };
    let (to, other) = mpsc::channel();
    (Waits { job: a, leave, other }, Comes { job: b, to })
}

/// The first half waits for the second. Not the other way round as well: a job from outside that
/// gets a turn where the join forks may wait for whoever runs the second half, before the first has
/// begun.
fn in_join(turn: &mut Turn<'_>) {
    let (a, b) = pair(turn, turn.home);
    drowse::join(|| a.go(), || b.go());
}

fn in_scope(turn: &mut Turn<'_>) {
    let (a, b) = pair(turn, turn.home);
    drowse::scope(|s| {
        s.spawn(|_| b.go());
        a.go();
    });
}

fn spawned(turn: &mut Turn<'_>) {
    let (a, b) = pair(turn, turn.home);
    drowse::spawn(|| b.go());
    a.go();
}

fn spawned_all(turn: &mut Turn<'_>) {
    let (a, b) = pair(turn, turn.home);
    drowse::spawn_all([move || b.go()]);
    a.go();
}

/// The one that waits is posted first: whoever is woken for it is lost to the other.
fn both_spawned(turn: &mut Turn<'_>) {
    let place = turn.place();
    let (a, b) = pair(turn, place.home);
    place.spawn(|| a.go());
    place.spawn(|| b.go());
}
