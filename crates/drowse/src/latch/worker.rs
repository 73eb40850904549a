//! The latch of a job that one worker waits for.

use super::Latch;
use crate::engine::{End, Registry, WorkerThread};
use drowse_sleep::{LatchWord, Reason};
use drowse_sync::{Arc, Lifetime, faulty, omittable};
use std::ops::Deref;
use std::ptr::NonNull;

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
    /// What keeps the owner's registry alive for whoever sets the latch.
    type Pool: Deref<Target = Registry>;

    /// The fault of fetching the owner from a latch that is set already.
    const FETCH_LATE: &'static str;
    /// The fault of not waking the owner.
    const NO_WAKE: &'static str;

    fn index(&self) -> usize;

    /// The owner's pool, to be held on to when the latch is gone.
    ///
    /// # Safety
    ///
    /// Only for the thread that sets the latch, which must not keep it any longer than that takes.
    unsafe fn pool(&self) -> Self::Pool;

    /// Whether the owner is the calling thread, which runs the job.
    fn is_this_thread(&self) -> bool {
        false
    }
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

    /// What it takes to wake the owner.
    ///
    /// # Safety
    ///
    /// As for [`LatchOwner::pool`].
    #[inline(always)]
    unsafe fn owner(&self) -> (O::Pool, usize) {
        self.lifetime.used();
        // SAFETY: the caller's promise.
        (unsafe { self.owner.pool() }, self.owner.index())
    }
}

impl<O: LatchOwner> Latch for WorkerLatch<O> {
    #[inline]
    unsafe fn set(this: *const Self) {
        // The owner may free the latch as soon as the word is set. So all that is needed after that
        // is fetched before.
        // SAFETY: alive as the call begins; this is the thread that sets the latch.
        let owner = unsafe { (*this).owner() };
        // SAFETY: alive until its word is set. This is the last use of `this`.
        let slept = unsafe { LatchWord::set(&raw const (*this).word) };
        let (pool, index) = faulty!(
            O::FETCH_LATE,
            owner,
            // SAFETY: none, that is the point of the fault: the latch may be gone.
            unsafe { (*this).owner() }
        );
        // WAKE: the owner, if it sleeps on the word: it did before we set it, or it finds it set.
        omittable!(O::NO_WAKE, pool.wake_owner(index, slept, Reason::Latch));
    }

    fn migrated(&self) -> bool {
        !self.owner.is_this_thread()
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
pub(crate) struct SamePool(End);

impl SpinLatch {
    /// For a job that is going to be pushed to this position.
    ///
    /// # Safety
    ///
    /// Only workers of the pool that the deque belongs to may set it, or nobody.
    #[inline(always)]
    pub(crate) unsafe fn new(owner: End, position: i64) -> Self {
        Self::with_word(LatchWord::with_note(position), SamePool(owner))
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

    /// The end that it was made with.
    #[inline(always)]
    pub(crate) fn end(&self) -> End {
        self.owner.0
    }
}

impl LatchOwner for SamePool {
    type Pool = SettersPool;

    const FETCH_LATE: &'static str = "latch/spin-fetch-late";
    const NO_WAKE: &'static str = "engine/spin-latch-no-wake";

    fn index(&self) -> usize {
        // SAFETY: a deque is there as long as its pool, which the setter keeps alive; or its owner,
        // who asks itself.
        unsafe { self.0.number() }
    }

    unsafe fn pool(&self) -> SettersPool {
        WorkerThread::with_current(|worker| {
            let worker = worker.expect("jobs are run by workers");
            SettersPool(NonNull::from(&**worker.registry()))
        })
    }

    fn is_this_thread(&self) -> bool {
        WorkerThread::with_current(|worker| worker.is_some_and(|worker| worker.end_of_deque().is(self.0)))
    }
}

/// The pool of the worker that sets a latch, and that of the one that waits for it.
#[derive(Debug)]
pub(crate) struct SettersPool(NonNull<Registry>);

impl Deref for SettersPool {
    type Target = Registry;

    #[inline(always)]
    fn deref(&self) -> &Registry {
        // SAFETY: only workers of the owner's pool take jobs from its deque. So the setter, which
        // alone has this (see `LatchOwner::pool`), is one of them, and keeps the registry alive.
        unsafe { self.0.as_ref() }
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
    type Pool = Arc<Registry>;

    const FETCH_LATE: &'static str = "latch/cross-fetch-late";
    const NO_WAKE: &'static str = "engine/cross-latch-no-wake";

    fn index(&self) -> usize {
        self.0.index()
    }

    unsafe fn pool(&self) -> Arc<Registry> {
        Arc::clone(self.0.registry())
    }
}
