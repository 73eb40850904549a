//! What a results file holds. `docs/results-format.md` says the same for people.
//!
//! A file has the raw samples; medians and intervals are made when it is read. Each kind of figure brings its own unit and direction,
//! so that a reader needs no table of its own.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The format that this program writes, and the only one that it reads.
pub const FORMAT: &str = "drowse-lab/1";

/// A whole run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// [`FORMAT`].
    pub format: String,
    /// Where it ran.
    pub host: Host,
    /// What ran.
    pub build: Build,
    /// When it began, in seconds since 1970.
    pub started: u64,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// The plan: `quick`, `full`, or the words of the command line.
    pub plan: String,
    /// The workloads that were run, in the order in which a report shows them.
    pub workloads: Vec<Workload>,
    /// The contenders, likewise.
    pub contenders: Vec<Contender>,
    /// One for each workload, contender and number of threads that the plan asked for.
    pub cells: Vec<Cell>,
    /// What pools were seen to do.
    #[serde(default)]
    pub timelines: Vec<Timeline>,
    /// What a reader should know about how it went: noisy spells, things left out.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// The machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// How many threads it runs at once.
    pub cpus: usize,
    /// The processor's name for itself.
    pub cpu: String,
    /// Operating system and kernel.
    pub system: String,
    /// The load average of the last minute, before the run.
    pub load_before: f64,
    /// And after it.
    pub load_after: f64,
}

/// The program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Build {
    /// drowse's version.
    pub drowse: String,
    /// What `rustc --version` says.
    pub rustc: String,
    /// The commit, with `+` if the tree had changes; `unknown` outside a repository.
    pub commit: String,
}

/// Something to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// Its name on the command line.
    pub name: String,
    /// What it does, in a sentence.
    pub about: String,
    /// The figures it yields, by name. The first one is the one to compare.
    pub measures: Vec<Measure>,
}

/// A kind of figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// Its name in [`Figures::samples`].
    pub name: String,
    /// What it is, in a few words: `time a node`.
    pub label: String,
    /// Its unit: `ns`, `us`, `ms`, `%`, `jobs/s`, or nothing for a plain number.
    pub unit: String,
    /// Whether less of it is better.
    pub less_is_better: bool,
}

/// Someone who does it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Contender {
    /// Its name on the command line.
    pub name: String,
    /// What it is, in a sentence, with its version.
    pub about: String,
}

/// What one contender made of one workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The workload's name.
    pub workload: String,
    /// The contender's name.
    pub contender: String,
    /// The number of threads.
    pub threads: usize,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Figures.
    Figures(Figures),
    /// None, and why: it cannot do this, or it failed.
    None {
        /// In a sentence.
        reason: String,
    },
}

/// The raw samples.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// By the measure's name: one sample a round, all rounds of all processes.
    pub samples: BTreeMap<String, Vec<f64>>,
    /// CPU time of the process over wall time, in percent, a value a process.
    #[serde(default)]
    pub cpu_percent: Vec<f64>,
    /// Context switches a second that the process asked for, and that it was made to do.
    #[serde(default)]
    pub switches: Vec<[f64; 2]>,
    /// Which samples (by index into each list) came from a round in which the machine was busy with something else.
    #[serde(default)]
    pub noisy: Vec<usize>,
}

/// What a pool did, as a picture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// What it shows: `ticks on sleepy`.
    pub title: String,
    /// The workload.
    pub workload: String,
    /// The sleep protocol.
    pub protocol: String,
    /// The names of the rows: `outside`, `worker 0`, ...
    pub rows: Vec<String>,
    /// How long it is, in microseconds.
    pub length_us: f64,
    /// What each row was doing when.
    pub spans: Vec<Span>,
    /// Who woke whom, who stole from whom.
    pub arrows: Vec<Arrow>,
}

/// A stretch of time on one row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// The row.
    pub row: usize,
    /// `active`, `idle`, `sleepy`, `asleep`; `job` for a job within them.
    pub state: String,
    /// From when to when, in microseconds.
    pub from_us: f64,
    /// The end of it.
    pub to_us: f64,
}

/// From one row to another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Arrow {
    /// `wake` or `steal`.
    pub kind: String,
    /// Why: the reason of a wake-up.
    pub why: String,
    /// Its tail.
    pub from_row: usize,
    /// Its head.
    pub to_row: usize,
    /// When it begins, in microseconds.
    pub from_us: f64,
    /// When it ends: when the woken worker ran.
    pub to_us: f64,
}
