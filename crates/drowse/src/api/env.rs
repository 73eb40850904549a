//! Environment variables, which choose for pools whose builder does not.

use super::{Start, Waiting, max_num_threads};
use crate::diagnose::{DEADLOCK, STALL};
use crate::setting::{Once, Setting, complain, switch, time, value_of};
use drowse_sleep::{SleepProtocol, Steering};
use drowse_sync::{OnceLock, core_count, say};
use std::env;
use std::time::Duration;

const NUM_THREADS: &str = "DROWSE_NUM_THREADS";
/// Read by drowse-sync, in builds for the model checkers.
const MUTANT: &str = "DROWSE_MUTANT";

pub(super) static SLEEP: Setting<SleepProtocol> = Setting::new(
    "DROWSE_SLEEP",
    |value| value.parse().ok(),
    "a sleep protocol (sleepy, counters, jec, relay; with options counters:queue, counters:more, counters:blocks, \
     counters:queue,blocks, counters:more,blocks, jec:blitz, jec:every)",
    "relay",
);

pub(super) static STEER: Setting<Steering> = Setting::new(
    "DROWSE_STEER",
    |value| switch(value).map(|on| if on { Steering::Always } else { Steering::Never }),
    "on (always) or off (never)",
    "steering where it helps",
);

pub(super) static GUESTS: Setting<bool> = Setting::new("DROWSE_GUESTS", switch, "on or off", "off");

pub(super) static WAITING: Setting<Waiting> = Setting::new(
    "DROWSE_WAITING",
    |value| match value {
        "help" => Some(Waiting::Help),
        "isolate" => Some(Waiting::Isolate),
        _ => None,
    },
    "help or isolate",
    "help",
);

pub(super) static START: Setting<Start> = Setting::new(
    "DROWSE_START",
    |value| match value {
        "eager" => Some(Start::Eager),
        "on-demand" | "ondemand" => Some(Start::OnDemand),
        _ => None,
    },
    "eager or on-demand",
    "eager",
);

pub(super) static IDLE_TIMEOUT: Setting<Option<Duration>> = Setting::new(
    "DROWSE_IDLE_TIMEOUT",
    |value| time(value, Duration::from_millis(1), Duration::from_secs(10)),
    "a time (500ms, 5s, a number of milliseconds) or off",
    "off: threads stay",
);

pub(super) static LOG: Setting<bool> = Setting::new("DROWSE_LOG", switch, "on or off", "on");

/// Names of all variables.
static NAMES: [&str; 11] = [
    NUM_THREADS,
    SLEEP.variable.name,
    STEER.variable.name,
    GUESTS.variable.name,
    WAITING.variable.name,
    DEADLOCK,
    STALL,
    START.variable.name,
    IDLE_TIMEOUT.variable.name,
    LOG.variable.name,
    MUTANT,
];

/// Returns `true` if pools print a line to standard error when they start. On the first call for
/// which that holds, names the variables that drowse does not know.
pub(super) fn is_logging() -> bool {
    static UNKNOWN_ARE_NAMED: Once = Once::new();
    let is_logging = value_of(LOG.variable.name).is_some() && LOG.get().unwrap_or(true);
    if is_logging && cfg!(feature = "diagnose") {
        UNKNOWN_ARE_NAMED.call(name_unknown_variables);
    }
    is_logging
}

/// Prints each unknown variable that begins with `DROWSE_`, with the known one most similar to it.
fn name_unknown_variables() {
    for (name, value) in env::vars_os() {
        let Some(name) = name.to_str() else { continue };
        if let Some(nearest) = nearest_to_unknown(name) {
            let value = value.to_string_lossy();
            say(format_args!(
                "drowse: {name}={value:?} is not a variable of drowse; the nearest is {nearest}"
            ));
        }
    }
}

/// Returns the known variable most similar to `name`, if `name` begins with `DROWSE_` and is
/// unknown. A known name that contains the unknown one, or is contained in it, comes before the
/// least edit distance. Variables for drowse's own tests and tools are ignored.
#[inline(never)]
fn nearest_to_unknown(name: &str) -> Option<&'static str> {
    let own = name.strip_prefix("DROWSE_")?;
    let is_of_tools = own.starts_with("TEST_") || own.starts_with("LAB_");
    if is_of_tools || NAMES.contains(&name) {
        return None;
    }
    let mut nearest = None;
    for known in NAMES.iter().filter(|known| **known != MUTANT) {
        let is_part = has_part(known, own) || has_part(name, known);
        // A part is nearer than any edit distance.
        let distance = if is_part { 0 } else { 1 << 16 } + distance(name, known);
        if nearest.is_none_or(|(least, _)| distance < least) {
            nearest = Some((distance, *known));
        }
    }
    nearest.map(|(_, known)| known)
}

/// Returns `true` if `word` contains `part`. (The search of std compiles to more code.)
fn has_part(word: &str, part: &str) -> bool {
    (0..word.len()).any(|at| word.as_bytes()[at..].starts_with(part.as_bytes()))
}

/// Returns the edit distance of two words: insertions, removals and replacements of letters.
#[inline(never)]
fn distance(one: &str, other: &str) -> usize {
    let mut row = Vec::new();
    for length in 0..=other.len() {
        row.push(length);
    }
    for (i, a) in one.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in other.bytes().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[other.len()]
}

/// Returns the steering of a pool whose builder does not set one.
pub(super) fn default_steering() -> Steering {
    if cfg!(any(drowse_loom, drowse_shuttle)) {
        // A model has no processors, and each step makes it slower.
        return Steering::Never;
    }
    STEER.get().unwrap_or_default()
}

/// Returns the number of threads of a pool whose builder does not set one.
pub(super) fn default_num_threads() -> usize {
    static ANSWER: OnceLock<usize> = OnceLock::new();
    *ANSWER.get_or_init(|| {
        let chosen = value_of(NUM_THREADS).and_then(|value| match value.trim_ascii().parse() {
            // Zero stands for the number of cores.
            Ok(0) => Some(core_count()),
            Ok(threads) if threads <= max_num_threads() => Some(threads),
            _ => {
                complain_of_threads(
                    NUM_THREADS,
                    &value,
                    rayons_num_threads().unwrap_or_else(core_count),
                );
                None
            }
        });
        chosen.or_else(rayons_num_threads).unwrap_or_else(core_count)
    })
}

fn complain_of_threads(name: &str, value: &str, using: usize) {
    complain(name, value, &format_args!("a number of threads up to {}", max_num_threads()), &using);
}

/// Returns the number of threads that rayon-core would take from its own variables. `None`: the
/// number of cores.
fn rayons_num_threads() -> Option<usize> {
    if !cfg!(feature = "rayon-env") {
        return None;
    }
    let (name, threads) =
        rayons_choice(number_in("RAYON_NUM_THREADS"), number_in("RAYON_RS_NUM_CPUS"))?;
    if threads <= max_num_threads() {
        return Some(threads);
    }
    complain_of_threads(name, &threads.to_string(), core_count());
    None
}

/// Returns the value of a variable, and its name, if the value is a number.
#[inline(never)]
fn number_in(name: &'static str) -> Option<(&'static str, usize)> {
    Some((name, env::var(name).ok()?.parse().ok()?))
}

/// Returns the first of the two that is set; `None` if that is zero, which stands for the default.
fn rayons_choice<N>(
    num_threads: Option<(N, usize)>,
    num_cpus: Option<(N, usize)>,
) -> Option<(N, usize)> {
    num_threads.or(num_cpus).filter(|(_, threads)| *threads > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rayons_variables_mean_what_they_mean_to_rayon() {
        let choice = |one: Option<usize>, other: Option<usize>| {
            rayons_choice(one.map(|n| (1, n)), other.map(|n| (2, n)))
        };
        assert_eq!(choice(Some(7), Some(3)), Some((1, 7)));
        assert_eq!(choice(Some(0), Some(3)), None, "zero asks for the default");
        assert_eq!(choice(None, Some(3)), Some((2, 3)));
        assert_eq!(choice(None, Some(0)), None);
        assert_eq!(choice(None, None), None);
    }

    #[test]
    fn a_protocol_has_a_name_and_perhaps_options() {
        for protocol in SleepProtocol::VARIANTS {
            assert_eq!((SLEEP.parse)(protocol.name()), Some(protocol));
            assert!(SLEEP.variable.values.contains(protocol.name()), "{protocol}");
        }
        assert!(["snooze", "jec-", "0"].iter().all(|bad| (SLEEP.parse)(bad).is_none()));
        assert_eq!(SLEEP.variable.otherwise, SleepProtocol::default().name());
    }

    #[test]
    fn the_table_has_all_names() {
        let rows =
            include_str!("../environment.md").lines().filter_map(|row| row.split('`').nth(1));
        let mut listed: Vec<_> = rows.filter(|name| name.starts_with("DROWSE_")).collect();
        let mut known = NAMES.to_vec();
        listed.sort_unstable();
        known.sort_unstable();
        assert_eq!(known, listed);
    }

    #[test]
    fn a_name_that_is_not_known_is_like_one_that_is() {
        for (own, nearest) in [
            ("NUMTHREADS", NUM_THREADS),
            ("THREADS", NUM_THREADS),
            ("GUEST", GUESTS.variable.name),
            ("IDLE", IDLE_TIMEOUT.variable.name),
            ("STALLS", STALL),
            ("STEERING", STEER.variable.name),
        ] {
            assert_eq!(nearest_to_unknown(&format!("DROWSE_{own}")), Some(nearest), "{own}");
        }
        let tools = ["TEST_X", "LAB_X"].map(|own| format!("DROWSE_{own}"));
        for known in NAMES.into_iter().chain(tools.iter().map(String::as_str)).chain(["PATH"]) {
            assert_eq!(nearest_to_unknown(known), None, "{known}");
        }
    }
}
