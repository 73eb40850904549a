//! End of a pool: when its last reason to live is gone.
//!
//! The handle of a pool is such a reason, and so is each spawned job without a waiting caller. The
//! last one to go sets each worker's terminate latch. So a pool that is dropped still runs what was
//! spawned into it.

use super::registry::Registry;
use super::stock::SharedCount;
use drowse_sleep::{LatchWord, Reason};
use drowse_sync::atomic::Ordering;
use drowse_sync::{ThreadId, mutant, omittable};

impl Registry {
    /// Adds a reason to live, for a job that the calling thread spawns. The caller must hold a
    /// reason, or work for the pool.
    pub(crate) fn retain(&self) {
        self.with_worker(|worker| match worker {
            Some(worker) => worker.take_reason(),
            None => {
                self.assert_here();
                self.add(1);
            }
        });
    }

    /// Returns `true` if this worker had a thread that no longer exists; `false` also if the system
    /// does not tell.
    pub(crate) fn thread_is_gone(&self, worker: usize) -> bool {
        let is_there = |thread: ThreadId| thread.motion().is_some();
        let thread = self.thread_of(worker);
        is_there(ThreadId::current()) && thread.is_some_and(|thread| !is_there(thread))
    }

    /// Returns the thread of a worker, once it has begun.
    pub(super) fn thread_of(&self, worker: usize) -> Option<ThreadId> {
        ThreadId::from_bits(u32::try_from(self.threads[worker].thread.get()).unwrap_or(0))
    }

    /// Removes a reason. The last one ends the pool.
    pub(crate) fn release(&self) {
        // SAFETY: the reason was the caller's. The registry is borrowed.
        unsafe { Self::subtract(self, 1) };
    }
}

/// Count of the reasons to live.
impl SharedCount for Registry {
    fn add(&self, count: usize) {
        // ORDERING: relaxed; the caller's own reason keeps the count from reaching zero first.
        let old = self.reasons_to_live.fetch_add(count, Ordering::Relaxed);
        assert!(old < isize::MAX as usize, "too many spawned jobs");
    }

    /// Always `false`: the end of a pool may come when the last worker settles. A look would fetch,
    /// with each job, a word that threads outside change with each of theirs.
    #[inline]
    fn is_down_to(&self, _count: usize) -> bool {
        false
    }

    unsafe fn subtract(this: *const Self, count: usize) {
        // SAFETY: alive when the call begins, because the caller holds the registry, too.
        let registry = unsafe { &*this };
        // ORDERING: acquire-release pairs with the other calls of `subtract`. With relaxed, the
        // thread that ends the pool might not see what the other holders did before.
        let ordering = mutant::weaken("engine/release-relaxed", Ordering::AcqRel);
        // In a forked child there are no workers to end, and locks may be held for ever.
        if registry.reasons_to_live.fetch_sub(count, ordering) == count
            && !registry.is_left_behind()
        {
            registry.recruiter.close();
            registry.bench.close();
            registry.probe.end();
            registry.sleep.end_detection();
            for (index, thread) in registry.threads.iter().take(registry.num_threads()).enumerate()
            {
                // SAFETY: the latch is borrowed, so it is alive.
                let slept = unsafe { LatchWord::set(&thread.terminate) };
                // WAKE: each worker waits for its own latch, in its main loop, and may sleep there.
                omittable!(
                    "engine/terminate-no-wake",
                    registry.wake_owner(index, slept, Reason::Terminate)
                );
            }
        }
    }
}
