//! What the environment says about pools in which nothing moves.

use super::env::read;
use crate::Deadlock;
use crate::engine::{Handlers, StallPlan};
use drowse_sync::{OnceLock, say};
use std::process;
use std::time::Duration;

/// What is done about a deadlock of a pool that did not choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OnDeadlock {
    Nothing,
    Report,
    Abort,
}

/// The same handlers, and those that the environment asks for where none was chosen.
pub(super) fn with_default_alarms(mut handlers: Handlers) -> Handlers {
    if handlers.deadlock.is_none() {
        handlers.deadlock = match on_deadlock() {
            OnDeadlock::Nothing => None,
            OnDeadlock::Report => Some(Box::new(report)),
            OnDeadlock::Abort => Some(Box::new(report_and_abort)),
        };
    }
    let after = || handlers.stall.as_ref().and_then(|plan| plan.after).or_else(default_stall_time);
    if let Some(after) = after() {
        let handler = handlers.stall.and_then(|plan| plan.handler);
        handlers.stall = Some(StallPlan { after: Some(after), handler });
    }
    handlers
}

fn report(deadlock: &Deadlock) {
    say(format_args!("drowse: {deadlock}"));
}

fn report_and_abort(deadlock: &Deadlock) {
    say(format_args!("drowse: {deadlock}\ndrowse: aborting, as DROWSE_DEADLOCK says"));
    process::abort();
}

fn on_deadlock() -> OnDeadlock {
    static ANSWER: OnceLock<OnDeadlock> = OnceLock::new();
    *ANSWER.get_or_init(|| read("DROWSE_DEADLOCK", on_deadlock_from))
}

/// What is done for this value of the variable, and what there is to complain about it.
fn on_deadlock_from(value: Option<&str>) -> (OnDeadlock, Option<String>) {
    match value.map(str::trim) {
        None | Some("" | "0") => (OnDeadlock::Nothing, None),
        Some("report") => (OnDeadlock::Report, None),
        Some("abort") => (OnDeadlock::Abort, None),
        Some(unknown) => {
            let complaint = format!(
                "DROWSE_DEADLOCK={unknown:?} is neither report nor abort; deadlocks are not reported"
            );
            (OnDeadlock::Nothing, Some(complaint))
        }
    }
}

fn default_stall_time() -> Option<Duration> {
    static ANSWER: OnceLock<Option<Duration>> = OnceLock::new();
    *ANSWER.get_or_init(|| read("DROWSE_STALL", stall_time_from))
}

/// The time for this value of the variable, and what there is to complain about it.
fn stall_time_from(value: Option<&str>) -> (Option<Duration>, Option<String>) {
    let Some(value) = value.map(str::trim).filter(|value| !matches!(*value, "" | "0")) else {
        return (None, None);
    };
    let seconds = value.parse::<f64>().ok().filter(|seconds| *seconds > 0.0);
    match seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
        Some(time) => (Some(time), None),
        None => {
            let complaint =
                format!("DROWSE_STALL={value:?} is not a number of seconds; nobody watches for stalls");
            (None, Some(complaint))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadlocks_are_reported_or_end_the_process_or_neither() {
        assert_eq!(on_deadlock_from(None), (OnDeadlock::Nothing, None));
        assert_eq!(on_deadlock_from(Some(" ")), (OnDeadlock::Nothing, None));
        assert_eq!(on_deadlock_from(Some("report")), (OnDeadlock::Report, None));
        assert_eq!(on_deadlock_from(Some("abort ")), (OnDeadlock::Abort, None));
        let (nothing, complaint) = on_deadlock_from(Some("panic"));
        assert_eq!(nothing, OnDeadlock::Nothing);
        assert!(complaint.unwrap().contains("DROWSE_DEADLOCK=\"panic\""));
    }

    #[test]
    fn a_stall_takes_seconds_or_parts_of_one() {
        assert_eq!(stall_time_from(None), (None, None));
        assert_eq!(stall_time_from(Some("0")), (None, None));
        assert_eq!(stall_time_from(Some("5")), (Some(Duration::from_secs(5)), None));
        assert_eq!(stall_time_from(Some(" 0.25 ")), (Some(Duration::from_millis(250)), None));
        for bad in ["-1", "soon", "NaN", "inf", "1e300"] {
            let (none, complaint) = stall_time_from(Some(bad));
            assert!(none.is_none() && complaint.unwrap().contains("DROWSE_STALL"), "{bad}");
        }
    }
}
