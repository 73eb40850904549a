//! The latch of a job that one worker waits for.

use super::Latch;
use crate::engine::{Registry, WorkerThread};
use drowse_sleep::{LatchWord, Reason};
use drowse_sync::{Arc, Lifetime, mutant};
use std::ptr;

/// Set when the one job is done, by a worker of the owner's own pool.
#[derive(Debug)]
pub(crate) struct SpinLatch<'a> {
    word: LatchWord,
    owner: &'a WorkerThread,
    lifetime: Lifetime,
}

impl<'a> SpinLatch<'a> {
    #[inline(always)]
    pub(crate) fn new(owner: &'a WorkerThread) -> Self {
        Self { word: LatchWord::new(), owner, lifetime: Lifetime::new() }
    }

    #[inline(always)]
    pub(crate) fn probe(&self) -> bool {
        self.word.probe()
    }

    pub(crate) fn word(&self) -> &LatchWord {
        &self.word
    }

    /// Whoever sets the latch must know the owner before it does.
    #[inline(always)]
    fn owner(&self) -> &'a WorkerThread {
        self.lifetime.used();
        self.owner
    }
}

#[cfg(drowse_loom)]
impl Drop for SpinLatch<'_> {
    fn drop(&mut self) {
        self.lifetime.over();
    }
}

impl Latch for SpinLatch<'_> {
    #[inline]
    unsafe fn set(this: *const Self) {
        // SAFETY: alive as the call begins. All that is needed later is fetched before the word is set.
        let (registry, worker) = unsafe {
            let owner = (*this).owner();
            (ptr::from_ref::<Registry>(owner.registry()), owner.index())
        };
        // SAFETY: as above; this is the last use of `this`.
        let slept = unsafe { LatchWord::set(ptr::addr_of!((*this).word)) };
        // SAFETY: none, that is the point of the mutant: the latch may be gone.
        mutant::active("latch/spin-fetch-late").then(|| unsafe { (*this).owner() });
        if !mutant::active("engine/spin-latch-no-wake") {
            // SAFETY: only workers of the owner's pool take jobs from its deque, so the thread we are on is one
            // of them and keeps the registry alive.
            unsafe { &*registry }.wake_owner(worker, slept, Reason::Latch);
        }
    }

    fn migrated(&self) -> bool {
        !ptr::eq(WorkerThread::current(), self.owner)
    }
}

/// As [`SpinLatch`], but set by a worker of another pool, which keeps the owner's registry alive for as long as
/// it takes.
#[derive(Debug)]
pub(crate) struct CrossLatch<'a>(SpinLatch<'a>);

impl<'a> CrossLatch<'a> {
    pub(crate) fn new(owner: &'a WorkerThread) -> Self {
        Self(SpinLatch::new(owner))
    }

    pub(crate) fn word(&self) -> &LatchWord {
        &self.0.word
    }
}

impl Latch for CrossLatch<'_> {
    unsafe fn set(this: *const Self) {
        // SAFETY: alive as the call begins; everything is fetched before the word is set, and the clone
        // keeps the registry alive even if its pool is dropped the moment its worker goes on.
        let (registry, worker) = unsafe {
            let owner = (*this).0.owner();
            (Arc::clone(owner.registry()), owner.index())
        };
        // SAFETY: as above; this is the last use of `this`.
        let slept = unsafe { LatchWord::set(ptr::addr_of!((*this).0.word)) };
        // SAFETY: none, that is the point of the mutant: the latch may be gone.
        mutant::active("latch/cross-fetch-late").then(|| unsafe { (*this).0.owner() });
        if !mutant::active("engine/cross-latch-no-wake") {
            registry.wake_owner(worker, slept, Reason::Latch);
        }
    }
}
