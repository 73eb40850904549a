//! The command line.

use crate::contender;
use crate::hangs;
use crate::runner::external;
use crate::workload;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, Parser, Subcommand};
use drowse::SleepProtocol;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  drowse-lab                         about a minute: a table, a page, findings
  drowse-lab list                    what can be run
  drowse-lab run -w fib -c rayon --threads 2
  drowse-lab run -w ticks --protocol sleepy --threads 8 --time 2s --json
  drowse-lab trace -w ticks          what the workers do, on each sleep protocol
  drowse-lab compare -w fib -c drowse -c rayon
  drowse-lab compare --full          everything, thoroughly
  drowse-lab hangs                   programs that hang, on rayon and on drowse

Before and after a change:
  drowse-lab compare --rounds 5 --out before
  drowse-lab compare --rounds 5 --out after
  drowse-lab diff before/results.json after/results.json
  drowse-lab report before/results.json --out page.html

In a clone, `cargo run --release -- list` is `drowse-lab list`.

Exit codes:
  0    it went well; diff: nothing moved for the worse; hangs: drowse came to \
the end of all that it must, whatever rayon did
  1    something is wrong with what was measured: a contender that failed, or a \
cell without figures in `run`; hangs: drowse did not come to an end where it \
must; diff: something moved for the worse, beyond noise \
(what moved on a busy machine, or has fewer than five processes on a side, is \
told but does not count)
  2    something is wrong with the command line or with a file
  130  stopped by Ctrl-C (143: by SIGTERM, 129: by SIGHUP); compare has kept what was measured";

/// Measures drowse beside its peers, on this machine, and draws what it saw.
///
/// Without a command: a quick comparison of about a minute. It prints a table, and
/// leaves a page with pictures and the raw results in target/drowse-lab.
#[derive(Debug, Parser)]
#[command(name = "drowse-lab", version, verbatim_doc_comment, after_help = EXAMPLES, after_long_help = EXAMPLES)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
}

impl Cli {
    /// Reads a command line, which begins with the program's name.
    ///
    /// # Errors
    ///
    /// If it cannot be understood, or if it asks for help. Options without their command get a tip.
    pub fn read(args: &[OsString]) -> Result<Self, clap::Error> {
        Self::try_parse_from(args).map_err(|mut error| {
            if let (ErrorKind::UnknownArgument, Some((name, rest))) =
                (error.kind(), args.split_first())
            {
                let compare = OsString::from("compare");
                let meant = || [name, &compare].into_iter().chain(rest);
                if Self::try_parse_from(meant()).is_ok() {
                    let words: Vec<_> =
                        meant().skip(1).map(|word| word.to_string_lossy()).collect();
                    let tip =
                        format!("these are options of a command: drowse-lab {}", words.join(" "));
                    error
                        .insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
                }
            }
            error
        })
    }
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Says which workloads, contenders and sleep protocols there are.
    List(ListArgs),
    /// Measures one cell of the table, in a process of its own.
    Run(RunArgs),
    /// Measures contenders side by side, and writes the page and the results.
    Compare(CompareArgs),
    /// Records what the workers do: a page with pictures, and files for Perfetto (ui.perfetto.dev).
    Trace(TraceArgs),
    /// Makes the page, and prints the table, from results that were written before.
    Report(ReportArgs),
    /// Says what moved between two results, beyond noise.
    Diff(DiffArgs),
    /// Runs programs that hang, or end badly, on rayon and on drowse, and with what cures them.
    Hangs(HangsArgs),
    /// One cell, here. For the other commands.
    #[command(hide = true)]
    Child(ChildArgs),
    /// One program, here. For `hangs`.
    #[command(hide = true)]
    HangsChild(HangsChildArgs),
}

/// `list`
#[derive(Debug, Args)]
pub struct ListArgs {
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

/// `run`
#[derive(Debug, Args)]
pub struct RunArgs {
    /// What to run; `list` describes them.
    #[arg(long, short, value_parser = workloads())]
    pub workload: String,
    /// Who runs it.
    #[arg(long, short, default_value = "drowse", value_parser = contenders())]
    pub contender: String,
    /// How many threads [default: as many as the machine runs at once].
    #[arg(long, short, value_parser = threads)]
    pub threads: Option<usize>,
    /// The sleep protocol, if the contender is drowse.
    #[arg(long, short, value_parser = protocols())]
    pub protocol: Option<String>,
    /// How long to measure.
    #[arg(long, default_value = "500ms", value_parser = time)]
    pub time: Duration,
    /// How long to wait for an answer [default: 30 s, and ten times as long as it measures].
    #[arg(long, value_parser = time)]
    pub timeout: Option<Duration>,
    /// As JSON: the cell, with all of its samples.
    #[arg(long)]
    pub json: bool,
}

/// `compare`
#[derive(Debug, Default, Args)]
pub struct CompareArgs {
    /// About a minute: some workloads, at one width. This is the default.
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,
    /// Every workload, at every width that it is meant for: long enough for a meal. Contenders with
    /// a program of their own are built first.
    #[arg(long)]
    pub full: bool,
    /// Only this workload; may be repeated.
    #[arg(long, short, value_parser = workloads())]
    pub workload: Vec<String>,
    /// Only this contender; may be repeated.
    #[arg(long, short, value_parser = contenders())]
    pub contender: Vec<String>,
    /// Only this number of threads; may be repeated.
    #[arg(long, short, value_parser = threads)]
    pub threads: Vec<usize>,
    /// How long each process measures [default: what the plan chooses].
    #[arg(long, value_parser = time)]
    pub time: Option<Duration>,
    /// How many processes each cell gets [default: what the plan chooses].
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    pub rounds: Option<u16>,
    /// How long to wait for a process [default: 30 s, and ten times as long as it measures].
    #[arg(long, value_parser = time)]
    pub timeout: Option<Duration>,
    /// Where to leave report.html and results.json. Results that are there become
    /// results.previous.json.
    #[arg(long, short, default_value = "target/drowse-lab")]
    pub out: PathBuf,
    /// Prints the results as JSON instead of the table.
    #[arg(long)]
    pub json: bool,
}

/// `trace`
#[derive(Debug, Args)]
pub struct TraceArgs {
    /// What to run; `list` describes them.
    #[arg(long, short, value_parser = workloads())]
    pub workload: String,
    /// The sleep protocol [default: each of them].
    #[arg(long, short, value_parser = protocols())]
    pub protocol: Option<String>,
    /// How many threads.
    #[arg(long, short, default_value = "8", value_parser = threads)]
    pub threads: usize,
    /// How much of it the pictures show [default: 10 ms, or less if more than a few hundred arrows
    /// fall into it]. The files for Perfetto have ten times as much.
    #[arg(long, value_parser = time)]
    pub window: Option<Duration>,
    /// Where to leave the page and the traces.
    #[arg(long, short, default_value = "target/drowse-lab")]
    pub out: PathBuf,
}

/// `report`
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// The results.json of an earlier run.
    pub results: PathBuf,
    /// Where to leave the page [default: beside the results, with .html for .json].
    #[arg(long, short)]
    pub out: Option<PathBuf>,
}

/// `diff`
#[derive(Debug, Args)]
pub struct DiffArgs {
    /// The results from before.
    pub before: PathBuf,
    /// The results from after.
    pub after: PathBuf,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

const HANGS: &str = "\
Each program runs in processes of its own: on rayon, on drowse, and on drowse \
with whatever cures it, an environment variable or another call. The table says \
how long it took, or how it ended instead:
  hangs   it was not done in time, and was ended
  aborts  a signal has ended it: a stack that overflows, a panic that nobody gets
  panics  a panic has ended it
  wrong   it came to its end, but not as it should: the note says why
A program that hangs by chance may get through now and then.

Examples:
  drowse-lab hangs
  drowse-lab hangs --program lock_across_join --timeout 2s";

/// `hangs`
#[derive(Debug, Args)]
#[command(after_help = HANGS, after_long_help = HANGS)]
pub struct HangsArgs {
    /// Only this program; may be repeated.
    #[arg(long, short, value_parser = programs())]
    pub program: Vec<String>,
    /// A program that is not done by then hangs [default: 5s].
    #[arg(long, default_value = "5s", hide_default_value = true, value_parser = time)]
    pub timeout: Duration,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

/// `hangs-child`
#[derive(Debug, Args)]
pub struct HangsChildArgs {
    /// The program.
    #[arg(long)]
    pub program: String,
    /// Who runs it: rayon, drowse, or the number of a cure.
    #[arg(long)]
    pub who: String,
}

/// `child`
#[derive(Debug, Args)]
pub struct ChildArgs {
    /// The workload.
    #[arg(long)]
    pub workload: String,
    /// The contender.
    #[arg(long)]
    pub contender: String,
    /// How many threads.
    #[arg(long)]
    pub threads: usize,
    /// How long, in microseconds.
    #[arg(long)]
    pub time_us: u64,
    /// The sources that the asking program was built from, if that is another program.
    #[arg(long)]
    pub sources: Option<String>,
}

fn workloads() -> PossibleValuesParser {
    PossibleValuesParser::new(workload::ALL.iter().map(|spec| spec.name))
}

fn contenders() -> PossibleValuesParser {
    let here = contender::ALL.iter().map(|spec| spec.name);
    let absent = contender::absent().iter().map(|absent| absent.name);
    let external = external::ALL.iter().map(|external| external.name);
    PossibleValuesParser::new(here.chain(absent).chain(external))
}

fn programs() -> PossibleValuesParser {
    let described = |program: &hangs::Program| PossibleValue::new(program.name).help(program.about);
    PossibleValuesParser::new(hangs::ALL.iter().map(described))
}

fn protocols() -> PossibleValuesParser {
    PossibleValuesParser::new(SleepProtocol::ALL.map(SleepProtocol::name))
}

/// More threads than this are a slip of the finger.
const MOST_THREADS: usize = 1_024;

fn threads(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=MOST_THREADS).contains(number));
    number.ok_or_else(|| format!("a number from 1 to {MOST_THREADS} is wanted"))
}

/// Longer than this is a slip of the finger.
const MOST_TIME: Duration = Duration::from_secs(3_600);

fn time(text: &str) -> Result<Duration, String> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let seconds = match &text[end..] {
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "min" => 60.0,
        _ => 0.0,
    };
    let time =
        text[..end].parse::<f64>().ok().map(|number| Duration::try_from_secs_f64(number * seconds));
    let time = time
        .and_then(Result::ok)
        .filter(|time| (1..=MOST_TIME.as_nanos()).contains(&time.as_nanos()));
    time.ok_or_else(|| "a time such as 500ms, 2s or 1min is wanted, of an hour at most".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn times() {
        assert_eq!(time("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(time("1.5s"), Ok(Duration::from_millis(1_500)));
        assert_eq!(time("2min"), Ok(Duration::from_secs(120)));
        assert_eq!(time("20us"), Ok(Duration::from_micros(20)));
        for wrong in ["", "5", "s", "0s", "-1s", "1h", "1e3s", "1..2s", "99999999999s", "2 hours"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn numbers_of_threads() {
        assert_eq!(threads("8"), Ok(8));
        for wrong in ["0", "-1", "many", "100000"] {
            assert!(threads(wrong).unwrap_err().contains("from 1 to 1024"), "{wrong}");
        }
    }
}
