//! The latch of many jobs.

use super::{Latch, LockLatch};
use crate::engine::{Registry, WorkerThread};
use drowse_sleep::{LatchWord, Reason};
use drowse_sync::atomic::{AtomicUsize, Ordering};
use drowse_sync::{Arc, Lifetime, mutant};
use std::ptr;

/// Set when it was counted down as often as it was counted up.
#[derive(Debug)]
pub(crate) struct CountLatch {
    left: AtomicUsize,
    waiter: Waiter,
    lifetime: Lifetime,
}

/// Who waits for the count to reach zero.
#[derive(Debug)]
enum Waiter {
    /// A worker, which helps meanwhile.
    Worker { word: LatchWord, registry: Arc<Registry>, index: usize },
    /// A thread of no pool.
    Outside(LockLatch),
}

impl CountLatch {
    /// A latch with `count` to go, waited for by `owner`, or by a thread that is no worker.
    pub(crate) fn new(count: usize, owner: Option<&WorkerThread>) -> Self {
        let waiter = match owner {
            Some(owner) => Waiter::Worker {
                word: LatchWord::new(),
                registry: Arc::clone(owner.registry()),
                index: owner.index(),
            },
            None => Waiter::Outside(LockLatch::new()),
        };
        Self { left: AtomicUsize::new(count), waiter, lifetime: Lifetime::new() }
    }

    /// One more to go. Only while at least one is left.
    pub(crate) fn increment(&self) {
        // ORDERING: relaxed; the caller holds one of the counts, so zero cannot come first.
        let old = self.left.fetch_add(1, Ordering::Relaxed);
        debug_assert!(old > 0, "the latch was already set");
    }

    /// Whoever sets the latch must know the waiter before it does.
    fn waiter(&self) -> &Waiter {
        self.lifetime.used();
        &self.waiter
    }

    /// Waits until none is left. `owner` is the one given to `new`, and `registry` where the jobs run.
    pub(crate) fn wait(&self, owner: Option<&WorkerThread>, registry: &Registry) {
        match (&self.waiter, owner) {
            (Waiter::Worker { word, .. }, Some(owner)) => owner.wait_until(word),
            (Waiter::Outside(latch), None) => registry.wait_outside(|| latch.wait()),
            _ => unreachable!("a count latch is waited for by its owner"),
        }
    }
}

#[cfg(drowse_loom)]
impl Drop for CountLatch {
    fn drop(&mut self) {
        self.lifetime.over();
        if let Waiter::Outside(latch) = &self.waiter {
            latch.lifetime.over();
        }
    }
}

impl Latch for CountLatch {
    /// Counts down; at zero, sets the latch.
    unsafe fn set(this: *const Self) {
        // ORDERING: release, so that the last one's acquire gathers what all the jobs wrote, and its own
        // set passes it on to the waiter.
        let ordering = mutant::weaken("latch/count-relaxed", Ordering::AcqRel);
        // SAFETY: alive as the call begins: the count that is given up here has kept the waiter waiting.
        // Unless it was the last, we are done with `this`.
        if unsafe { (*this).left.fetch_sub(1, ordering) } != 1 {
            return;
        }
        // SAFETY: nobody but the last sets the latch, so the waiter still waits, until the one step below.
        match unsafe { (*this).waiter() } {
            Waiter::Worker { word, registry, index } => {
                let (registry, index) = (Arc::clone(registry), *index);
                // SAFETY: as above; this is the last use of `this`.
                let slept = unsafe { LatchWord::set(ptr::from_ref(word)) };
                // SAFETY: none, that is the point of the mutant: the latch may be gone.
                mutant::active("latch/count-fetch-late").then(|| unsafe { (*this).waiter() });
                if !mutant::active("engine/count-latch-no-wake") {
                    registry.wake_owner(index, slept, Reason::Latch);
                }
            }
            // SAFETY: as above; `LockLatch::set` keeps what it needs.
            Waiter::Outside(latch) => unsafe { LockLatch::set(latch) },
        }
    }
}
