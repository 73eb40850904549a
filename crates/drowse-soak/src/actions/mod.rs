//! What jobs and threads outside do: each kind of action is a function in a file of its family, and
//! a line in the family's table.
//!
//! An action gets a [`Turn`]. It makes jobs with [`Turn::jobs`] or [`Turn::these`], says where they
//! are to run, hands them to drowse, and looks at what comes back:
//!
//! ```ignore
//! pub(super) const ACTIONS: &[Action] = &[action("join", 8, join).of_jobs(2)];
//!
//! fn join(turn: &mut Turn) {
//!     let place = turn.place();
//!     let [a, b] = turn.these(place.home);
//!     let tokens = (a.token(), b.token());
//!     turn.demand("the result", place.join(|| a.run(), || b.run()), tokens);
//! }
//! ```
//!
//! All the rest, that each job runs once, in the right pool, and is dropped once, is checked by the
//! jobs themselves. Whatever an action decides, it decides by the turn's dice: never by what other
//! threads did, or a seed is no longer one round.
//!
//! Two rules keep the mixes free of deadlocks of their own. A job waits only for jobs that it has
//! made, or that those have made. And a worker blocks (waits without running other jobs) only in
//! rounds that are [`upward`](crate::plan::Plan::upward), or with
//! [`World::leave_to_block`](crate::world::World::leave_to_block).

mod blocking;
mod broadcast;
mod cancel;
mod handle;
mod install;
mod isolate;
mod join;
mod look;
mod meet;
mod panics;
mod pools;
mod scope;
mod spawn;
mod task;
mod try_spawn;

use crate::turn::Turn;
use std::sync::OnceLock;

/// All tables. A new family goes here.
const FAMILIES: &[&[Action]] = &[
    join::ACTIONS,
    scope::ACTIONS,
    cancel::ACTIONS,
    spawn::ACTIONS,
    try_spawn::ACTIONS,
    handle::ACTIONS,
    task::ACTIONS,
    broadcast::ACTIONS,
    install::ACTIONS,
    isolate::ACTIONS,
    blocking::ACTIONS,
    meet::ACTIONS,
    panics::ACTIONS,
    pools::ACTIONS,
    look::ACTIONS,
];

/// One kind of action.
#[derive(Debug)]
struct Action {
    name: &'static str,
    /// How often it comes, beside the others.
    weight: usize,
    run: fn(&mut Turn),
    /// How many jobs it makes at least.
    jobs: usize,
    /// Where it can be done.
    fits: fn(&Turn) -> bool,
}

const fn action(name: &'static str, weight: usize, run: fn(&mut Turn)) -> Action {
    Action { name, weight, run, jobs: 1, fits: |_| true }
}

impl Action {
    /// It makes so many jobs at least.
    const fn of_jobs(self, jobs: usize) -> Self {
        Self { jobs, ..self }
    }

    /// It can be done only where this holds.
    const fn when(self, fits: fn(&Turn) -> bool) -> Self {
        Self { fits, ..self }
    }
}

/// Only actions with one of these in their names are done. Empty: all.
static ONLY: OnceLock<Vec<String>> = OnceLock::new();

pub(crate) fn do_only(words: Vec<String>) {
    ONLY.set(words).expect("said once");
}

fn all_actions() -> impl Iterator<Item = &'static Action> {
    FAMILIES.iter().copied().flatten()
}

/// The names of all actions.
pub(crate) fn all() -> impl Iterator<Item = &'static str> {
    all_actions().map(|action| action.name)
}

pub(crate) fn name(index: usize) -> &'static str {
    all().nth(index).unwrap_or("?")
}

/// An action that can be done now, by its index.
pub(crate) fn pick(turn: &mut Turn) -> Option<usize> {
    let wanted = |action: &Action| {
        let only = ONLY.get().map_or(&[][..], Vec::as_slice);
        only.is_empty() || only.iter().any(|word| action.name.contains(word.as_str()))
    };
    let weight = |action: &Action, turn: &Turn| {
        let fits = action.jobs <= turn.budget() && (action.fits)(turn) && wanted(action);
        if fits { action.weight } else { 0 }
    };
    let all: usize = all_actions().map(|action| weight(action, turn)).sum();
    if all == 0 {
        return None;
    }
    let mut lot = turn.dice.below(all);
    all_actions().position(|action| {
        let weight = weight(action, turn);
        let is_it = lot < weight;
        lot = lot.saturating_sub(weight);
        is_it
    })
}

pub(crate) fn run(index: usize, turn: &mut Turn) {
    (all_actions().nth(index).expect("it was picked").run)(turn);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_fit_the_book() {
        let names: BTreeSet<_> = all().collect();
        assert_eq!(names.len(), all().count());
        assert!(names.len() < 255);
    }
}
