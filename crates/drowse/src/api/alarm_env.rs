//! What is done about pools in which nothing moves: as the builder chose, else as the environment
//! says.

use super::env::{DEADLOCK, OnDeadlock, STALL};
use super::setting::Once;
use crate::Deadlock;
use crate::engine::{Handlers, StallPlan};
use drowse_sync::{Outlined, say};
use std::process;

/// Returns these handlers, and those that the environment asks for where none was chosen.
pub(super) fn with_default_alarms(mut handlers: Outlined<Handlers>) -> Outlined<Handlers> {
    if handlers.deadlock.is_none() {
        handlers.deadlock = match DEADLOCK.get() {
            Some(OnDeadlock::Report) => Some(Box::new(report)),
            Some(OnDeadlock::Abort) => Some(Box::new(report_and_abort)),
            Some(OnDeadlock::Nothing) | None => None,
        };
    }
    let after = handlers.stall.as_ref().and_then(|plan| plan.after).or_else(|| STALL.get().flatten());
    if after.is_some() {
        let handler = handlers.stall.take().and_then(|plan| plan.handler);
        handlers.stall = Some(StallPlan { after, handler });
    }
    say_what_has_no_effect(&handlers);
    handlers
}

/// Says once which settings have no effect, because what they belong to was not asked for: unless
/// the environment says that it is off.
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
    if handlers.deadlock_after.is_some() && handlers.deadlock.is_none() && DEADLOCK.get().is_none() {
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
