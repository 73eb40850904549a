//! No more than so many jobs at once.

use super::{Action, action};
use crate::place::Home;
use crate::turn::{Job, Turn};
use crate::verdict::{demand, fail};
use drowse::Scope;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

pub(super) const ACTIONS: &[Action] =
    &[action("try_spawn", 2, try_spawn), action("scope_try_spawn", 1, in_scope)];

/// In each pool.
const LIMIT: usize = 3;

/// A job, for two who may run it: the closure that was taken, or whoever had it refused.
#[derive(Clone)]
struct Shared(Arc<Mutex<Option<Job>>>);

impl Shared {
    fn new(job: Job) -> Self {
        Self(Arc::new(Mutex::new(Some(job))))
    }

    fn take(&self) -> Job {
        let job = self.0.lock().map(|mut job| job.take());
        job.ok().flatten().unwrap_or_else(|| fail("a closure was refused, and ran"))
    }
}

/// What is refused is run there by one who waits for it.
fn try_spawn(turn: &mut Turn) {
    let (world, place, number) = (turn.world, turn.place(), turn.some(8));
    for job in turn.jobs(number, place.home) {
        let job = Shared::new(job);
        let spawned = job.clone();
        let run = move || match place.home {
            Home::Pool(pool) => world.bounded(pool, LIMIT, || spawned.take().go()),
            _ => spawned.take().go(),
        };
        if place.try_spawn(LIMIT, run).is_err() {
            let job = job.take();
            let token = job.token();
            turn.demand("the result", place.install(|| job.run()), token);
        }
    }
}

fn in_scope(turn: &mut Turn) {
    let (place, number, limit) = (turn.place(), turn.some(12), turn.dice.below(4));
    let jobs = turn.jobs(number, place.home);
    let (running, ended) = (&AtomicUsize::new(0), &AtomicUsize::new(0));
    place.scope(|s| {
        for job in jobs {
            let job = Shared::new(job);
            let spawned = job.clone();
            let run = move |_: &Scope<'_>| {
                let others = running.fetch_add(1, Ordering::Relaxed);
                demand!(others < limit, "{others} jobs of a scope run beside another, of {limit}");
                spawned.take().go();
                running.fetch_sub(1, Ordering::Relaxed);
                ended.fetch_add(1, Ordering::Relaxed);
            };
            if s.try_spawn(limit, run).is_err() {
                job.take().go();
                ended.fetch_add(1, Ordering::Relaxed);
            }
        }
    });
    turn.demand("the number of jobs that have ended", ended.load(Ordering::Relaxed), number);
}
