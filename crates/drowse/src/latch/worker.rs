//! Latch of a job that a single worker waits for.

use super::Latch;
use crate::engine::{End, Registry, WorkerThread};
use drowse_sleep::{LatchWord, Reason};
use drowse_sync::{Lifetime, faulty, omittable};
use std::cell::Cell;
use std::ops::Deref;

/// Latch that is set when its one job is done.
#[derive(Debug)]
pub(crate) struct WorkerLatch<O: LatchOwner> {
    word: LatchWord,
    owner: O,
    lifetime: Lifetime,
}

/// Latch that is set by a worker of the owner's own pool.
pub(crate) type SpinLatch = WorkerLatch<SamePool>;

/// Worker that waits for a latch, as the latch knows it.
pub(crate) trait LatchOwner {
    /// Name of the fault to fetch the owner from a latch that is set already.
    const FETCH_LATE: &'static str;
    /// Name of the fault not to wake the owner.
    const NO_WAKE: &'static str;

    fn index(&self) -> usize;
}

impl<O: LatchOwner> WorkerLatch<O> {
    /// Returns a latch that is not set.
    #[inline(always)]
    pub(super) fn for_owner(owner: O) -> Self {
        Self::with_word(LatchWord::new(), owner)
    }

    #[inline(always)]
    fn with_word(word: LatchWord, owner: O) -> Self {
        Self { word, owner, lifetime: Lifetime::new() }
    }

    #[inline(always)]
    pub(crate) fn probe(&self) -> bool {
        self.word.probe()
    }

    pub(crate) fn word(&self) -> &LatchWord {
        &self.word
    }

    /// Returns what `what` reads from the owner.
    pub(super) fn owner_is<R>(&self, what: impl FnOnce(&O) -> R) -> R {
        what(&self.owner)
    }

    /// Sets the latch and wakes its owner. `pool` returns a reference that keeps the owner's
    /// registry alive when the latch is gone.
    ///
    /// # Safety
    ///
    /// `this` must be alive when the call begins. It may be gone when the call returns.
    #[inline]
    pub(super) unsafe fn set_from<P>(this: *const Self, pool: impl Fn(&O) -> P)
    where
        P: Deref<Target = Registry>,
    {
        // SAFETY: `this` is alive until its word is set. Only the fault calls this after that.
        let owner = || unsafe {
            (*this).lifetime.used();
            (pool(&(*this).owner), (*this).owner.index())
        };
        // The owner may free the latch once the word is set, so the rest is fetched before.
        let before = owner();
        // SAFETY: alive until its word is set. This is the last use of `this`.
        let slept = unsafe { LatchWord::set(&raw const (*this).word) };
        // (The fault fetches it again, from a latch that may be gone.)
        let (pool, index) = faulty!(O::FETCH_LATE, before, owner());
        // WAKE: the owner, if it sleeps on the word: its `tell_asleep` came before
        // `LatchWord::set`, which then returned `true`; or `tell_asleep` fails, and the owner finds
        // the latch set.
        omittable!(O::NO_WAKE, pool.wake_owner(index, slept, Reason::Latch));
    }
}

impl Latch for SpinLatch {
    #[inline(never)]
    unsafe fn set(this: *const Self, setter: &WorkerThread) {
        // Only workers of the owner's pool take jobs from its deque. So the setter is one of them,
        // and keeps the registry alive. (The latch of a job that was pushed to nobody's deque has
        // no owner that sleeps: any registry will do.)
        // SAFETY: the caller's promise.
        unsafe { Self::set_from(this, |_| &**setter.registry()) };
    }

    #[inline(never)]
    fn migrated(&self, worker: &WorkerThread) -> bool {
        !worker.end_of_deque().is(self.end())
    }
}

#[cfg(drowse_loom)]
impl<O: LatchOwner> Drop for WorkerLatch<O> {
    fn drop(&mut self) {
        self.lifetime.over();
    }
}

/// Worker of the pool that runs the job, identified by the end of its deque.
#[derive(Debug)]
pub(crate) struct SamePool(Cell<End>);

impl SpinLatch {
    /// Returns the latch of a job that is going to be pushed to this position.
    ///
    /// # Safety
    ///
    /// If `owner` is the end of a worker's deque, only workers of its pool may set the latch, and
    /// the deque must exist until then. If it is the end of nobody's deque, that deque must exist
    /// until then, and no worker may wait for the latch.
    #[inline(always)]
    pub(crate) unsafe fn new(owner: End, position: i64) -> Self {
        Self::with_word(LatchWord::with_note(position), SamePool(Cell::new(owner)))
    }

    /// Returns the position of its job, or a negative number if the latch is set.
    #[inline(always)]
    pub(crate) fn position(&self) -> i64 {
        self.word.note()
    }

    /// Records that the owner has pushed the job again, to another position.
    pub(crate) fn set_position(&self, position: i64) {
        self.word.set_note(position);
    }

    /// Returns the end given to `new` or, later, to `set_end`.
    #[inline(always)]
    pub(crate) fn end(&self) -> End {
        self.owner.0.get()
    }

    /// Makes `end` count as the end of the thread that made the latch: a job that the worker of
    /// `end` runs has not migrated.
    ///
    /// # Safety
    ///
    /// As for [`new`](Self::new), and no other thread may use the latch yet.
    pub(crate) unsafe fn set_end(&self, end: End) {
        self.owner.0.set(end);
    }
}

impl LatchOwner for SamePool {
    const FETCH_LATE: &'static str = "latch/spin-fetch-late";
    const NO_WAKE: &'static str = "engine/spin-latch-no-wake";

    fn index(&self) -> usize {
        // SAFETY: a worker's deque exists as long as its pool, which the setter keeps alive.
        // Nobody's deque is static, or lives as long as the `Detour` of the worker that waits.
        unsafe { self.0.get().number() }
    }
}
