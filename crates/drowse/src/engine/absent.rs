//! Callbacks of the sleep protocol to its pool, and workers without a thread.
//!
//! The core of a worker without a thread is in its seat. See `drowse_sleep`'s `absent.rs` for how
//! other workers see such a worker.
//!
//! The first worker always has a thread, so the pool makes progress even if the system starts no
//! other. If it refuses a thread, `start` gives up, wakes another sleeper instead, if there is one,
//! and no thread is tried for a while. But only the worker itself can run what a broadcast has left
//! for it: then `start` tries again until it succeeds.

use super::guest::Leaving;
use super::registry::Registry;
use super::start::ThreadBuilderParts;
use drowse_sleep::{Posters, Reason, Starter};
use drowse_sync::atomic::{AtomicBool, Ordering};
use drowse_sync::{Arc, Counter, Stopwatch, say};
use std::fmt;
use std::io;
use std::thread;
use std::time::Duration;

/// Time for which no thread is tried after the system has refused one.
const PAUSE: Duration = Duration::from_millis(100);

/// Time between two attempts where there is no other way.
const NEXT_TRY: Duration = Duration::from_millis(2);

/// Pool of a sleep protocol, which calls it.
pub(super) struct Callbacks {
    /// The owner of the protocol.
    registry: *const Registry,
    clock: Stopwatch,
    /// Time at which the system may be asked for a thread again, in nanoseconds by the clock.
    refused_until: Counter,
    has_complained: AtomicBool,
}

// SAFETY: a registry can be used by all threads.
unsafe impl Send for Callbacks {}
// SAFETY: a registry is shared by all threads; the other fields are atomics or never change.
unsafe impl Sync for Callbacks {}

impl Callbacks {
    /// Returns the callbacks for this registry, which may not be complete yet, and which will own
    /// them. The pointer must come from a `Weak`.
    pub(super) fn of(registry: *const Registry) -> Self {
        Self {
            registry,
            clock: Stopwatch::start(),
            refused_until: Counter::new(),
            has_complained: AtomicBool::new(false),
        }
    }

    fn registry(&self) -> &Registry {
        // SAFETY: its `sleep` owns this, and nothing calls this before the registry is complete.
        unsafe { &*self.registry }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.clock.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Starts a thread for this worker, which counts as searching. Returns `false` if the system
    /// refuses it.
    fn try_start(&self, worker: usize) -> bool {
        // SAFETY: the pointer comes from a `Weak`, and the caller of the protocol holds the
        // registry, so it is counted.
        let registry = unsafe {
            Arc::increment_strong_count(self.registry);
            Arc::from_raw(self.registry)
        };
        // If there are no parts, the pool has ended, and so has the worker.
        let Some(parts) = ThreadBuilderParts::of(registry, worker, true) else { return true };
        parts.start().map_err(|error| self.refused(&error)).is_ok()
    }

    /// Records that the system has refused a thread, and reports it once.
    fn refused(&self, error: &io::Error) {
        // ORDERING: relaxed; only the message depends on it.
        if !self.has_complained.swap(true, Ordering::Relaxed) {
            say(format_args!(
                "drowse: a thread that a pool needs could not be started, it goes on with those that it has: {error} \
                 (raise the limit, or ask for fewer threads or smaller stacks)"
            ));
        }
        self.refused_until.set_mine(self.now() + u64::try_from(PAUSE.as_nanos()).unwrap_or(0));
    }
}

/// Prints the name only: what this calls is in each program.
impl fmt::Debug for Callbacks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Callbacks")
    }
}

impl Posters for Callbacks {
    fn alert(&self, worker: usize) {
        self.registry().threads[worker].stealer.alert();
    }
}

impl Starter for Callbacks {
    fn start(&self, worker: usize, reason: Reason) {
        if reason == Reason::Terminate {
            return; // The pool ends, and so does the worker, without having been there.
        }
        let registry = self.registry();
        let home = &registry.threads[worker].terminate;
        while !self.try_start(worker) {
            // The worker searches, as if its thread had come and found nothing.
            let _ = registry.sleep.arrive(worker, home);
            // WAKE: `Sleep::post_broadcast` woke no thread for this worker if it came after the
            // claim. `stay_away` looks at the letters once the worker is counted as asleep again.
            if registry.sleep.stay_away(worker, home, &|| registry.has_letter(worker)) {
                // WAKE: another worker, because the thread for this one could not be started.
                if registry.work_visible() {
                    registry.sleep.wake_in_place_of_absent();
                }
                return;
            }
            // There is a letter for this worker, or another thread prevents the sleep.
            if home.probe() {
                return;
            }
            if registry.has_letter(worker) {
                #[allow(
                    clippy::disallowed_methods,
                    reason = "nothing tells when there are threads again"
                )]
                thread::sleep(NEXT_TRY);
            }
        }
    }

    fn may_start(&self) -> bool {
        let until = self.refused_until.get();
        until == 0 || self.now() >= until
    }
}

impl Registry {
    /// Begins a worker that has no thread yet.
    pub(super) fn begin_absent(&self, index: usize) {
        self.sleep.report_for_absent();
        assert!(self.leave(index), "no other thread is there yet");
    }

    /// Leaves an active worker without a thread. Returns `false` if there is news for the worker.
    pub(super) fn leave(&self, index: usize) -> bool {
        // SAFETY: the calling thread has the core, or it is new.
        let worker = unsafe { self.core(index) };
        let home = &self.threads[index].terminate;
        self.sleep.leave(index, home, &Leaving { worker })
    }
}
