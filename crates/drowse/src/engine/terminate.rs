//! How a pool ends: when the last reason for it to live is gone.
//!
//! The handle of a pool is one such reason; each job that was spawned and that nobody waits for is
//! another. The last to go sets each worker's terminate latch. So a pool that is dropped still runs
//! what was spawned into it.

use super::registry::Registry;
use super::stall::StallWatch;
use super::stock::SharedCount;
use drowse_sync::atomic::Ordering;
use drowse_sync::{ThreadId, mutant};

impl Registry {
    /// One more reason to live: a job that the calling thread spawns. Only for a caller that holds
    /// one, or works for the pool.
    pub(crate) fn retain(&self) {
        self.with_worker(|worker| match worker {
            Some(worker) => worker.take_reason(),
            None => {
                self.assert_here();
                self.add(1);
            }
        });
    }

    /// Whether the thread of this worker, which had one, is gone; `false` if the system does not
    /// tell.
    pub(crate) fn thread_is_gone(&self, worker: usize) -> bool {
        let is_there = |thread: ThreadId| thread.motion().is_some();
        let thread = self.threads[worker].trail.thread();
        is_there(ThreadId::current()) && thread.is_some_and(|thread| !is_there(thread))
    }

    /// One reason less. The last one ends the pool.
    pub(crate) fn release(&self) {
        // SAFETY: it was the caller's. The registry is borrowed.
        unsafe { Self::subtract(self, 1) };
    }
}

/// The reasons to live.
impl SharedCount for Registry {
    fn add(&self, count: usize) {
        // ORDERING: relaxed; the caller's own reason keeps the count from reaching zero first.
        let old = self.reasons_to_live.fetch_add(count, Ordering::Relaxed);
        assert!(old < isize::MAX as usize, "too many spawned jobs");
    }

    /// Nobody waits for the end of a pool: it may come when its last worker has settled. To look
    /// would be to fetch the word with each job that threads outside change with each of theirs.
    #[inline]
    fn is_down_to(&self, _count: usize) -> bool {
        false
    }

    unsafe fn subtract(this: *const Self, count: usize) {
        // SAFETY: alive as the call begins; and the caller holds the registry, too.
        let registry = unsafe { &*this };
        // ORDERING: acquire-release, so that what each holder did comes before the end.
        let ordering = mutant::weaken("engine/release-relaxed", Ordering::AcqRel);
        // In a forked child there is no thread to be told, and locks may be locked for ever.
        if registry.reasons_to_live.fetch_sub(count, ordering) == count && !registry.is_left_behind() {
            registry.recruiter.close();
            registry.spares.close();
            registry.stall_watch.get().into_iter().for_each(StallWatch::end);
            registry.sleep.end_detection();
            for (index, thread) in registry.threads.iter().take(registry.num_threads()).enumerate() {
                // WAKE: each worker waits for its own latch in its main loop; one asleep on it is
                // woken.
                thread.terminate.set_and_wake(registry, index);
            }
            // Those that are absent were claimed just now, and are not started for the end.
            registry.vacancies.iter().for_each(|vacancies| vacancies.clear());
        }
    }
}
