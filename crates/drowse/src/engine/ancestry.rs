//! Descent across pools: the ancestors that a job has in other pools.
//!
//! A worker that waits in isolation for a closure which it has sent to another pool runs nothing
//! but descendants of the closure. A job that the closure sends back to the first pool is one, and
//! there may be no other worker to run it. So the closure carries its origin: the waiting worker's
//! pool, its index, and its moment. While a worker of the other pool runs the closure, it has the
//! first pool as an *ancestor*; so has a thief that steals from it what was pushed meanwhile. A job
//! that such a worker sends to the ancestor is left there with its origin (`Registry::leave_job`),
//! and is found like every other descendant.
//!
//! A thief takes over the ancestors of its victim, so that thieves of thieves know them too. They
//! are also passed on from pool to pool.

use super::lineage::{Origin, Origins, Point};
use super::registry::Registry;
use super::worker::WorkerThread;
use drowse_sync::{Arc, Mutex, Outlined, look};

/// The ancestors of what one worker runs, read by itself and by thieves: an entry for each job that
/// it has begun and not ended, the innermost last. Mostly empty; always, if nothing is isolated.
#[derive(Debug)]
pub(super) struct Ancestry(Mutex<Outlined<Vec<Branch>>>);

/// The ancestors of all that a worker pushes and sends from `since` until the next branch.
#[derive(Debug)]
struct Branch {
    since: Point,
    ancestors: Option<Ancestors>,
}

/// Pools in which workers wait, in isolation, for the end of a job: the last one, and those before.
pub(super) type Ancestors = Arc<Ancestor>;

#[derive(Debug)]
pub(super) struct Ancestor {
    /// Keeps the registry in memory: its address is its id, and must not be reused.
    pool: Arc<Registry>,
    origins: Origins,
    before: Option<Ancestors>,
}

impl Ancestry {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Outlined::new(Vec::new())))
    }

    /// Returns the ancestors of the job that the worker has pushed or sent at `origin`.
    fn of(&self, origin: Origin) -> Option<Ancestors> {
        let branches = self.0.lock();
        branches.iter().rev().find(|branch| origin.is_since(branch.since))?.ancestors.clone()
    }

    fn current(&self) -> Option<Ancestors> {
        self.0.lock().last()?.ancestors.clone()
    }
}

impl Registry {
    /// Returns the origins of what the calling thread sends to this pool. `None` unless the thread
    /// is a worker of another pool and runs a descendant of what a worker of this pool waits for in
    /// isolation.
    pub(super) fn origins_of_caller(&self) -> Option<Origins> {
        WorkerThread::with_current(|worker| {
            let worker = worker.filter(|worker| worker.registry().has_ancestors())?;
            let ancestors = worker.current_ancestors();
            let mut ancestor =
                look!("isolate/foreign-descent-ignored", true).then(|| ancestors.as_deref())?;
            // The last ancestor in this pool descends from those before.
            while ancestor.is_some_and(|ancestor| ancestor.pool.id() != self.id()) {
                ancestor = ancestor.and_then(|ancestor| ancestor.before.as_deref());
            }
            ancestor.map(|ancestor| ancestor.origins)
        })
    }

    /// Returns `true` if a worker of this pool runs a job with ancestors in other pools.
    #[inline]
    pub(super) fn has_ancestors(&self) -> bool {
        self.isolation.with_ancestors.get() > 0
    }
}

impl WorkerThread {
    fn ancestry(&self) -> &Ancestry {
        &self.registry.threads[self.index()].ancestry
    }

    /// Returns the ancestors of what this worker runs. `None` in a forked child: a thread of the
    /// parent may hold the lock, and no other pool has a thread that could wait.
    fn current_ancestors(&self) -> Option<Ancestors> {
        if self.registry.is_left_behind() { None } else { self.ancestry().current() }
    }

    /// Returns the ancestors of what this worker, which is isolated and about to wait, sends to
    /// another pool now: its own pool, and the ancestors of the job that it runs.
    pub(super) fn ancestors_of_sent(&self) -> Ancestors {
        let (pool, origins) = (Arc::clone(self.registry()), self.sends());
        Arc::new(Ancestor { pool, origins, before: self.current_ancestors() })
    }

    /// Makes these the ancestors of what the worker pushes and sends, in the job that it begins,
    /// until the guard is dropped.
    #[cold]
    pub(super) fn branch(&self, ancestors: Option<Ancestors>) -> Option<Branched<'_>> {
        // Without ancestors, a branch only hides those of an outer job. A forked child needs none.
        if (ancestors.is_none() && !self.registry.has_ancestors()) || self.registry.is_left_behind()
        {
            return None;
        }
        let counts = ancestors.is_some();
        self.registry.isolation.with_ancestors.add(u64::from(counts));
        self.ancestry().0.lock().push(Branch { since: self.point(), ancestors });
        Some(Branched { worker: self, counts })
    }

    /// Begins a [branch](Self::branch) for a job with this origin, with the ancestors known there.
    #[cold]
    pub(super) fn branch_of(&self, origin: Option<Origin>) -> Option<Branched<'_>> {
        let of = |origin: Origin| self.registry.threads[origin.worker].ancestry.of(origin);
        let inherited = if self.registry.is_left_behind() { None } else { origin.and_then(of) };
        self.branch(inherited.filter(|_| look!("isolate/foreign-descent-lost", true)))
    }
}

/// Guard of a branch: removes it when the job ends, also by a panic.
pub(super) struct Branched<'w> {
    worker: &'w WorkerThread,
    counts: bool,
}

impl Drop for Branched<'_> {
    #[cold]
    fn drop(&mut self) {
        if self.worker.registry.is_left_behind() {
            return; // The job has forked: a thread of the parent may hold the lock.
        }
        self.worker.ancestry().0.lock().pop();
        if self.counts {
            self.worker.registry.isolation.with_ancestors.subtract(1);
        }
    }
}
