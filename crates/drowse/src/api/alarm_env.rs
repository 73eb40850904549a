//! Deadlock and stall handlers of a pool: those of the builder, else those that the environment
//! asks for.

use super::env::{DEADLOCK, OnDeadlock, STALL};
use super::setting::Once;
use crate::Deadlock;
use crate::engine::{Handlers, StallPlan};
use drowse_sync::{Outlined, say};
use std::process;

/// Returns `handlers`, completed with those that the environment asks for and the builder did not
/// set.
pub(super) fn with_default_alarms(mut handlers: Outlined<Handlers>) -> Outlined<Handlers> {
    if handlers.deadlock.is_none() {
        handlers.deadlock = match DEADLOCK.get() {
            Some(OnDeadlock::Report) => Some(Box::new(report)),
            Some(OnDeadlock::Abort) => Some(Box::new(report_and_abort)),
            Some(OnDeadlock::Nothing) | None => None,
        };
    }
    let after =
        handlers.stall.as_ref().and_then(|plan| plan.after).or_else(|| STALL.get().flatten());
    if after.is_some() {
        let handler = handlers.stall.take().and_then(|plan| plan.handler);
        handlers.stall = Some(StallPlan { after, handler });
    }
    say_what_has_no_effect(&handlers);
    handlers
}

/// Prints once per process which settings have no effect because their alarm is off. Prints nothing
/// if the environment turns the alarm off explicitly.
fn say_what_has_no_effect(handlers: &Handlers) {
    static STALLS: Once = Once::new();
    static DEADLOCKS: Once = Once::new();
    if handlers.stall.as_ref().is_some_and(|plan| plan.after.is_none()) && STALL.get().is_none() {
        STALLS.call(|| {
            say(format_args!(
                "drowse: stall_handler has no effect: neither stall_watch nor DROWSE_STALL asks for a watch"
            ));
        });
    }
    if handlers.deadlock_after.is_some() && handlers.deadlock.is_none() && DEADLOCK.get().is_none()
    {
        DEADLOCKS.call(|| {
            say(format_args!(
                "drowse: deadlock_after has no effect: neither deadlock_handler nor DROWSE_DEADLOCK asks for \
                 reports"
            ));
        });
    }
}

fn report(deadlock: &Deadlock) {
    say(format_args!("drowse: {deadlock}"));
}

fn report_and_abort(deadlock: &Deadlock) {
    say(format_args!("drowse: {deadlock}\ndrowse: aborting, as DROWSE_DEADLOCK says"));
    process::abort();
}
