//! Line that a pool prints as it starts, if `DROWSE_LOG` is on.

use super::choices::Choices;
use crate::diagnose::{self, Exact};
use crate::engine::StartPlan;
use drowse_sleep::{SleepProtocol, Steering};
use drowse_sync::say;
use std::fmt::{self, Write};

/// Prints that a pool has started, and which of its settings are not the default.
#[cold]
pub(super) fn log_start(num_threads: usize, protocol: SleepProtocol, settings: &str) {
    let s = if num_threads == 1 { "" } else { "s" };
    let version = crate::VERSION;
    say(format_args!(
        "drowse {version}: a pool of {num_threads} thread{s}, sleep protocol {protocol}{settings}"
    ));
}

/// Returns the settings of a pool that are not the default, from the builder or the environment,
/// each after a comma. Without the feature `diagnose` only the first few.
#[cold]
pub(super) fn special_settings(
    chosen: &Choices,
    plan: &StartPlan<'_>,
    has_names: bool,
    diagnose: &diagnose::Ready,
) -> String {
    let handlers = &plan.handlers;
    let mut settings = String::new();
    add_those(
        &mut settings,
        &[
            (plan.guests, "with guests"),
            (plan.isolates, "isolated"),
            (plan.steering == Steering::Never, "steering never"),
            (plan.steering == Steering::Always, "steering always"),
            (!plan.is_eager, "start on demand"),
        ],
    );
    if !cfg!(feature = "diagnose") {
        return settings;
    }
    if let Some(time) = plan.idle_timeout {
        add(&mut settings, format_args!("idle timeout {}", Exact(time)));
    }
    add_those(
        &mut settings,
        &[
            (plan.use_current_thread, "with the thread that builds it"),
            (chosen.allow_fewer_threads, "perhaps with fewer threads"),
            (plan.oldest_first, "oldest jobs first"),
        ],
    );
    if let Some(most) = chosen.max_spare_threads {
        add(&mut settings, format_args!("at most {most} spares"));
    }
    if let Some(size) = plan.recruiter.stack_size() {
        add(&mut settings, format_args!("stacks of {size} bytes"));
    }
    if plan.policy != plan.protocol.policy() {
        add(&mut settings, format_args!("{:?}", plan.policy));
    }
    diagnose.describe(&mut |setting| add(&mut settings, setting));
    add_those(
        &mut settings,
        &[
            (handlers.panic.is_some(), "a panic handler"),
            (handlers.start.is_some(), "a start handler"),
            (handlers.exit.is_some(), "an exit handler"),
            (handlers.acquire_thread.is_some(), "an acquire handler"),
            (handlers.release_thread.is_some(), "a release handler"),
            (handlers.context.is_some(), "a context"),
            (has_names, "names for its threads"),
        ],
    );
    settings
}

/// Adds a setting, after a comma.
fn add(settings: &mut String, setting: fmt::Arguments<'_>) {
    // Writing to a `String` does not fail.
    let _ = write!(settings, ", {setting}");
}

/// Adds the settings that are marked with `true`.
fn add_those(settings: &mut String, marked: &[(bool, &str)]) {
    for (_, setting) in marked.iter().filter(|(is_set, _)| *is_set) {
        *settings += ", ";
        *settings += setting;
    }
}
