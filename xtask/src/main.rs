//! Everything that is run around drowse's code: `cargo xtask <command>`.
//!
//! It assumes a stable Rust toolchain and nothing else. A tool that is missing is replaced or
//! skipped, and one line says how to get it.

mod check;
mod context;
mod fetch;
mod house;
mod models;
mod mutants;
mod outcome;
mod platforms;
mod process;
mod progress;
mod size;
mod soak;
mod spin;
mod steps;
mod tools;
mod upstream;

use std::process::ExitCode;
use std::time::Instant;

use clap::{Arg, ArgAction, ArgMatches, Command};

use Run::{Code, Script};
use context::Context;
use outcome::{Entry, Outcome, Status, seconds, summary};
use progress::Times;
use tools::say;

/// One thing that can be checked, alone or as a part of `test`.
struct Step {
    /// Its name on the command line and in reports.
    name: &'static str,
    run: Run,
    /// What may follow the name.
    args: &'static [fn() -> Arg],
    /// What the help says about it.
    about: &'static str,
}

/// How a step is done.
enum Run {
    /// By a function, whose error is an outcome that came early.
    Code(fn(&Context) -> Result<Outcome, Outcome>),
    /// By the script of this name.
    Script,
}

const fn step(
    name: &'static str,
    run: Run,
    args: &'static [fn() -> Arg],
    about: &'static str,
) -> Step {
    Step { name, run, args, about }
}

/// The steps of `test`, in order: those that need no more than a stable toolchain, or say what else
/// they need.
const OF_TEST: [Step; 18] = [
    step("fmt", Code(steps::fmt), &[], "the code is formatted (rustfmt)"),
    step(
        "clippy",
        Code(steps::clippy),
        &[],
        "no lint fires, in the models under each checker either",
    ),
    step("tidy", Script, &[], "the house rules that clippy does not know"),
    step("house", Code(house::run), &[filter], "what makes the project heavy to read, and budgets"),
    step("docs", Code(steps::docs), &[], "rustdoc has nothing to complain about"),
    step("tests", Code(steps::tests), &[], "unit and integration tests (nextest, or cargo test)"),
    step("doctests", Code(steps::doctests), &[], "the examples in the documentation"),
    step(
        "examples",
        Code(steps::examples),
        &[],
        "the example programs end well, and one on the shim",
    ),
    step(
        "msrv",
        Script,
        &[],
        "the oldest compiler builds what users get; unpacks Debian's if need be",
    ),
    step("package", Script, &[], "the crates for users build from what would be published"),
    step("highlander", Script, &[], "a program with both rayon-core and the shim does not resolve"),
    step(
        "upstream",
        Code(upstream::run),
        &[filter, full],
        "rayon's tests on the shim, and the reverse",
    ),
    step(
        "size",
        Code(size::run),
        size::ARGS,
        "machine code and build time beside rayon-core's, and budgets",
    ),
    step(
        "soak",
        Code(soak::run),
        soak::ARGS,
        "random mixes of the API in hostile surroundings; Linux alone",
    ),
    step(
        "loom",
        Code(models::loom),
        &[filter],
        "the models under loom (LOOM_MAX_PREEMPTIONS, or 3)",
    ),
    step(
        "shuttle",
        Code(models::shuttle),
        &[filter],
        "the models under shuttle (SHUTTLE_RANDOM_SEED, or 4)",
    ),
    step("spin", Code(spin::run), &[filter], "the Promela models, every state; needs spin and gcc"),
    step("mutants", Code(mutants::run), &[filter], "every listed mutant is caught by its model"),
];

/// The steps of `check`, in order: those for a person who edits.
const OF_CHECK: [Step; 6] = [
    step("fmt", Code(steps::fmt), &[], ""),
    step("tidy", Script, &[], ""),
    step("house", Code(house::run), &[], ""),
    step("clippy", Code(steps::clippy_of_workspace), &[], ""),
    step("tests", Code(check::tests), &[], ""),
    step("models", Code(check::models), &[], ""),
];

/// The steps of `nightly`: minutes each, for defects that changes seldom cause.
const OF_NIGHTLY: [&str; 4] = ["browser", "locks", "asan", "tsan"];

/// The steps that need a toolchain of their own, or are done now and then.
const APART: [Step; 6] = [
    step("browser", Script, &[], "the lab's pages work in Chromium; needs its driver and python3"),
    step("locks", Script, &[], "a program with an old lock file gets the shim by one cargo update"),
    step(
        "platforms",
        Code(platforms::run),
        &[filter, install, full],
        "other systems: compiled, and run if they can be",
    ),
    step("dist", Script, &[], "what a person would upload, verified, in target/dist"),
    step("asan", Script, &[], "the tests under AddressSanitizer; needs a nightly; not in `test`"),
    step(
        "tsan",
        Script,
        &[install],
        "the tests under ThreadSanitizer; needs std's sources; not in `test`",
    ),
];

fn filter() -> Arg {
    Arg::new("filter").help("only what has this in its name")
}

fn full() -> Arg {
    flag("full").help("what takes long as well")
}

fn install() -> Arg {
    flag("install").help(
        "unpack Debian's newest compiler under target/; apt-get install linkers and emulators (as root)",
    )
}

fn flag(name: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue)
}

const NOTES: &str = "\
Begin with `cargo xtask check` while you edit, and end with `cargo xtask test`.
A filter is a part of a name: of a model or its test binary, of a mutant, of a figure, or of a sleep
protocol.
check compares the work tree with the last commit, or, if they are alike, that with the one before.
platforms leaves out, where an emulator runs the tests, the conformance suite of all sleep protocols
but the default one; --full does not.
upstream runs the quick part of rayon's tests, all but octillion and the doctests, on each sleep
protocol, and the doctests on the default one; there --full adds octillion. With a filter it is the
quick part alone, or with --full everything. Without a registry the step is skipped.
house lists the places that a figure counts: `house persons/docs`.
size fails if a figure is above its budget in xtask/size-budget.txt; --full adds rayon's own tests.
`size --groups programs` lists the largest groups of functions of a program on both cores; programs
have the names in the table of `size`.
soak prints the seeds of rounds that fail; `soak --seed N` does the same things once more.
Exit code: 0 if nothing failed (a skipped step is no failure), 1 if something did, 2 for a wrong call.";

fn main() -> ExitCode {
    process::end_children_on_signal();
    let matches = command_line().get_matches();
    let (name, options) = matches.subcommand().expect("clap demands a command");
    let mut context = Context::new(
        matches.get_flag("verbose"),
        has_flag(options, "install"),
        has_flag(options, "full"),
        options.try_get_one::<String>("filter").ok().flatten().cloned(),
    );
    context.soak = soak::words(options);
    context.groups = options.try_get_one::<String>("groups").ok().flatten().cloned();
    context.offline = has_flag(options, "offline");
    match OF_TEST.iter().chain(&APART).find(|step| step.name == name) {
        Some(step) => {
            let Entry { outcome, .. } = announced(step, step.name, String::new(), &context);
            outcome.report.iter().for_each(say);
            ExitCode::from(outcome.status.exit_code())
        }
        None if name == "check" => all(&context, &Vec::from_iter(&OF_CHECK)),
        None if name == "nightly" => {
            let is_nightly = |step: &&Step| OF_NIGHTLY.contains(&step.name);
            all(&context, &Vec::from_iter(APART.iter().filter(is_nightly)))
        }
        None => {
            context.is_whole = true;
            context.offline |= !fetch::is_agreed_to(&context);
            all(&context, &Vec::from_iter(&OF_TEST))
        }
    }
}

/// Runs all of the steps, even after one has failed, and sums up.
fn all(context: &Context, steps: &[&Step]) -> ExitCode {
    let started = Instant::now();
    let mut times = Times::load(&context.target);
    let mut entries = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        let label = format!("[{:>2}/{}] {:<10}", index + 1, steps.len(), step.name);
        let left: Vec<&str> = steps[index + 1..].iter().map(|step| step.name).collect();
        let entry = announced(step, &label, times.left(&left), context);
        if context.is_whole {
            times.keep(step.name, entry.took);
        }
        if context.verbose || entry.outcome.status == Status::Failed {
            entry.outcome.report.iter().for_each(say);
        }
        entries.push(entry);
    }
    say(format_args!("\n{}", summary(&entries, started.elapsed()).trim_end()));
    ExitCode::from(entries.iter().map(|entry| entry.outcome.status.exit_code()).max().unwrap_or(0))
}

/// Runs a step between two lines that say that it starts and how it ended. `left` says what comes
/// after it.
fn announced(step: &Step, label: &str, left: String, context: &Context) -> Entry {
    say(format_args!("{label} ...{left}"));
    let started = Instant::now();
    let shown = progress::show(label, left);
    let outcome = match step.run {
        Code(run) => run(context),
        Script => context.script(step.name, if context.install { "--install" } else { "" }),
    };
    let outcome = outcome.unwrap_or_else(|early| early);
    let took = started.elapsed();
    drop(shown);
    let end = format!("{label} {} in {}  {}", outcome.status.word(), seconds(took), outcome.detail);
    say(end.trim_end());
    Entry { name: step.name, took, outcome }
}

fn command_line() -> Command {
    let verbose = flag("verbose").short('v').global(true);
    let mut command = Command::new("xtask")
        .bin_name("cargo xtask")
        .about("Everything that is run around drowse's code")
        .after_help(NOTES)
        .arg(verbose.help("show what child processes print as they print it, not only on failure"))
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            Command::new("check")
                .about("in a minute or two: lints, and the tests and models of what has changed"),
        )
        .subcommand(
            Command::new("test").about("all of the steps from fmt to mutants; what CI runs").arg(
                flag("offline").help("fetch nothing; steps that need what is missing are skipped"),
            ),
        )
        .subcommand(
            Command::new("nightly").about("browser, locks, asan and tsan: what test leaves out"),
        );
    for step in OF_TEST.iter().chain(&APART) {
        let args = step.args.iter().map(|arg| arg());
        command = command.subcommand(Command::new(step.name).about(step.about).args(args));
    }
    command
}

/// Whether the flag is set. It is not if the step does not take it.
fn has_flag(options: &ArgMatches, name: &str) -> bool {
    options.try_get_one::<bool>(name).ok().flatten().copied().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        command_line().debug_assert();
    }

    #[test]
    fn the_steps_of_a_night_are_steps() {
        let is_step = |name: &&str| APART.iter().any(|step| step.name == *name);
        assert!(OF_NIGHTLY.iter().all(is_step));
    }

    #[test]
    fn a_step_takes_what_it_knows_and_nothing_else() {
        let is_right = |line: &str| {
            let words = ["cargo xtask"].into_iter().chain(line.split_whitespace());
            command_line().try_get_matches_from(words).map_err(|error| error.exit_code())
        };
        for line in [
            "check",
            "test",
            "nightly",
            "test --offline",
            "-v loom latch",
            "loom latch -v",
            "upstream jec --full",
            "tsan --install",
            "soak --seed 5",
            "size --full",
            "size --groups small",
        ] {
            assert!(is_right(line).is_ok(), "{line}");
        }
        for line in [
            "",
            "tset",
            "test --fast",
            "fmt latch",
            "test latch",
            "loom a b",
            "asan --install",
            "soak --seed x",
            "size --groups",
        ] {
            assert_eq!(is_right(line).unwrap_err(), 2, "{line}");
        }
    }
}
