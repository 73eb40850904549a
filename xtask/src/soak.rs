//! The soak: `drowse-soak`, built and run.

use std::process::Command;
use std::time::Duration;

use clap::{Arg, ArgMatches, value_parser};

use crate::context::{BUILD_LIMIT, Context};
use crate::outcome::{Outcome, Status};
use crate::process::Job;
use crate::steps::executables;
use crate::tools::say;

/// What the program takes. It says what it makes of it.
pub(crate) const ARGS: &[fn() -> Arg] = &[
    || number("minutes").help("for so long"),
    || number("seconds").help("for so long; 20 if nothing is said"),
    || number("seed").help("the round of this seed, and no other"),
    || {
        number("times")
            .help("each round so many times: a seed decides what is done, the scheduler when")
    },
    || number("first").help("begin with this seed, and go on with the next ones"),
    || number("jobs").help("so many rounds at once; 2 if nothing is said"),
    || {
        option("only")
            .help("only actions with one of these words in their names")
            .value_name("WORD,WORD")
    },
];

/// The program's code for: not on this system.
const MISSING: i32 = 77;

/// Longer than it takes to see that a round hangs, or to do a given one very often.
const PATIENCE: Duration = Duration::from_secs(60 * 60);

fn option(name: &'static str) -> Arg {
    Arg::new(name).long(name)
}

fn number(name: &'static str) -> Arg {
    option(name).value_name("N").value_parser(value_parser!(u64))
}

/// What the user said to the step, in the program's words. `None` for other steps.
pub(crate) fn words(options: &ArgMatches) -> Option<Vec<String>> {
    options.try_contains_id("minutes").ok()?;
    let ids = options.ids().filter(|id| options.value_source(id.as_str()).is_some());
    let pairs = ids.filter_map(|id| {
        let value = options.get_raw(id.as_str())?.next()?.to_str()?.to_string();
        (id != "verbose").then(|| [format!("--{id}"), value])
    });
    Some(pairs.flatten().collect())
}

/// Runs it as the user said, and shows what it says; or for a short while, as a part of `test`.
pub(crate) fn run(context: &Context) -> Result<Outcome, Outcome> {
    let build =
        "build --profile soak --package drowse-soak --message-format=json-render-diagnostics";
    let built = context.run_stdout_apart(context.cargo(build), BUILD_LIMIT)?;
    let programs = executables(&built.stdout, "bin");
    let (_, program) = programs.first().ok_or_else(|| "cargo built no program".to_string())?;
    let mut command = Command::new(program);
    command.args(context.soak.iter().flatten());
    let limit = minutes(context) + PATIENCE;
    let job = Job { echo: context.verbose || context.soak.is_some(), ..Job::new(command, limit) };
    let (echoes, done) = (job.echo, job.run());
    let done = done.map_err(|error| format!("the soak cannot be run: {error}"))?;
    let last =
        done.output.lines().last().unwrap_or_default().trim_start_matches("soak: ").to_string();
    match done.status.and_then(|status| status.code()) {
        Some(0) => Ok(Status::Passed.with(last)),
        Some(2) => Err(Status::WrongCall.with(last)),
        Some(MISSING) => Err(Status::Skipped.with(last)),
        _ => {
            if !echoes {
                say(done.output.trim_end());
            }
            Err(Status::Failed.with(if done.status.is_some() { last } else { done.how_it_ended() }))
        }
    }
}

/// How long the user wants it to run, if that is in minutes.
fn minutes(context: &Context) -> Duration {
    let words = context.soak.as_deref().unwrap_or_default();
    let said =
        words.chunks(2).find(|pair| pair[0] == "--minutes").and_then(|pair| pair[1].parse().ok());
    Duration::from_secs(60 * said.unwrap_or(0_u64))
}
