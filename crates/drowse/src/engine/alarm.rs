//! The deadlock alarm of a pool: its lookout, and the report for the user's handler.

use super::recruit::{Presence, Recruiter};
use super::registry::{Handlers, Registry};
use crate::report::{BlockedWorker, Deadlock, WorkerState};
use drowse_sleep::{Lookout, Sleep, Standstill, Stopped};
use drowse_sync::{Arc, Counter, Weak, faulty, say};
use std::time::Duration;

/// Time that a pool must have stood still before that is a deadlock, unless the builder sets it.
pub(crate) const DEADLOCK_AFTER: Duration = Duration::from_millis(200);

/// Returns `sleep`; with a census and a lookout if the pool has a deadlock handler.
pub(super) fn with_alarm(
    sleep: Sleep,
    handlers: &Handlers,
    recruiter: &Arc<Recruiter>,
    pool: &Weak<Registry>,
) -> Sleep {
    if handlers.deadlock.is_none() {
        return sleep;
    }
    let (pool, failures) = (Weak::clone(pool), Counter::new());
    let recruiter = faulty!(
        "alarm/lookout-unaccounted",
        Arc::clone(recruiter),
        Arc::new(Recruiter::new(0, recruiter.stack_size()))
    );
    sleep.with_deadlock_detection(handlers.deadlock_after.unwrap_or(DEADLOCK_AFTER), move |lookout| {
        let pool = Weak::clone(&pool);
        let keep = move |presence: &Presence| keep_lookout(&lookout, &pool, presence);
        let started = recruiter.start_watch("drowse-lookout", Box::new(keep));
        if let Err(error) = &started {
            failures.add(1);
            if failures.get() == 1 {
                say(format_args!(
                    "drowse: a pool may be deadlocked, but the system starts no thread that would check \
                     it: {error}"
                ));
            }
        }
        started.is_ok()
    })
}

/// Runs a lookout. It holds the pool only while it looks at the queues or raises an alarm.
fn keep_lookout(lookout: &Lookout, pool: &Weak<Registry>, presence: &Presence) {
    let look = |standstill: &Standstill, _| {
        // Without a mark the pool stands still because spares have run out. That matters only if a
        // job is queued: no thread is left to run it.
        let has_queued = || pool.upgrade().is_some_and(|pool| pool.has_queued_jobs());
        if standstill.has_marks() || has_queued() { standstill.motions() } else { None }
    };
    while let Some(standstill) = lookout.next_alarm(look) {
        let Some(pool) = pool.upgrade() else { return };
        presence.while_busy(&|| pool.raise_alarm(&standstill));
    }
}

impl Registry {
    /// Calls the user's handler, on a thread that is not a worker, with no lock held.
    fn raise_alarm(&self, standstill: &Standstill) {
        if let Some(handler) = &self.handlers.deadlock {
            let deadlock = self.deadlock(standstill);
            self.call_handler(&|| handler(&deadlock));
        }
    }

    /// Returns `true` if any queue holds a job or a letter. Reliable only while no worker is
    /// active.
    fn has_queued_jobs(&self) -> bool {
        self.work_visible() || self.threads.iter().any(|thread| thread.broadcasts.are_there())
    }

    fn deadlock(&self, standstill: &Standstill) -> Deadlock {
        let (mut workers, mut blocked, mut asleep) = (Vec::new(), Vec::new(), 0);
        for (index, stopped) in standstill.workers.iter().enumerate() {
            let state = match stopped {
                Stopped::Asleep => WorkerState::Asleep,
                Stopped::Blocked(_) => WorkerState::Blocked,
                Stopped::Away(_) => WorkerState::Away,
                Stopped::Gone => WorkerState::Gone,
            };
            if index >= self.num_threads() && state == WorkerState::Gone {
                continue; // No spare uses this seat.
            }
            let mut report = self.report_on(index, state);
            if let Stopped::Blocked(mark) = stopped {
                let region = BlockedWorker { index, what: mark.what, at: mark.at };
                report.region = Some(region);
                blocked.push(region);
            }
            asleep += usize::from(state == WorkerState::Asleep);
            workers.push(report);
        }
        Deadlock {
            num_threads: self.num_threads(),
            blocked,
            out_of_spares: standstill.is_out_of_spares.then(|| self.spares.most()),
            asleep,
            workers,
        }
    }
}
