//! Workers without a thread: what is left in their seats, and how they get one again.
//!
//! What belongs to a worker and not to its thread, its end of the deque above all, is kept here
//! while it has none. See `drowse_sleep`'s `absent.rs` for how the others see that.
//!
//! The first worker always has a thread, so somebody is there to run things even if the system
//! lets us start no more. If it does not, a thread that was to be started is given up, somebody who
//! sleeps is woken in its place, if there is anybody, and nobody tries again for a while. But what
//! a broadcast has left for a worker nobody else can run: whoever broadcasts goes on trying.

use super::recruit::Recruiter;
use super::registry::Registry;
use super::start::ThreadBuilderParts;
use drowse_sleep::{Reason, Starter};
use drowse_sync::atomic::{AtomicBool, Ordering};
use drowse_sync::{Arc, Counter, Mutex, Stopwatch, say};
use std::fmt;
use std::thread;
use std::time::Duration;

/// After the system has refused a thread, none is tried for so long.
const PAUSE: Duration = Duration::from_millis(100);

/// But where there is no other way, it is tried again after this.
const NEXT_TRY: Duration = Duration::from_millis(2);

/// The seats of one pool that have no thread.
pub(crate) struct Vacancies {
    recruiter: Arc<Recruiter>,
    /// One a worker. What is there holds the registry, and the registry holds us: so it is taken
    /// out at the end of the pool.
    seats: Box<[Mutex<Option<ThreadBuilderParts>>]>,
    clock: Stopwatch,
    /// When the system may be asked for a thread again, in nanoseconds by the clock.
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

    /// Leaves a seat to whoever needs it.
    pub(super) fn deposit(&self, parts: ThreadBuilderParts) {
        let seat = parts.index;
        *self.seats[seat].lock() = Some(parts);
    }

    /// Takes what is left there. Nothing, if the pool has ended.
    pub(super) fn take(&self, seat: usize) -> Option<ThreadBuilderParts> {
        self.seats[seat].lock().take()
    }

    /// The pool has ended: nobody needs them any more.
    pub(super) fn clear(&self) {
        for seat in 0..self.seats.len() {
            drop(self.take(seat));
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.clock.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// The system lets us start no thread for this worker.
    fn refused(&self, error: &std::io::Error) {
        // ORDERING: relaxed; nothing but the line depends on it.
        if !self.has_complained.swap(true, Ordering::Relaxed) {
            say(format_args!(
                "drowse: a thread that a pool needs could not be started, it goes on with those that it has: {error} \
                 (raise the limit, or ask for fewer threads or smaller stacks)"
            ));
        }
        self.refused_until.set_mine(self.now() + u64::try_from(PAUSE.as_nanos()).unwrap_or(0));
    }
}

/// It tells no more than its name, as [`Limits`](super::start::Limits).
impl fmt::Debug for Vacancies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Vacancies")
    }
}

impl Starter for Vacancies {
    fn start(&self, worker: usize, reason: Reason) {
        // The pool ends, and so does the worker, without having been there.
        let mut parts = if reason == Reason::Terminate { None } else { self.take(worker) };
        while let Some(mut ready) = parts.take() {
            ready.expect_thread();
            let Err(refused) = self.recruiter.start_worker(ready) else { return };
            let (error, mut back) = *refused;
            back.presence = None;
            self.refused(&error);
            let registry = Arc::clone(&back.registry);
            self.deposit(back);
            let home = registry.threads[worker].terminate.word();
            // As if it had come, and found nothing.
            let _ = registry.sleep.arrive(worker, home);
            // WAKE: a broadcast that came since the claim took the worker for awake.
            if registry.sleep.stay_away(worker, home, &|| registry.has_letter(worker)) {
                return wake_another(&registry);
            }
            // There is something for this worker alone, or somebody stands in the way.
            parts = self.take(worker);
            if home.probe() {
                return;
            }
            if registry.has_letter(worker) {
                #[allow(clippy::disallowed_methods, reason = "nothing tells when there are threads again")]
                thread::sleep(NEXT_TRY);
            }
        }
    }

    fn may_start(&self) -> bool {
        let until = self.refused_until.get();
        until == 0 || self.now() >= until
    }
}

/// Somebody who was needed is not to be had.
fn wake_another(registry: &Registry) {
    if registry.work_visible() {
        registry.sleep.wake_in_place_of_absent();
    }
}
