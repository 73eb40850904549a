//! The deadlock alarm of a pool: its lookout, and the report for the user's handler.

use super::Pool;
use super::pool::{WhileBusy, report_on};
use super::report::{BlockedWorker, Deadlock, WorkerState};
use drowse_sleep::{Lookout, Sleep, Standstill, Stopped};
use drowse_sync::{Arc, Counter, Weak, say};
use std::io;
use std::time::Duration;

/// Time that a pool must have stood still before that is a deadlock, unless the builder sets it.
pub(super) const DEADLOCK_AFTER: Duration = Duration::from_millis(200);

/// Returns `sleep` with a census and a lookout.
pub(super) fn with_alarm(sleep: Sleep, after: Duration, pool: Weak<dyn Pool>) -> Sleep {
    let failures = Counter::new();
    sleep.with_deadlock_detection(after, move |lookout| {
        // A worker calls this, so the pool lives.
        let Some(started) = pool.upgrade().map(|pool| start_lookout(lookout, &pool)) else {
            return false;
        };
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

fn start_lookout(lookout: Lookout, pool: &Arc<dyn Pool>) -> io::Result<()> {
    let weak = Arc::downgrade(pool);
    pool.start_watch(
        "drowse-lookout",
        Box::new(move |while_busy| keep_lookout(&lookout, &weak, while_busy)),
    )
}

/// Runs a lookout. It holds the pool only while it looks at the queues or raises an alarm.
fn keep_lookout(lookout: &Lookout, pool: &Weak<dyn Pool>, while_busy: &WhileBusy<'_>) {
    let look = |standstill: &Standstill, _| {
        // Without a mark the pool stands still because spares have run out. That matters only if a
        // job is queued: no thread is left to run it.
        let has_queued = || pool.upgrade().is_some_and(|pool| pool.has_queued_jobs());
        if standstill.has_marks() || has_queued() { standstill.motions() } else { None }
    };
    while let Some(standstill) = lookout.next_alarm(look) {
        let Some(pool) = pool.upgrade() else { return };
        while_busy(&|| raise_alarm(&*pool, &standstill));
    }
}

/// Calls the user's handler, on a thread that is not a worker, with no lock held.
fn raise_alarm(pool: &dyn Pool, standstill: &Standstill) {
    if let Some(handler) = &pool.probe().plan.deadlock {
        let deadlock = deadlock(pool, standstill);
        pool.call_handler(&|| handler(&deadlock));
    }
}

fn deadlock(pool: &dyn Pool, standstill: &Standstill) -> Deadlock {
    let (mut workers, mut blocked, mut asleep) = (Vec::new(), Vec::new(), 0);
    for (index, stopped) in standstill.workers.iter().enumerate() {
        let state = match stopped {
            Stopped::Asleep => WorkerState::Asleep,
            Stopped::Blocked(_) => WorkerState::Blocked,
            Stopped::Away(_) => WorkerState::Away,
            Stopped::Gone => WorkerState::Gone,
        };
        if index >= pool.num_threads() && state == WorkerState::Gone {
            continue; // No spare uses this seat.
        }
        let mut report = report_on(pool, index, state);
        if let Stopped::Blocked(mark) = stopped {
            let region = BlockedWorker { index, what: mark.what, at: mark.at };
            report.region = Some(region);
            blocked.push(region);
        }
        asleep += usize::from(state == WorkerState::Asleep);
        workers.push(report);
    }
    Deadlock {
        num_threads: pool.num_threads(),
        blocked,
        out_of_spares: standstill.is_out_of_spares.then(|| pool.most_spares()),
        asleep,
        workers,
    }
}
