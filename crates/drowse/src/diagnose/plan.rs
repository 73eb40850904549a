//! Which alarms and which trace a pool has: those of its builder, else those that the environment
//! asks for.

use super::alarm::DEADLOCK_AFTER;
use super::report::{Deadlock, Stall};
use super::time::Exact;
use super::trace::Trace;
use super::{DEADLOCK, STALL};
use crate::setting::{Once, Setting, switch, time};
use drowse_sync::{Arc, say};
use std::fmt;
use std::process;
use std::time::Duration;

type DeadlockHandler = dyn Fn(&Deadlock) + Send + Sync;
type StallHandler = dyn Fn(&Stall) + Send + Sync;

/// Alarms and trace of a pool.
#[derive(Default)]
pub(crate) struct Plan {
    pub(crate) deadlock: Option<Box<DeadlockHandler>>,
    /// Time that the pool must have stood still before an alarm; `None`: the default.
    pub(crate) deadlock_after: Option<Duration>,
    /// Time after which a worker that is inside one job, and is needed elsewhere, is reported.
    /// `None`: there is no watch.
    pub(crate) stall_after: Option<Duration>,
    /// Called with each report. `None`: reports go to the standard error.
    pub(crate) stall_handler: Option<Box<StallHandler>>,
    pub(crate) trace: Option<Trace>,
}

/// A plan that is complete.
pub(crate) type Ready = Arc<Plan>;

/// Reaction to a deadlock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OnDeadlock {
    Nothing,
    Report,
    Abort,
}

static ON_DEADLOCK: Setting<OnDeadlock> = Setting::new(
    DEADLOCK,
    |value| match value {
        "report" => Some(OnDeadlock::Report),
        "abort" => Some(OnDeadlock::Abort),
        _ => switch(value).map(|on| if on { OnDeadlock::Report } else { OnDeadlock::Nothing }),
    },
    "report, abort or off",
    "off: deadlocks are not reported",
);

static STALL_AFTER: Setting<Option<Duration>> = Setting::new(
    STALL,
    |value| time(value, Duration::from_secs(1), Duration::from_secs(5)),
    "a time (5s, 500ms, a number of seconds) or off",
    "off: no watch for stalls",
);

impl Plan {
    /// Completes the plan with the alarms that the environment asks for and the builder did not
    /// set.
    pub(crate) fn ready(mut self) -> Ready {
        if self.deadlock.is_none() {
            self.deadlock = match ON_DEADLOCK.get() {
                Some(OnDeadlock::Report) => Some(Box::new(report)),
                Some(OnDeadlock::Abort) => Some(Box::new(report_and_abort)),
                Some(OnDeadlock::Nothing) | None => None,
            };
        }
        self.stall_after = self.stall_after.or_else(|| STALL_AFTER.get().flatten());
        self.say_what_has_no_effect();
        Arc::new(self)
    }

    /// Prints once per process which settings have no effect because their alarm is off. Prints
    /// nothing if the environment turns the alarm off explicitly.
    fn say_what_has_no_effect(&self) {
        static STALLS: Once = Once::new();
        static DEADLOCKS: Once = Once::new();
        if self.stall_handler.is_some() && self.stall_after.is_none() && STALL_AFTER.get().is_none()
        {
            STALLS.call(|| {
                say(format_args!(
                    "drowse: stall_handler has no effect: neither stall_watch nor DROWSE_STALL asks for a watch"
                ));
            });
        }
        if self.deadlock_after.is_some() && self.deadlock.is_none() && ON_DEADLOCK.get().is_none() {
            DEADLOCKS.call(|| {
                say(format_args!(
                    "drowse: deadlock_after has no effect: neither deadlock_handler nor DROWSE_DEADLOCK asks for \
                     reports"
                ));
            });
        }
    }

    pub(super) fn deadlock_after(&self) -> Duration {
        self.deadlock_after.unwrap_or(DEADLOCK_AFTER)
    }

    /// Calls `add` with a description of each setting, for the line that a pool prints as it
    /// starts.
    pub(crate) fn describe(&self, add: &mut dyn FnMut(fmt::Arguments<'_>)) {
        if self.deadlock.is_some() {
            let after = Exact(self.deadlock_after());
            add(format_args!(
                "a deadlock handler after {after} (which changes scheduling: no limit for workers that are up, \
                 no deferred wakes, no doorkeeper for guests)"
            ));
        }
        if let Some(after) = self.stall_after {
            add(format_args!("a stall watch after {}", Exact(after)));
        }
        if self.stall_handler.is_some() {
            add(format_args!("a stall handler"));
        }
        if self.trace.is_some() {
            add(format_args!("a trace"));
        }
    }
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plan")
            .field("deadlock_handler", &self.deadlock.is_some())
            .field("deadlock_after", &self.deadlock_after)
            .field("stall_after", &self.stall_after)
            .field("stall_handler", &self.stall_handler.is_some())
            .field("trace", &self.trace.is_some())
            .finish()
    }
}

fn report(deadlock: &Deadlock) {
    say(format_args!("drowse: {deadlock}"));
}

fn report_and_abort(deadlock: &Deadlock) {
    say(format_args!("drowse: {deadlock}\ndrowse: aborting, as DROWSE_DEADLOCK says"));
    process::abort();
}
