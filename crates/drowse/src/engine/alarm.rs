//! Who hears that the pool stands still, and what is told.

use super::registry::{Handlers, Registry};
use crate::report::{BlockedWorker, Deadlock, WorkerState};
use drowse_sleep::{Lookout, Sleep, Standstill, Stopped};
use drowse_sync::{Counter, Weak, say, thread};
use std::time::Duration;

/// How long a pool must have stood still before that is called a deadlock, unless the builder says
/// otherwise.
pub(crate) const DEADLOCK_AFTER: Duration = Duration::from_millis(200);

/// The same sleep; with a census if anybody wants to hear of deadlocks.
pub(super) fn with_alarm(sleep: Sleep, handlers: &Handlers, pool: &Weak<Registry>) -> Sleep {
    if handlers.deadlock.is_none() {
        return sleep;
    }
    let (pool, failures) = (Weak::clone(pool), Counter::new());
    sleep.with_deadlock_detection(handlers.deadlock_after.unwrap_or(DEADLOCK_AFTER), move |lookout| {
        let pool = Weak::clone(&pool);
        let builder = thread::Builder::new().name("drowse-lookout".to_owned());
        let started = builder.spawn(move || keep_lookout(&lookout, &pool));
        if let Err(error) = &started {
            failures.add(1);
            if failures.get() == 1 {
                say(format_args!(
                    "drowse: a pool may have come to a standstill, and there is no thread to be had that would \
                     make sure: {error}"
                ));
            }
        }
        started.is_ok()
    })
}

/// The life of a lookout. It has the pool only while it raises an alarm.
fn keep_lookout(lookout: &Lookout, pool: &Weak<Registry>) {
    while let Some(standstill) = lookout.next_alarm(|standstill, _| standstill.motions()) {
        let Some(pool) = pool.upgrade() else { return };
        pool.raise_alarm(&standstill);
    }
}

impl Registry {
    /// Calls the user's handler, on a thread that is not a worker, with nothing locked.
    fn raise_alarm(&self, standstill: &Standstill) {
        if let Some(handler) = &self.handlers.deadlock {
            let deadlock = self.deadlock(standstill);
            self.catch_unwind(|| handler(&deadlock));
        }
    }

    fn deadlock(&self, standstill: &Standstill) -> Deadlock {
        let workers: Vec<_> = standstill
            .workers
            .iter()
            .enumerate()
            // Nobody sits there.
            .filter(|(index, stopped)| *index < self.num_threads() || !matches!(stopped, Stopped::Gone))
            .map(|(index, stopped)| {
                let mut report = self.report_on(
                    index,
                    match stopped {
                        Stopped::Asleep => WorkerState::Asleep,
                        Stopped::Blocked(_) => WorkerState::Blocked,
                        Stopped::Gone => WorkerState::Gone,
                    },
                );
                if let Stopped::Blocked(mark) = stopped {
                    report.region = Some(BlockedWorker { index, what: mark.what, at: mark.at });
                }
                report
            })
            .collect();
        Deadlock {
            num_threads: self.num_threads(),
            blocked: workers.iter().filter_map(|worker| worker.region).collect(),
            asleep: workers.iter().filter(|worker| worker.state == WorkerState::Asleep).count(),
            workers,
        }
    }
}
