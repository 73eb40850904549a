//! Workers without a thread: what their seats hold, and how a thread is started for them.
//!
//! The parts of a worker that do not belong to its thread, above all the owner's end of the deque,
//! are kept here while it has no thread. See `drowse_sleep`'s `absent.rs` for how other workers see
//! that.
//!
//! The first worker always has a thread, so the pool makes progress even if the system starts no
//! other. If it refuses a thread, `start` gives up, wakes another sleeper instead, if there is one,
//! and no thread is tried for a while. But only the worker itself can run what a broadcast has left
//! for it: then `start` tries again until it succeeds.

use super::recruit::Recruiter;
use super::registry::Registry;
use super::start::ThreadBuilderParts;
use drowse_sleep::{Reason, Starter};
use drowse_sync::atomic::{AtomicBool, Ordering};
use drowse_sync::{Arc, Counter, Mutex, Stopwatch, say};
use std::fmt;
use std::thread;
use std::time::Duration;

/// Time for which no thread is tried after the system has refused one.
const PAUSE: Duration = Duration::from_millis(100);

/// Time between two attempts where there is no other way.
const NEXT_TRY: Duration = Duration::from_millis(2);

/// The seats of one pool that have no thread.
pub(crate) struct Vacancies {
    recruiter: Arc<Recruiter>,
    /// One entry per worker. It holds the registry, which holds this: emptied at the end of the
    /// pool.
    seats: Box<[Mutex<Option<ThreadBuilderParts>>]>,
    clock: Stopwatch,
    /// Time at which the system may be asked for a thread again, in nanoseconds by the clock.
    refused_until: Counter,
    has_complained: AtomicBool,
}

impl Vacancies {
    pub(super) fn new(workers: usize, recruiter: Arc<Recruiter>) -> Self {
        Self {
            recruiter,
            seats: (0..workers).map(|_| Mutex::new(None)).collect(),
            clock: Stopwatch::start(),
            refused_until: Counter::new(),
            has_complained: AtomicBool::new(false),
        }
    }

    /// Leaves the parts of a worker for the next thread in its seat.
    pub(super) fn deposit(&self, parts: ThreadBuilderParts) {
        let seat = parts.index;
        *self.seats[seat].lock() = Some(parts);
    }

    /// Takes the parts that are left for a seat. `None` if the pool has ended.
    pub(super) fn take(&self, seat: usize) -> Option<ThreadBuilderParts> {
        self.seats[seat].lock().take()
    }

    /// Drops all parts, as the pool has ended.
    pub(super) fn clear(&self) {
        for seat in 0..self.seats.len() {
            drop(self.take(seat));
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.clock.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Records that the system has refused a thread, and reports it once.
    fn refused(&self, error: &std::io::Error) {
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

/// Prints only the name, as for [`Limits`](super::start::Limits).
impl fmt::Debug for Vacancies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Vacancies")
    }
}

impl Starter for Vacancies {
    fn start(&self, worker: usize, reason: Reason) {
        if reason == Reason::Terminate {
            return; // The pool ends, and so does the worker, without having been there.
        }
        // The thread counts as present before the parts are taken: if the pool ends meanwhile, its
        // end waits for the thread, or has taken the parts away (`clear`).
        let mut presence = Some(self.recruiter.expect(worker));
        let mut parts = self.take(worker);
        while let Some(mut ready) = parts.take() {
            ready.presence = presence.take();
            let Err(refused) = self.recruiter.start_worker(ready) else { return };
            let (error, mut back) = *refused;
            presence = back.presence.take();
            self.refused(&error);
            let registry = Arc::clone(&back.registry);
            self.deposit(back);
            let home = registry.threads[worker].terminate.word();
            // The worker searches, as if its thread had come and found nothing.
            let _ = registry.sleep.arrive(worker, home);
            // WAKE: `Sleep::post_broadcast` woke no thread for this worker if it came after the
            // claim. `stay_away` looks at the letters once the worker is counted as asleep again.
            if registry.sleep.stay_away(worker, home, &|| registry.has_letter(worker)) {
                return wake_another(&registry);
            }
            // There is a letter for this worker, or another thread prevents the sleep.
            parts = self.take(worker);
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

/// Wakes another worker, because the thread for this one could not be started.
fn wake_another(registry: &Registry) {
    if registry.work_visible() {
        registry.sleep.wake_in_place_of_absent();
    }
}
