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
fn is_in_pool(turn: &Turn) -> bool {
    matches!(turn.home, Home::Pool(_))
}

/// A job that first waits for another one, which must not need the same worker.
struct Waits {
    job: Job,
    /// `None`: nobody may block now, and it does not wait.
    leave: Option<Leave>,
    how: How,
    other: Receiver<()>,
    /// Where the other one waits for this one.
    to: Sender<()>,
}

/// The other one.
struct Comes {
    job: Job,
    /// It waits as well.
    how: Option<How>,
    other: Receiver<()>,
    to: Sender<()>,
}

/// How it blocks.
#[derive(Clone, Copy)]
enum How {
    Plainly,
    Marked,
    /// Somebody else works in its place.
    Lending,
}

impl How {
    fn wait(self, other: &Receiver<()>) {
        let come = || other.recv().expect("the other one comes");
        match self {
            Self::Plainly => come(),
            Self::Marked => {
                let _blocked = drowse::mark_blocked_on("another job");
                come();
            }
            Self::Lending => drowse::blocking(come),
        }
    }

    fn any(turn: &mut Turn, leave: Option<&Leave>) -> Self {
        let how = turn.dice.pick(&[Self::Plainly, Self::Marked, Self::Lending]);
        match leave {
            Some(leave) if leave.must_lend => Self::Lending,
            Some(leave) if !leave.may_mark => Self::Plainly,
            _ => how,
        }
    }
}

impl Waits {
    fn go(self) {
        // Perhaps nobody waits.
        let _ = self.to.send(());
        if self.leave.is_some() {
            self.how.wait(&self.other);
        }
        drop(self.leave);
        self.job.go();
    }
}

impl Comes {
    fn go(self) {
        let _ = self.to.send(());
        if let Some(how) = self.how {
            how.wait(&self.other);
        }
        self.job.go();
    }
}

fn pair(turn: &mut Turn, home: Home) -> (Waits, Comes) {
    let [a, b] = turn.these(home);
    let leave = match home {
        Home::Pool(pool) if !turn.is_locked() => turn.world.leave_to_block(pool, turn.home == home),
        _ => None,
    };
    let how = How::any(turn, leave.as_ref());
    let ((to_a, of_a), (to_b, of_b)) = (mpsc::channel(), mpsc::channel());
    let a = Waits { job: a, leave, how, other: of_a, to: to_b };
    (a, Comes { job: b, how: None, other: of_b, to: to_a })
}

/// Each half waits for the other, or the first for the second.
fn in_join(turn: &mut Turn) {
    let (a, mut b) = pair(turn, turn.home);
    let how = How::any(turn, a.leave.as_ref());
    b.how = (turn.dice.one_in(2) && a.leave.is_some()).then_some(how);
    drowse::join(|| a.go(), || b.go());
}

fn in_scope(turn: &mut Turn) {
    let (a, b) = pair(turn, turn.home);
    drowse::scope(|s| {
        s.spawn(|_| b.go());
        a.go();
    });
}

fn spawned(turn: &mut Turn) {
    let (a, b) = pair(turn, turn.home);
    drowse::spawn(|| b.go());
    a.go();
}

fn spawned_all(turn: &mut Turn) {
    let (a, b) = pair(turn, turn.home);
    drowse::spawn_all([move || b.go()]);
    a.go();
}

/// The one that waits is posted first: whoever is woken for it is lost to the other.
fn both_spawned(turn: &mut Turn) {
    let place = turn.place();
    let (a, b) = pair(turn, place.home);
    place.spawn(|| a.go());
    place.spawn(|| b.go());
}
