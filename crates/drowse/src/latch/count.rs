//! Latch of one or more jobs, for which a worker of any pool, or a thread outside, waits.

use super::worker::{LatchOwner, WorkerLatch};
use super::{Latch, LockLatch};
use crate::diagnose::WaitFor;
use crate::engine::{Point, Registry, SharedCount, WorkerThread};
use drowse_sync::atomic::{AtomicUsize, Ordering};
use drowse_sync::{Arc, mutant};

/// Latch that is set when it was counted down as often as it was counted up.
#[derive(Debug)]
pub(crate) struct CountLatch {
    left: AtomicUsize,
    at_zero: AtZero,
}

/// Latch that is set when the count reaches zero.
#[derive(Debug)]
enum AtZero {
    /// Latch of a worker that waits, and runs other jobs meanwhile.
    Worker(WorkerLatch<AnyPool>),
    /// Latch of a thread that belongs to no pool.
    Outside(LockLatch),
}

impl CountLatch {
    /// Returns a latch with this count, for `owner` to wait on, or for a thread that is not a
    /// worker. The jobs that it waits for are spawned from now on.
    pub(crate) fn new(count: usize, owner: Option<&WorkerThread>) -> Self {
        let since = owner.map_or(Point { position: 0, moment: 0 }, WorkerThread::take_point);
        Self::since(since, count, owner)
    }

    /// Returns a latch like [`new`](Self::new), for jobs that were spawned since this point.
    pub(crate) fn since(since: Point, count: usize, owner: Option<&WorkerThread>) -> Self {
        let at_zero = match owner {
            Some(owner) => AtZero::Worker(WorkerLatch::for_owner(AnyPool::new(owner, since))),
            None => AtZero::Outside(LockLatch::new()),
        };
        Self { left: AtomicUsize::new(count), at_zero }
    }

    /// Returns `true` if this worker is the owner given to `new`.
    pub(crate) fn is_waited_for_by(&self, worker: &WorkerThread) -> bool {
        match &self.at_zero {
            AtZero::Worker(latch) => latch.owner_is(|owner| owner.is(worker)),
            AtZero::Outside(_) => false,
        }
    }

    /// Waits until the count is zero. `owner` is the owner given to `new`, `registry` is the pool
    /// that runs the jobs, and `what` is the kind of wait.
    pub(crate) fn wait(&self, owner: Option<&WorkerThread>, registry: &Registry, what: WaitFor) {
        match (&self.at_zero, owner) {
            (AtZero::Worker(_), Some(owner)) => {
                let is_outside = owner.registry().id() != registry.id();
                let _waits = is_outside.then(|| registry.probe.note_waiter(what));
                self.help(owner, what);
            }
            // In a forked child the pool has no threads. But there may be nothing to wait for.
            (AtZero::Outside(latch), None) if latch.is_set() && registry.is_left_behind() => {
                latch.wait()
            }
            (AtZero::Outside(latch), None) => {
                let _waits = registry.probe.note_waiter(what);
                registry.help_until(|| latch.is_set());
                registry.assert_here();
                registry.wait_outside(|| {
                    registry.abort_if_left_behind();
                    latch.wait();
                });
            }
            _ => unreachable!("a count latch is waited for by its owner"),
        }
    }

    /// Returns the waiter's index, and since when it waits for jobs, if it is a worker of this
    /// pool.
    pub(crate) fn waiter_in(&self, registry: &Registry) -> Option<(usize, Point)> {
        let AtZero::Worker(latch) = &self.at_zero else { return None };
        latch.owner_is(|owner| {
            (owner.registry.id() == registry.id()).then_some((owner.index, owner.since))
        })
    }

    /// Waits until the count is zero. `owner` is the owner given to `new`.
    pub(crate) fn help(&self, owner: &WorkerThread, what: WaitFor) {
        match &self.at_zero {
            AtZero::Worker(latch) => {
                let since = latch.owner_is(|owner| owner.since);
                owner.wait_until(latch.word(), what, since);
            }
            AtZero::Outside(_) => unreachable!("it was made for a worker"),
        }
    }

    /// Returns the latch that is set at zero. Only for a latch without an owner.
    pub(crate) fn of_outside(&self) -> &LockLatch {
        match &self.at_zero {
            AtZero::Outside(latch) => latch,
            AtZero::Worker(_) => unreachable!("it was made for a worker"),
        }
    }
}

#[cfg(drowse_loom)]
impl Drop for CountLatch {
    fn drop(&mut self) {
        if let AtZero::Outside(latch) = &self.at_zero {
            latch.lifetime.over();
        }
    }
}

impl CountLatch {
    /// Counts down by one. From any thread.
    ///
    /// # Safety
    ///
    /// `this` must be alive when the call begins. It may be gone when the call returns.
    pub(crate) unsafe fn set(this: *const Self) {
        // SAFETY: the caller's promise.
        unsafe { Self::subtract(this, 1) };
    }
}

impl Latch for CountLatch {
    unsafe fn set(this: *const Self, _: &WorkerThread) {
        // SAFETY: the caller's promise.
        unsafe { Self::set(this) };
    }
}

impl SharedCount for CountLatch {
    /// Counts up. Only while the caller holds at least one count.
    fn add(&self, count: usize) {
        // ORDERING: relaxed; the caller holds one of the counts, so zero cannot come first.
        let old = self.left.fetch_add(count, Ordering::Relaxed);
        debug_assert!(old > 0, "the latch was already set");
    }

    #[inline]
    fn is_down_to(&self, count: usize) -> bool {
        // ORDERING: relaxed; `Stock::put` acts on it by calling `subtract`, which acquires.
        self.left.load(Ordering::Relaxed) == count
    }

    /// Counts down; at zero, sets the latch.
    unsafe fn subtract(this: *const Self, count: usize) {
        // ORDERING: release publishes what each job wrote; the last call's acquire gathers all of
        // it, and its set of the latch passes it on to the waiter.
        let ordering = mutant::weaken("latch/count-relaxed", Ordering::AcqRel);
        // SAFETY: alive as the call begins: the counts that are given up here have kept the waiter
        // waiting. If they were not the last, `this` is not used after that.
        if unsafe { (*this).left.fetch_sub(count, ordering) } != count {
            return;
        }
        // SAFETY: only the last call sets the latch, so the waiter still waits, until one of the
        // calls below sets the latch in `at_zero`. That is the last use of `this`.
        unsafe {
            match &(*this).at_zero {
                AtZero::Worker(latch) => {
                    WorkerLatch::set_from(latch, |owner| Arc::clone(&owner.registry))
                }
                AtZero::Outside(latch) => LockLatch::set(latch),
            }
        }
    }
}

/// Worker of any pool, without a borrow of it. The setter clones `registry`, to keep it alive.
#[derive(Debug)]
struct AnyPool {
    registry: Arc<Registry>,
    index: usize,
    /// Point since which the jobs that the owner waits for may have been made.
    since: Point,
}

impl AnyPool {
    fn new(owner: &WorkerThread, since: Point) -> Self {
        Self { registry: Arc::clone(owner.registry()), index: owner.index(), since }
    }

    fn is(&self, worker: &WorkerThread) -> bool {
        worker.registry().id() == self.registry.id() && worker.index() == self.index
    }
}

impl LatchOwner for AnyPool {
    const FETCH_LATE: &'static str = "latch/count-fetch-late";
    const NO_WAKE: &'static str = "engine/count-latch-no-wake";

    fn index(&self) -> usize {
        self.index
    }
}
