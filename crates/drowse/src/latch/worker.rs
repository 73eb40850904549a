//! The latch of a job that one worker waits for.

use super::Latch;
use crate::engine::{End, Registry, WorkerThread};
use drowse_sleep::{LatchWord, Reason};
use drowse_sync::{Arc, Lifetime, faulty, omittable};
use std::cell::Cell;
use std::ops::Deref;

/// Set when the one job is done.
#[derive(Debug)]
pub(crate) struct WorkerLatch<O: LatchOwner> {
    word: LatchWord,
    owner: O,
    lifetime: Lifetime,
}

/// Set by a worker of the owner's own pool.
pub(crate) type SpinLatch = WorkerLatch<SamePool>;

/// Set by a worker of another pool.
pub(crate) type CrossLatch<'a> = WorkerLatch<OtherPool<'a>>;

/// The worker that waits for a latch, as the latch knows it.
pub(crate) trait LatchOwner {
    /// The fault of fetching the owner from a latch that is set already.
    const FETCH_LATE: &'static str;
    /// The fault of not waking the owner.
    const NO_WAKE: &'static str;

    fn index(&self) -> usize;
}

impl<O: LatchOwner> WorkerLatch<O> {
    /// A latch that is not set.
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

    /// What this says of the owner.
    pub(super) fn owner_is<R>(&self, what: impl FnOnce(&O) -> R) -> R {
        what(&self.owner)
    }

    /// Sets the latch and wakes its owner. `pool` returns what keeps the owner's registry alive
    /// when the latch is gone.
    ///
    /// # Safety
    ///
    /// `this` must be alive when the call begins. It may be gone when the call returns.
    #[inline]
    pub(super) unsafe fn set_from<P>(this: *const Self, pool: impl Fn(&O) -> P)
    where
        P: Deref<Target = Registry>,
    {
        // SAFETY: `this` is alive until its word is set; after that this is called by the fault
        // only.
        let owner = || unsafe {
            (*this).lifetime.used();
            (pool(&(*this).owner), (*this).owner.index())
        };
        // The owner may free the latch as soon as the word is set. So all that is needed after that
        // is fetched before.
        let before = owner();
        // SAFETY: alive until its word is set. This is the last use of `this`.
        let slept = unsafe { LatchWord::set(&raw const (*this).word) };
        // (The point of the fault: the latch may be gone.)
        let (pool, index) = faulty!(O::FETCH_LATE, before, owner());
        // WAKE: the owner, if it sleeps on the word: it did before we set it, or it finds it set.
        omittable!(O::NO_WAKE, pool.wake_owner(index, slept, Reason::Latch));
    }
}

impl Latch for SpinLatch {
    #[inline(never)]
    unsafe fn set(this: *const Self, setter: &WorkerThread) {
        // Only workers of the owner's pool take jobs from its deque. So the setter is one of them,
        // and keeps the registry. (The latch of a job that was pushed to nobody's deque has no
        // owner that sleeps: any registry will do.)
        // SAFETY: the caller's promise.
        unsafe { Self::set_from(this, |_| &**setter.registry()) };
    }

    #[inline(never)]
    fn migrated(&self, worker: &WorkerThread) -> bool {
        !worker.end_of_deque().is(self.end())
    }
}

impl Latch for CrossLatch<'_> {
    unsafe fn set(this: *const Self, _: &WorkerThread) {
        // SAFETY: the caller's promise.
        unsafe { Self::set_from(this, |owner| Arc::clone(owner.0.registry())) };
    }
}

#[cfg(drowse_loom)]
impl<O: LatchOwner> Drop for WorkerLatch<O> {
    fn drop(&mut self) {
        self.lifetime.over();
    }
}

/// A worker of the pool that runs the job, by the end of its deque.
#[derive(Debug)]
pub(crate) struct SamePool(Cell<End>);

impl SpinLatch {
    /// For a job that is going to be pushed to this position.
    ///
    /// # Safety
    ///
    /// If `owner` is the end of a worker's deque, only workers of its pool may set the latch, and
    /// the deque must be there until then. If it is nobody's, that must be there until then, and no
    /// worker may wait for the latch.
    #[inline(always)]
    pub(crate) unsafe fn new(owner: End, position: i64) -> Self {
        Self::with_word(LatchWord::with_note(position), SamePool(Cell::new(owner)))
    }

    /// The position of its job, or a negative number if it is set.
    #[inline(always)]
    pub(crate) fn position(&self) -> i64 {
        self.word.note()
    }

    /// The job was pushed again, by its owner, to another position.
    pub(crate) fn set_position(&self, position: i64) {
        self.word.set_note(position);
    }

    /// The end that it was made with, unless that has changed.
    #[inline(always)]
    pub(crate) fn end(&self) -> End {
        self.owner.0.get()
    }

    /// Makes `end` count as the end of the thread that made the latch: a job that the worker of
    /// `end` runs has not migrated.
    ///
    /// # Safety
    ///
    /// As for [`new`](Self::new); and no other thread may use the latch yet.
    pub(crate) unsafe fn set_end(&self, end: End) {
        self.owner.0.set(end);
    }
}

impl LatchOwner for SamePool {
    const FETCH_LATE: &'static str = "latch/spin-fetch-late";
    const NO_WAKE: &'static str = "engine/spin-latch-no-wake";

    fn index(&self) -> usize {
        // SAFETY: a deque is there as long as its pool, which the setter keeps. Nobody's is a
        // static, or lives as long as the `Detour` of the worker that waits for the call.
        unsafe { self.0.get().number() }
    }
}

/// A worker of another pool than the one that runs the job. The setter keeps the owner's registry
/// alive, even if its pool is dropped the moment the owner goes on.
#[derive(Debug)]
pub(crate) struct OtherPool<'a>(&'a WorkerThread);

impl<'a> CrossLatch<'a> {
    pub(crate) fn new(owner: &'a WorkerThread) -> Self {
        Self::for_owner(OtherPool(owner))
    }
}

impl LatchOwner for OtherPool<'_> {
    const FETCH_LATE: &'static str = "latch/cross-fetch-late";
    const NO_WAKE: &'static str = "engine/cross-latch-no-wake";

    fn index(&self) -> usize {
        self.0.index()
    }
}
