//! The steps that are little more than a call of cargo.

use std::fmt;
use std::num::NonZero;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::context::{BUILD_LIMIT, Context};
use crate::models::Backend;
use crate::outcome::{Outcome, Parts, counted, seconds};
use crate::tools;
use crate::upstream::PROTOCOLS;

/// More than all of the tests should take once they are built, on a machine with as much else to
/// do. Long enough for libtest to name a test that hangs, which it does after a minute.
const TEST_LIMIT: Duration = Duration::from_secs(45 * 60);

/// More than any example should take.
const EXAMPLE_LIMIT: Duration = Duration::from_secs(300);

/// The code is formatted.
pub(crate) fn fmt(context: &Context) -> Result<Outcome, Outcome> {
    tools::RUSTFMT.demand("formatting is not checked")?;
    let mut parts = Parts::default();
    plain(context, &mut parts, "workspace", context.cargo("fmt --all --check"));
    // Without `--all`, which would go on to the crates that the shim depends on.
    plain(context, &mut parts, "shim", context.cargo_of_shim("fmt --check"));
    Ok(parts.outcome(""))
}

/// No lint fires: in the workspace and the shim, and in the models as each checker sees them.
pub(crate) fn clippy(context: &Context) -> Result<Outcome, Outcome> {
    tools::CLIPPY.demand("nothing is linted")?;
    let mut parts = Parts::default();
    let mut lint = |what: &str, mut clippy: Command| {
        clippy.args(["--all-targets", "--", "-D", "warnings"]);
        plain(context, &mut parts, what, clippy);
    };
    lint("workspace", context.cargo("clippy --workspace"));
    lint("shim", context.cargo_of_shim("clippy --workspace"));
    // In a workspace, cargo turns on each feature that any member wants.
    lint("shim without diagnosis", context.cargo_of_shim("clippy --package rayon-core"));
    let mut bare = context.cargo("clippy --package drowse --package drowse-sleep --lib");
    bare.args(["--no-default-features", "--", "-D", "warnings"]);
    for backend in Backend::OF_CODE {
        lint(backend.name(), backend.cargo(context, "clippy --package drowse-models"));
    }
    plain(context, &mut parts, "without default features", bare);
    Ok(parts.outcome("workspace, shim, without default features, loom, shuttle"))
}

/// No lint fires in the workspace.
pub(crate) fn clippy_of_workspace(context: &Context) -> Result<Outcome, Outcome> {
    tools::CLIPPY.demand("nothing is linted")?;
    let mut parts = Parts::default();
    let clippy = context.cargo("clippy --workspace --all-targets -- -D warnings");
    plain(context, &mut parts, "workspace", clippy);
    Ok(parts.outcome("workspace"))
}

/// The documentation builds without a warning.
pub(crate) fn docs(context: &Context) -> Result<Outcome, Outcome> {
    let build = "doc --workspace --no-deps";
    let mut parts = Parts::default();
    for (what, mut command) in
        [("workspace", context.cargo(build)), ("shim", context.cargo_of_shim(build))]
    {
        command.env("RUSTDOCFLAGS", "-D warnings");
        plain(context, &mut parts, what, command);
    }
    Ok(parts.outcome(""))
}

/// A command that either ends well or does not: there is nothing to count.
fn plain(context: &Context, parts: &mut Parts, what: &str, command: Command) {
    let done = context.run(command, BUILD_LIMIT).map_err(String::from);
    parts.note(what, done, |done| format!("in {}", seconds(done.took)));
}

/// Unit and integration tests of the whole workspace, and of the shim's.
pub(crate) fn tests(context: &Context) -> Result<Outcome, Outcome> {
    let workspace = run_tests(context, "--workspace", None, &|args| context.cargo(args));
    // The lab, in the same workspace, turns on diagnosis; the drop-in alone is without.
    let of_shim = |which| run_tests(context, which, None, &|args| context.cargo_of_shim(args));
    let (lab, alone) = (of_shim("--workspace"), of_shim("--package rayon-core"));
    let shim = lab.and_then(|lab| Ok(format!("{lab}, without diagnosis {}", alone?)));
    Ok(both(workspace, shim))
}

/// The examples in the documentation.
pub(crate) fn doctests(context: &Context) -> Result<Outcome, Outcome> {
    let test = "test --doc --workspace --no-fail-fast";
    let run = |command| libtest(context, command, TEST_LIMIT).map(|(counts, _)| counts.to_string());
    Ok(both(run(context.cargo(test)), run(context.cargo_of_shim(test))))
}

/// The tests here and in the shim.
fn both(workspace: Result<String, String>, shim: Result<String, String>) -> Outcome {
    let mut parts = Parts::default();
    let workspace = parts.note("workspace", workspace, String::clone).unwrap_or_default();
    let shim = parts.note("shim", shim, String::clone).unwrap_or_default();
    parts.outcome(format!("{workspace}; shim: {shim}"))
}

/// Runs tests with nextest where there is one, else with cargo's own runner under a watchdog.
///
/// A test that hangs is a lost wake-up. nextest ends it alone; the watchdog ends the whole run and
/// names it. `packages` are arguments that select them; `cargo` makes a command of its arguments.
/// Of the tests nextest runs those that `only` matches, an expression of its own; cargo's runner
/// has nothing like it, and runs all.
pub(crate) fn run_tests(
    context: &Context,
    packages: &str,
    only: Option<&str>,
    cargo: &dyn Fn(&str) -> Command,
) -> Result<String, String> {
    // Everything that holds tests. Not `--all-targets`: that would run the benches.
    let targets = format!("{packages} --tests --examples");
    if !tools::NEXTEST.is_there("using cargo test with a watchdog") {
        // Built first, so that the watchdog's limit is the tests' alone.
        let built = context.run(cargo(&format!("test --no-run {targets}")), BUILD_LIMIT);
        built.map_err(|failure| format!("build: {failure}"))?;
        let command = cargo(&format!("test --no-fail-fast {targets}"));
        return libtest(context, command, TEST_LIMIT).map(|(counts, _)| counts.to_string());
    }
    // Many tests wait most of the time: two for each core keep it busy.
    let threads = 2 * thread::available_parallelism().map_or(1, NonZero::get);
    let mut command =
        cargo(&format!("nextest run --status-level pass --test-threads {threads} {targets}"));
    // Named, since the shim's workspace has none.
    command.arg("--config-file").arg(context.root.join(".config/nextest.toml"));
    if let Some(only) = only {
        command.args(["--no-tests", "pass", "--filterset", only]);
    }
    match context.run(command, BUILD_LIMIT + TEST_LIMIT) {
        Ok(done) => Ok(nextest_summary(&done.output).unwrap_or_default().to_string()),
        Err(failure) => {
            Err(nextest_summary(&failure.output).map_or(failure.to_string(), String::from))
        }
    }
}

/// Runs a `cargo test` under the watchdog and counts.
pub(crate) fn libtest(
    context: &Context,
    command: Command,
    limit: Duration,
) -> Result<(Counts, String), String> {
    match context.run(command, limit) {
        Ok(done) => Ok((Counts::of(&done.output), done.output)),
        Err(failure) => Err(match Counts::of(&failure.output) {
            counts if counts.failed > 0 => counts.to_string(),
            // A build that failed, an abort or a hang.
            _ => failure.into(),
        }),
    }
}

/// How many tests passed, failed and were left out, over all of the test binaries in one output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) ignored: usize,
}

impl Counts {
    /// Adds up the `test result:` lines of Rust's own test runner.
    pub(crate) fn of(output: &str) -> Self {
        let results = output.lines().filter_map(|line| line.split_once("test result: "));
        results.fold(Self::default(), |sum, (_, result)| Self {
            passed: sum.passed + number_before(result, " passed"),
            failed: sum.failed + number_before(result, " failed"),
            ignored: sum.ignored + number_before(result, " ignored"),
        })
    }
}

impl Counts {
    pub(crate) fn add(&mut self, more: Self) {
        self.passed += more.passed;
        self.failed += more.failed;
        self.ignored += more.ignored;
    }

    /// The number before the first `passed`, or 0.
    pub(crate) fn of_words(text: &str) -> usize {
        number_before(text, " passed")
    }
}

impl fmt::Display for Counts {
    /// Like nextest's summary.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { passed, failed, ignored } = self;
        let run = counted(passed + failed, "test");
        write!(f, "{run} run: {passed} passed, {failed} failed, {ignored} skipped")
    }
}

/// The number that stands before `word`, or 0.
fn number_before(text: &str, word: &str) -> usize {
    let before = text.split_once(word).map_or("", |(before, _)| before);
    let digits = before.rsplit(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
    digits.parse().unwrap_or(0)
}

/// What nextest says after the time in its summary line.
fn nextest_summary(output: &str) -> Option<&str> {
    let line = output.lines().rfind(|line| line.trim_start().starts_with("Summary ["))?;
    line.split_once("] ").map(|(_, counts)| counts.trim())
}

/// Every example program ends well, and so does an application on rayon whose core is ours.
pub(crate) fn examples(context: &Context) -> Result<Outcome, Outcome> {
    let build =
        "build --release --package drowse --examples --message-format=json-render-diagnostics";
    let built = context.run_stdout_apart(context.cargo(build), BUILD_LIMIT)?;
    let examples = executables(&built.stdout, "example");
    if examples.is_empty() {
        return Err("there are no examples".to_string().into());
    }
    let mut parts = Parts::default();
    for (name, path) in &examples {
        let done = context.run(Command::new(path), EXAMPLE_LIMIT).map_err(String::from);
        parts.note(name, done, |done| format!("in {}", seconds(done.took)));
    }
    context.run(context.cargo_of_shim("build --release --package rayon-app"), BUILD_LIMIT)?;
    let done = application_without_reports(context);
    parts.note("application on rayon, without reports", done, |()| String::new());
    for protocol in PROTOCOLS {
        let done = application(context, protocol);
        parts.note(&format!("application on rayon, {protocol}"), done, |()| String::new());
    }
    let detail = counted(examples.len(), "example");
    Ok(parts.outcome(format!("{detail}; application on rayon: {}", PROTOCOLS.join(", "))))
}

/// Runs the shim's application. It has to say itself which core and protocol it runs on.
fn application(context: &Context, protocol: &str) -> Result<(), String> {
    let mut command = context.cargo_of_shim("run --quiet --release --package rayon-app");
    command.env("DROWSE_SLEEP", protocol).env("DROWSE_LOG", "1");
    let output = context.run(command, EXAMPLE_LIMIT)?.output;
    let expected = ["core: drowse ".to_string(), format!("sleep protocol {protocol}")];
    match expected.iter().find(|words| !output.contains(*words)) {
        Some(words) => Err(format!("it does not say `{words}`")),
        None => Ok(()),
    }
}

/// Runs the shim's application, which is built without reports, and asks for reports. It has to say
/// that it has none, once, and only if it is asked.
fn application_without_reports(context: &Context) -> Result<(), String> {
    for (value, times) in [("5s", 1), ("off", 0), ("", 0)] {
        let mut command = context.cargo_of_shim("run --quiet --release --package rayon-app");
        command.env("DROWSE_STALL", value).env("DROWSE_DEADLOCK", value);
        let output = context.run(command, EXAMPLE_LIMIT)?.output;
        let said = output.matches("features = [\"diagnose\"] }").count();
        if said != times {
            return Err(format!("with {value:?} it says {said} times that it has no reports"));
        }
    }
    Ok(())
}

/// The executables of this kind of target in cargo's JSON messages, by name and in its order.
pub(crate) fn executables(messages: &str, kind: &str) -> Vec<(String, PathBuf)> {
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let executable = |message: Value| {
        let target = &message["target"];
        let is_wanted = message["reason"] == "compiler-artifact" && target["kind"][0] == kind;
        let path = message["executable"].as_str().filter(|_| is_wanted)?;
        Some((target["name"].as_str()?.to_string(), PathBuf::from(path)))
    };
    let mut found: Vec<_> = messages.filter_map(executable).collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{env, fs, process};

    /// Each rule of `tidy.sh` finds what it is for: for each file, its text and its problems.
    #[test]
    #[cfg(unix)]
    fn every_house_rule_bites() {
        let wide = format!("// {}\n", "a".repeat(98));
        let lib = "f(\"DROWSE_LOG\", \"DROWSE_NEW\");\n// known\n";
        let inner = "#[cfg(test)]\nmod tests {\n    f(Relaxed);\n}\nf(SeqCst);\n";
        let not_listed = "1: the table of variables lacks DROWSE_NEW";
        let differs = format!(
            "1: the table of variables is not that of docs/guide/environment.md\n{not_listed}"
        );
        let files = [
            ("Cargo.toml", "[workspace]\n", ""),
            ("crates/drowse-models/tests/a.rs", "thread::yield_now();\n", "1: no way of waiting"),
            ("crates/drowse-sync/src/lib.rs", "use std::sync;\n", ""),
            ("crates/drowse/Cargo.toml", "[package]\n", "1: no `[lints]` with `workspace = true`"),
            ("crates/drowse/src/argued.rs", "// ORDERING: b\nload(Acquire); // Release\n", ""),
            (
                "crates/drowse/src/bare.rs",
                "load(Acquire);\n",
                "1: no ORDERING: comment within 14 lines above",
            ),
            ("crates/drowse/src/blank.rs", "f(); \n", "1: trailing whitespace"),
            ("crates/drowse/src/environment.md", "| `DROWSE_LOG` | two |\n", &differs),
            ("crates/drowse/src/inner.rs", inner, "5: no ORDERING: comment within 14 lines above"),
            ("crates/drowse/src/lib.rs", lib, ""),
            ("crates/drowse/src/loom.rs", "use loom::thread;\n", "1: goes around drowse-sync"),
            ("crates/drowse/src/print.rs", "eprintln!();\n", "1: a library that prints"),
            (
                "crates/drowse/src/std.rs",
                "// std::sync\nuse std::{a, sync};\n",
                "2: goes around drowse-sync",
            ),
            ("crates/drowse/src/tab.rs", "f();\n\tg();\n", "2: a tab"),
            ("crates/drowse/src/tests.rs", "f(Relaxed);\n", ""),
            ("crates/drowse/src/word.rs", concat!("// TO", "DO\n"), "1: a forbidden word"),
            ("docs/guide/environment.md", "| `DROWSE_LOG` | one |\n", not_listed),
            (
                "docs/internals/glossary.md",
                "| **known** | a |\n| **new word** | b |\n",
                "1: no other file says `new word`",
            ),
            ("notes", concat!("cd /", "work/a\n"), "1: a path of one machine"),
            ("xtask/Cargo.toml", "[lints]\nworkspace = true\n", ""),
            ("xtask/src/wide.rs", &wide, "1: a comment of more than 100 columns"),
        ];
        let root = env::temp_dir().join(format!("xtask-tidy-{}", process::id()));
        let mut expected = String::new();
        for (path, text, problems) in files {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            fs::write(root.join(path), text).unwrap();
            expected.extend(problems.lines().map(|problem| format!("{path}:{problem}\n")));
        }
        let script =
            concat!("git init --quiet && sh ", env!("CARGO_MANIFEST_DIR"), "/scripts/tidy.sh");
        let output = Command::new("sh").args(["-c", script]).current_dir(&root).output().unwrap();
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected + "problems: 16\n");
    }

    /// The watchdogs of tests bark before nextest ends the test, in each profile.
    #[test]
    fn nextest_waits_longer_than_watchdogs() {
        let config = include_str!("../../.config/nextest.toml");
        let limits = config.lines().filter_map(|line| line.strip_prefix("slow-timeout = "));
        let limits: Vec<_> =
            limits.map(|limit| number_before(limit, "s\"") * number_before(limit, " }")).collect();
        let source = include_str!("../../crates/drowse/tests/common/patience.rs");
        let longest = number_before(source.split_once("const LONGEST").unwrap().1, ");");
        assert!(
            longest >= 300 && limits.len() == config.matches("slow-timeout").count(),
            "{limits:?}"
        );
        assert!(limits.iter().all(|limit| *limit >= longest + 60), "{limits:?} {longest}");
    }

    #[test]
    fn libtest_results_are_added_up() {
        let output = "\
running 3 tests
test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
test a ... FAILED
noise test result: FAILED. 10 passed; 2 failed; 0 ignored; 0 measured; finished in 0.01s
";
        let counts = Counts::of(output);
        assert_eq!(counts, Counts { passed: 13, failed: 2, ignored: 1 });
        assert_eq!(counts.to_string(), "15 tests run: 13 passed, 2 failed, 1 skipped");
        assert_eq!(Counts::of("test a ... \n"), Counts::default());
    }

    #[test]
    fn the_nextest_summary_is_found() {
        let output = "\
    Starting 4 tests across 2 binaries
     Summary [   0.004s] 4 tests run: 3 passed, 1 failed, 0 skipped
        FAIL [   0.002s] a::b
";
        assert_eq!(nextest_summary(output), Some("4 tests run: 3 passed, 1 failed, 0 skipped"));
        assert_eq!(nextest_summary("error: could not compile"), None);
    }

    #[test]
    fn only_executables_of_the_kind_count() {
        let artifact = |kind: &str, name: &str, executable: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","target":{{"kind":["{kind}"],"name":"{name}"}},"executable":{executable}}}"#
            )
        };
        let messages = [
            artifact("lib", "drowse_models", "\"/x/drowse_models-1\""),
            artifact("test", "loom_latch", "\"/x/loom_latch-2\""),
            artifact("test", "loom_none", "null"),
            r#"{"reason":"build-finished","success":true}"#.to_string(),
        ];
        let latch = ("loom_latch".to_string(), PathBuf::from("/x/loom_latch-2"));
        assert_eq!(executables(&messages.join("\n"), "test"), [latch]);
    }
}
