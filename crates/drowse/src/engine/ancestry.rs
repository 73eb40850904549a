//! Descent across pools: what the job that a worker runs descends from in other pools.
//!
//! A worker that waits in isolation for a closure which it has sent to another pool runs nothing
//! but descendants of it. What is sent back to its own pool in the middle of that closure is such a
//! descendant, and may have nobody else to run it. So the closure takes along where it comes from:
//! the waiting worker's pool, the worker, and the moment. While a worker of the other pool runs the
//! closure, it has that pool as an *ancestor*; so has a thief that steals from it what was pushed
//! meanwhile. What such a worker sends to the ancestor is left there as a job with an origin
//! (`give_back`), and is found like every other descendant.
//!
//! A thief takes the ancestors over from its victim, so they are known to thieves of thieves too;
//! and they are passed on from pool to pool.

use super::lineage::{Origin, Origins, Point};
use super::registry::Registry;
use super::worker::WorkerThread;
use drowse_sync::{Arc, Mutex, Outlined, look};

/// The ancestors of what one worker runs, for itself and for thieves: of each of the jobs that it
/// has begun and not ended, the innermost last. Empty most of the time, and where nothing is
/// isolated always.
#[derive(Debug)]
pub(super) struct Ancestry(Mutex<Outlined<Vec<Branch>>>);

/// The ancestors of all that a worker has pushed and sent from a point on, until the next one.
#[derive(Debug)]
struct Branch {
    since: Point,
    ancestors: Option<Ancestors>,
}

pub(super) type Ancestors = Arc<[Ancestor]>;

/// A pool in which a worker waits, in isolation, for the end of the job.
#[derive(Debug, Clone)]
pub(super) struct Ancestor {
    /// Held, so that no other pool takes its address.
    pool: Arc<Registry>,
    origins: Origins,
}

impl Ancestry {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Outlined::new(Vec::new())))
    }

    /// Returns the ancestors of a job that the worker has pushed, or sent, there.
    fn of(&self, origin: Origin) -> Option<Ancestors> {
        let branches = self.0.lock();
        branches.iter().rev().find(|branch| origin.is_since(branch.since))?.ancestors.clone()
    }

    fn current(&self) -> Option<Ancestors> {
        self.0.lock().last()?.ancestors.clone()
    }
}

impl Registry {
    /// Returns where what the calling thread sends to this pool comes from, if that is known: the
    /// thread is a worker of another pool, and runs what a worker of this one waits for.
    pub(super) fn origins_of_caller(&self) -> Option<Origins> {
        WorkerThread::with_current(|worker| {
            let worker = worker.filter(|worker| worker.registry().has_ancestors())?;
            let ancestors = worker.current_ancestors()?;
            let is_this = |ancestor: &&Ancestor| ancestor.pool.id() == self.id();
            look!("isolate/foreign-descent-ignored", true)
                .then(|| ancestors.iter().find(is_this).map(|ancestor| ancestor.origins))?
        })
    }

    /// Whether a job in this pool has ancestors in others.
    #[inline]
    pub(super) fn has_ancestors(&self) -> bool {
        self.with_ancestors.get() > 0
    }
}

impl WorkerThread {
    fn ancestry(&self) -> &Ancestry {
        &self.registry.threads[self.index()].ancestry
    }

    /// Returns the ancestors of what this worker runs. `None` in a forked child: a thread of the
    /// parent may have the lock, and no other pool has a thread that could wait.
    fn current_ancestors(&self) -> Option<Ancestors> {
        if self.registry.is_left_behind() { None } else { self.ancestry().current() }
    }

    /// Returns the ancestors of what this worker, which is isolated and is going to wait for it,
    /// sends to another pool now: its own pool, and those of the job that it runs.
    pub(super) fn ancestors_of_sent(&self) -> Ancestors {
        let own = Ancestor { pool: Arc::clone(self.registry()), origins: self.sends() };
        let inherited = self.current_ancestors();
        let mut ancestors = Vec::new();
        for ancestor in inherited.as_deref().unwrap_or_default() {
            // Of two in this pool the later one descends from the other.
            if ancestor.pool.id() != self.registry().id() {
                ancestors.push(ancestor.clone());
            }
        }
        ancestors.push(own);
        ancestors.into()
    }

    /// Calls `f`, which runs a job with these ancestors.
    pub(super) fn with_ancestors<R>(&self, ancestors: Option<Ancestors>, f: impl FnOnce() -> R) -> R {
        // Where no job has ancestors, there are none to hide either. And none are needed in a
        // forked child.
        if (ancestors.is_none() && !self.registry.has_ancestors()) || self.registry.is_left_behind() {
            return f();
        }
        let counts = ancestors.is_some();
        self.registry.with_ancestors.add(u64::from(counts));
        self.ancestry().0.lock().push(Branch { since: self.point(), ancestors });
        let _end = Branched { worker: self, counts };
        f()
    }

    /// Calls `f`, which runs a job that comes from there.
    pub(super) fn with_ancestors_of<R>(&self, origin: Option<Origin>, f: impl FnOnce() -> R) -> R {
        let of = |origin: Origin| self.registry.threads[origin.worker].ancestry.of(origin);
        let inherited = if self.registry.is_left_behind() { None } else { origin.and_then(of) };
        self.with_ancestors(inherited.filter(|_| look!("isolate/foreign-descent-lost", true)), f)
    }
}

/// A job with known ancestors, until it ends, also by a panic.
struct Branched<'w> {
    worker: &'w WorkerThread,
    counts: bool,
}

impl Drop for Branched<'_> {
    fn drop(&mut self) {
        if self.worker.registry.is_left_behind() {
            return; // `f` has forked: a thread of the parent may have the lock.
        }
        self.worker.ancestry().0.lock().pop();
        if self.counts {
            self.worker.registry.with_ancestors.subtract(1);
        }
    }
}
