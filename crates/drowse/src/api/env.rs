//! What the environment says.

use super::{Waiting, max_num_threads};
use drowse_sleep::{SleepProtocol, Steering};
use drowse_sync::{OnceLock, core_count, say};
use std::env;
use std::ffi::OsStr;

/// The number of threads of a pool that did not choose one.
pub(super) fn default_num_threads() -> usize {
    static ANSWER: OnceLock<usize> = OnceLock::new();
    *ANSWER.get_or_init(|| {
        read("DROWSE_NUM_THREADS", |value| threads_from(value, rayons_num_threads(), core_count))
    })
}

/// What this variable says, by `choose`, which is given its value and may complain about it.
fn read<T>(name: &str, choose: impl FnOnce(Option<&str>) -> (T, Option<String>)) -> T {
    let value = env::var_os(name);
    let (choice, complaint) = choose(value.as_deref().map(OsStr::to_string_lossy).as_deref());
    if let Some(complaint) = complaint {
        say(format_args!("drowse: {complaint}"));
    }
    choice
}

/// How many threads rayon-core would take from its own variables. `None`: it would not find any.
fn rayons_num_threads() -> Option<usize> {
    if !cfg!(feature = "rayon-env") {
        return None;
    }
    let number = |name| env::var(name).ok()?.parse::<usize>().ok();
    rayons_choice(number("RAYON_NUM_THREADS"), number("RAYON_RS_NUM_CPUS"))
        .map(|threads| threads.min(max_num_threads()))
}

/// Zero, in the first of the two, stands for the default; the second is asked only if the first
/// says nothing.
fn rayons_choice(num_threads: Option<usize>, num_cpus: Option<usize>) -> Option<usize> {
    match num_threads {
        Some(threads) => (threads > 0).then_some(threads),
        None => num_cpus.filter(|threads| *threads > 0),
    }
}

/// Says on standard error that a pool was started, if `DROWSE_LOG` is set.
pub(super) fn log_start(num_threads: usize, protocol: SleepProtocol, guests: bool, waiting: Waiting) {
    if env::var_os("DROWSE_LOG").is_some_and(|value| !value.is_empty() && value != "0") {
        let s = if num_threads == 1 { "" } else { "s" };
        let version = crate::VERSION;
        let guests = if guests { ", with guests" } else { "" };
        let waiting = if waiting == Waiting::Isolate { ", isolated" } else { "" };
        say(format_args!(
            "drowse {version}: a pool of {num_threads} thread{s}, sleep protocol {protocol}{guests}{waiting}"
        ));
    }
}

/// The steering of a pool that did not choose one.
pub(super) fn default_steering() -> Steering {
    if cfg!(any(drowse_loom, drowse_shuttle)) {
        // A model has no processors, and pays for each step.
        return Steering::Never;
    }
    static ANSWER: OnceLock<Steering> = OnceLock::new();
    *ANSWER.get_or_init(|| read("DROWSE_STEER", steering_from))
}

/// The steering for this value of the variable, and what there is to complain about it.
fn steering_from(value: Option<&str>) -> (Steering, Option<String>) {
    match value.map(str::trim) {
        None | Some("") => (Steering::Auto, None),
        Some("0") => (Steering::Never, None),
        Some("1") => (Steering::Always, None),
        Some(unknown) => {
            let complaint = format!(
                "DROWSE_STEER={unknown:?} is neither 0 (never) nor 1 (always); steering where it helps"
            );
            (Steering::Auto, Some(complaint))
        }
    }
}

/// Whether a pool lets guests in that did not choose.
pub(super) fn default_guests() -> bool {
    static ANSWER: OnceLock<bool> = OnceLock::new();
    *ANSWER.get_or_init(|| read("DROWSE_GUESTS", guests_from))
}

/// Whether to let guests in, for this value of the variable, and what there is to complain about
/// it.
fn guests_from(value: Option<&str>) -> (bool, Option<String>) {
    match value.map(str::trim) {
        None | Some("" | "0") => (false, None),
        Some("1") => (true, None),
        Some(unknown) => {
            let complaint =
                format!("DROWSE_GUESTS={unknown:?} is neither 0 (no guests) nor 1 (guests); no guests");
            (false, Some(complaint))
        }
    }
}

/// What workers run while they wait, in a pool that did not choose.
pub(super) fn default_waiting() -> Waiting {
    static ANSWER: OnceLock<Waiting> = OnceLock::new();
    *ANSWER.get_or_init(|| read("DROWSE_WAITING", waiting_from))
}

/// What they run for this value of the variable, and what there is to complain about it.
fn waiting_from(value: Option<&str>) -> (Waiting, Option<String>) {
    match value.map(|value| value.trim().to_ascii_lowercase()).as_deref() {
        None | Some("" | "help") => (Waiting::Help, None),
        Some("isolate") => (Waiting::Isolate, None),
        Some(unknown) => {
            let complaint = format!("DROWSE_WAITING={unknown:?} is neither help nor isolate; workers help");
            (Waiting::Help, Some(complaint))
        }
    }
}

/// The sleep protocol of a pool that did not choose one.
pub(super) fn default_sleep_protocol() -> SleepProtocol {
    static ANSWER: OnceLock<SleepProtocol> = OnceLock::new();
    *ANSWER.get_or_init(|| read("DROWSE_SLEEP", protocol_from))
}

/// The protocol for this value of the variable, and what there is to complain about it.
fn protocol_from(value: Option<&str>) -> (SleepProtocol, Option<String>) {
    let default = SleepProtocol::default();
    let Some(value) = value.filter(is_set) else { return (default, None) };
    // Names are in lower case. If that fails, the value is parsed as it is, so that the complaint
    // quotes the user.
    match value.to_ascii_lowercase().parse().or_else(|_| value.parse()) {
        Ok(protocol) => (protocol, None),
        Err(unknown) => (default, Some(format!("DROWSE_SLEEP: {unknown}; using {default}"))),
    }
}

/// An empty variable counts as not set: scripts and container files clear variables that way.
fn is_set(value: &&str) -> bool {
    !value.trim().is_empty()
}

/// The number of threads for this value of the variable, and what there is to complain about it.
///
/// `rayons` is what rayon's own variables say, `cores` what the process may run at once, asked only
/// if it matters.
fn threads_from(
    value: Option<&str>,
    rayons: Option<usize>,
    cores: impl Fn() -> usize,
) -> (usize, Option<String>) {
    let fallback = || rayons.unwrap_or_else(&cores);
    let Some(value) = value.filter(is_set) else { return (fallback(), None) };
    match value.trim().parse::<usize>() {
        // Zero means: as many as there are cores.
        Ok(0) => (cores(), None),
        Ok(threads) if threads <= max_num_threads() => (threads, None),
        _ => {
            let fallback = fallback();
            let complaint = format!(
                "DROWSE_NUM_THREADS={:?} is not a number of threads up to {}; using {fallback}, {}",
                value,
                max_num_threads(),
                if rayons.is_some() {
                    "as rayon's variable says"
                } else {
                    "what the process may run at once"
                }
            );
            (fallback, Some(complaint))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Waiting, protocol_from, rayons_choice, steering_from, threads_from, waiting_from};
    use drowse_sleep::{SleepProtocol, Steering};

    #[test]
    fn steers_never_always_or_as_it_sees_fit() {
        assert_eq!(steering_from(None), (Steering::Auto, None));
        assert_eq!(steering_from(Some("")), (Steering::Auto, None));
        assert_eq!(steering_from(Some(" 0 ")), (Steering::Never, None));
        assert_eq!(steering_from(Some("1")), (Steering::Always, None));
        let (steering, complaint) = steering_from(Some("left"));
        assert_eq!(steering, Steering::Auto);
        assert!(complaint.unwrap().contains("DROWSE_STEER=\"left\""));
    }

    #[test]
    fn workers_that_wait_help_or_are_isolated() {
        assert_eq!(waiting_from(None), (Waiting::Help, None));
        assert_eq!(waiting_from(Some(" help ")), (Waiting::Help, None));
        assert_eq!(waiting_from(Some("Isolate")), (Waiting::Isolate, None));
        let (waiting, complaint) = waiting_from(Some("alone"));
        assert_eq!(waiting, Waiting::Help);
        assert!(complaint.unwrap().contains("DROWSE_WAITING=\"alone\""));
    }

    #[test]
    fn rayons_variables_mean_what_they_mean_to_rayon() {
        assert_eq!(rayons_choice(Some(7), Some(3)), Some(7));
        assert_eq!(rayons_choice(Some(0), Some(3)), None, "zero asks for the default");
        assert_eq!(rayons_choice(None, Some(3)), Some(3));
        assert_eq!(rayons_choice(None, Some(0)), None);
        assert_eq!(rayons_choice(None, None), None);
    }

    #[test]
    fn takes_a_protocol_by_name() {
        assert_eq!(protocol_from(None), (SleepProtocol::default(), None));
        assert_eq!(protocol_from(Some(" sleepy ")), (SleepProtocol::Sleepy, None));
        assert_eq!(protocol_from(Some("counters")), (SleepProtocol::Counters(Default::default()), None));
        assert_eq!(protocol_from(Some("JEC")), (SleepProtocol::Jec, None));
        assert_eq!(protocol_from(Some("Sleepy")), (SleepProtocol::Sleepy, None));
    }

    #[test]
    fn an_empty_variable_counts_as_not_set() {
        for empty in ["", " "] {
            assert_eq!(protocol_from(Some(empty)), (SleepProtocol::default(), None));
            assert_eq!(threads_from(Some(empty), None, || 4), (4, None));
            assert_eq!(threads_from(Some(empty), Some(3), || 4), (3, None));
        }
    }

    #[test]
    fn complains_about_a_protocol_that_is_none_and_lists_them() {
        for bad in ["Snooze", "jec-", "0"] {
            let (protocol, complaint) = protocol_from(Some(bad));
            assert_eq!(protocol, SleepProtocol::default());
            let complaint = complaint.expect(bad);
            assert!(
                complaint.contains(&format!("DROWSE_SLEEP: {bad:?}"))
                    && complaint.contains("sleepy, counters, jec"),
                "{complaint}"
            );
        }
    }

    #[test]
    fn takes_a_number_zero_or_nothing() {
        assert_eq!(threads_from(Some("7"), Some(3), || 4), (7, None));
        assert_eq!(threads_from(Some(" 7 "), None, || 4), (7, None));
        assert_eq!(threads_from(Some("0"), Some(3), || 4), (4, None));
        assert_eq!(threads_from(None, None, || 4), (4, None));
        assert_eq!(threads_from(None, Some(3), || 4), (3, None));
    }

    #[test]
    fn complains_about_anything_else_and_says_what_it_uses() {
        for bad in ["many", "-1", "3.5", "100000", "99999999999999999999999"] {
            let (threads, complaint) = threads_from(Some(bad), None, || 4);
            assert_eq!(threads, 4);
            let complaint = complaint.expect(bad);
            assert!(complaint.contains("DROWSE_NUM_THREADS") && complaint.contains("using 4"), "{complaint}");
        }
    }
}
