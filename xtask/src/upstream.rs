//! rayon's own tests, on our core, and those of tokio-rayon and of futures on what can be awaited.
//! Nothing of them is kept here: cargo fetches what rayon has published, and it is built unchanged,
//! in a workspace whose `rayon-core` is the shim.
//!
//! Whatever the shim promises in rayon's name is tried on rayon's own core as well, so that our
//! tests of it cannot drift from what they are about.
//!
//! `xtask/scripts/rayon.sh` says which versions these are, and prepares the directories.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::context::Context;
use crate::outcome::{Outcome, Parts, Status, counted, seconds};
use crate::steps::libtest;

/// The sleep protocols, by the names that `DROWSE_SLEEP` knows. The first is the default.
pub(crate) const PROTOCOLS: [&str; 4] = ["relay", "jec", "sleepy", "counters"];

/// Tests that may fail where a thread outside works instead of waiting: they are about the worker's
/// own thread, its thread-locals, its name, its stack.
const ON_THE_CALLERS_THREAD: [&str; 5] = [
    "missing_scoped_tls",
    "spawn_scoped_tls_threadpool",
    "build_scoped_tls_threadpool",
    "named_threads",
    "stack_overflow_crash",
];

/// More than the tests of one package should take, with their build, even where others use the
/// cores.
const TEST_LIMIT: Duration = Duration::from_secs(20 * 60);

/// The same for doctests, each of which is built on the way.
const DOCTEST_LIMIT: Duration = Duration::from_secs(40 * 60);

/// Runs the published tests of rayon and rayon-core on the shim, and the shim's on rayon-core.
pub(crate) fn run(context: &Context) -> Result<Outcome, Outcome> {
    let protocols: Vec<&str> = PROTOCOLS.into_iter().filter(|name| context.wants(name)).collect();
    if protocols.is_empty() {
        return Err(
            Status::WrongCall.with(format!("the sleep protocols are {}", PROTOCOLS.join(", ")))
        );
    }
    context.script("upstream", "")?;
    let mut suites = Suites { context, parts: Parts::default(), passed: Vec::new() };
    for protocol in protocols {
        let is_chosen = context.filter.is_some();
        let is_whole = context.full && (is_chosen || protocol == PROTOCOLS[0]);
        // The tests of that name take half a minute.
        let skip = if is_whole { "" } else { "--skip octillion" };
        // The protocols have a suite of their own: those of rayon need not be run on each every
        // time.
        if context.full || is_chosen || protocol == PROTOCOLS[0] {
            let rayon =
                format!("test --package rayon --no-fail-fast --tests -- --nocapture {skip}");
            suites.on(protocol, "rayon", TEST_LIMIT, &rayon);
        }
        let core = "test --package core-tests --no-fail-fast --tests -- --nocapture";
        suites.on(protocol, "rayon-core", TEST_LIMIT, core);
        if is_whole || (!is_chosen && protocol == PROTOCOLS[0]) {
            suites.on(
                protocol,
                "doctests",
                DOCTEST_LIMIT,
                "test --package rayon --no-fail-fast --doc",
            );
        }
    }
    if context.filter.is_none() {
        let rayon = "test --package rayon --no-fail-fast --tests -- --nocapture --skip octillion";
        let core = "test --package core-tests --no-fail-fast --tests -- --nocapture";
        suites.isolated("rayon", rayon);
        suites.isolated("rayon-core", core);
        let skip = ON_THE_CALLERS_THREAD.map(|test| format!("--skip {test}")).join(" ");
        let tokio_rayon = "test --package tokio-rayon --no-fail-fast --lib -- --nocapture";
        suites.on(PROTOCOLS[0], "tokio-rayon", TEST_LIMIT, tokio_rayon);
        let futures = suites.cargo("async", "test --no-fail-fast --tests");
        suites.run("futures on drowse", futures, TEST_LIMIT, None);
        suites.with_guests("rayon", &format!("{rayon} {skip}"));
        suites.with_guests("rayon-core", &format!("{core} {skip}"));
    }
    let ours = suites.cargo("original", "test --tests --no-fail-fast");
    suites.run("the shim's on rayon-core itself", ours, TEST_LIMIT, None);
    let Suites { parts, passed, .. } = suites;
    Ok(parts.outcome(passed.join("; ")))
}

/// The suites that were run so far.
struct Suites<'a> {
    context: &'a Context,
    parts: Parts,
    passed: Vec<String>,
}

impl Suites<'_> {
    /// Runs a suite on this protocol. Where its output is shown, the core itself must say that it
    /// is ours and which protocol it uses.
    fn on(&mut self, protocol: &str, name: &str, limit: Duration, args: &str) {
        let mut command = self.cargo("patched", args);
        command.env("DROWSE_SLEEP", protocol).env("DROWSE_LOG", "1");
        let words = args.contains("--nocapture").then(|| format!("sleep protocol {protocol}"));
        self.run(&format!("{name} on {protocol}"), command, limit, words.as_deref());
    }

    /// Runs a suite on the default protocol, where threads outside work instead of waiting.
    fn with_guests(&mut self, name: &str, args: &str) {
        let mut command = self.cargo("patched", args);
        command.env("DROWSE_GUESTS", "1").env("DROWSE_LOG", "1");
        self.run(&format!("{name} with guests"), command, TEST_LIMIT, Some("with guests"));
    }

    /// Runs a suite on the default protocol, where whoever waits runs nothing but what it waits
    /// for.
    fn isolated(&mut self, name: &str, args: &str) {
        let mut command = self.cargo("patched", args);
        command.env("DROWSE_WAITING", "isolate").env("DROWSE_LOG", "1");
        self.run(&format!("{name} in isolation"), command, TEST_LIMIT, Some(", isolated"));
    }

    /// Runs a suite and notes how many of its tests passed.
    fn run(&mut self, name: &str, command: Command, limit: Duration, words: Option<&str>) {
        let started = Instant::now();
        let result = libtest(self.context, command, limit);
        let result = result.and_then(|(counts, output)| judged(counts.passed, &output, words));
        let took = seconds(started.elapsed());
        let passed = self
            .parts
            .note(name, result, |passed| format!("in {took}, {}", counted(*passed, "test")));
        self.passed.extend(passed.map(|passed| format!("{name}: {passed}")));
    }

    /// A cargo for one of the prepared directories.
    fn cargo(&self, directory: &str, args: &str) -> Command {
        let place = self.context.target_for("upstream");
        let mut command = self.context.cargo(args);
        command.current_dir(place.join(directory)).env("CARGO_TARGET_DIR", place.join("build"));
        // Where the registry cannot be reached, the script has left this mark.
        if place.join("offline").is_file() {
            command.env("CARGO_NET_OFFLINE", "true");
        }
        command
    }
}

/// A run without any test, or one that does not say what it must, is a failure.
fn judged(passed: usize, output: &str, words: Option<&str>) -> Result<usize, String> {
    match words.filter(|words| !output.contains(words)) {
        Some(words) => Err(format!("nothing says `{words}`")),
        None if passed == 0 => Err("no test was run".to_string()),
        None => Ok(passed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_without_tests_or_without_the_words_fails() {
        let output = "drowse 0.1.0: protocol jec\n";
        assert_eq!(judged(3, output, Some("protocol jec")), Ok(3));
        assert!(judged(3, output, Some("protocol sleepy")).is_err());
        assert!(judged(0, output, None).is_err());
    }
}
