//! What a results file holds. `docs/internals/results-format.md` says the same for people.
//!
//! A file has the raw samples; medians and intervals are made when it is read. Each kind of figure
//! brings its own unit and direction, so that a reader needs no table of its own.

use crate::stats::{ByProcess, figure};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The format that this program writes, and the only one that it reads.
pub const FORMAT: &str = "drowse-lab/2";

/// The reason of a cell that nobody has run, because the run was stopped before.
pub const NOT_MEASURED: &str = "not measured: the run was stopped before";

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
    /// Its unit: a time (`ns`, `us`, `ms`, `s`), `%`, `x` (times as much), a rate (`/s`, `M/s`,
    /// `jobs/s`), or nothing for a plain number.
    pub unit: String,
    /// Whether less of it is better.
    pub less_is_better: bool,
    /// The value at which the measurement stops, if there is one: a sample that has it stands for
    /// this value or more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap: Option<f64>,
}

impl Measure {
    /// Whether this value is the one at which the measurement stops.
    pub fn is_at_cap(&self, value: f64) -> bool {
        self.cap.is_some_and(|cap| value >= cap)
    }

    /// The figure as text: `4.21 ns`; at the cap `1 ms or more`.
    pub fn figure(&self, value: f64) -> String {
        match self.cap {
            Some(cap) if value >= cap => {
                format!("{} or more", figure(cap, &self.unit).replacen(".00 ", " ", 1))
            }
            _ => figure(value, &self.unit),
        }
    }
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
    /// None, and why: it cannot do this, or it failed; or it is [`NOT_MEASURED`].
    None {
        /// In a sentence.
        reason: String,
    },
}

impl Outcome {
    /// Whether somebody has tried.
    pub fn was_run(&self) -> bool {
        !matches!(self, Self::None { reason } if reason == NOT_MEASURED)
    }
}

/// The raw samples.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// By the measure's name: those of the first process, then those of the second, and so on.
    pub samples: BTreeMap<String, Vec<f64>>,
    /// By the measure's name: how many of its samples each process gave. As many as there are
    /// processes.
    pub counts: BTreeMap<String, Vec<usize>>,
    /// CPU time of the process over wall time, in percent, a value per process.
    #[serde(default)]
    pub cpu_percent: Vec<f64>,
    /// Context switches per second that the process asked for, and that it was made to do.
    #[serde(default)]
    pub switches: Vec<[f64; 2]>,
    /// Which processes, from 0, ran while the machine was busy with something else.
    #[serde(default)]
    pub noisy: Vec<usize>,
}

impl Figures {
    /// What one process measured.
    pub fn of_process(
        samples: BTreeMap<String, Vec<f64>>,
        cpu_percent: f64,
        switches: Option<[f64; 2]>,
    ) -> Self {
        let counts =
            samples.iter().map(|(name, samples)| (name.clone(), vec![samples.len()])).collect();
        Self {
            samples,
            counts,
            cpu_percent: vec![cpu_percent],
            switches: switches.into_iter().collect(),
            noisy: Vec::new(),
        }
    }

    /// How many processes there were.
    pub fn processes(&self) -> usize {
        self.counts.values().map(Vec::len).max().unwrap_or(0)
    }

    /// The samples of this measure, by process.
    pub fn measure(&self, name: &str) -> Option<ByProcess<'_>> {
        let samples = self.samples.get(name)?;
        Some(ByProcess::new(samples, self.counts.get(name).map_or(&[], Vec::as_slice)))
    }

    /// The places, from 0, of this measure's samples that are of a noisy process.
    pub fn noisy_samples(&self, name: &str) -> Vec<usize> {
        let (mut places, mut first) = (Vec::new(), 0);
        for (process, count) in self.counts.get(name).into_iter().flatten().enumerate() {
            if self.noisy.contains(&process) {
                places.extend(first..first + count);
            }
            first += count;
        }
        places
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_noisy_process_marks_its_own_samples_in_each_list() {
        let list = |name: &str, counts: &[usize]| (name.to_owned(), counts.to_vec());
        let figures = Figures {
            counts: BTreeMap::from([list("cpu", &[1, 1, 1]), list("start", &[3, 4, 2])]),
            noisy: vec![0, 2],
            ..Figures::default()
        };
        assert_eq!(figures.processes(), 3);
        assert_eq!(figures.noisy_samples("cpu"), [0, 2]);
        assert_eq!(figures.noisy_samples("start"), [0, 1, 2, 7, 8]);
        assert!(figures.noisy_samples("other").is_empty());
    }

    #[test]
    fn a_value_at_the_cap_is_so_much_or_more() {
        let mut measure = Measure {
            name: "start".to_owned(),
            label: "time to the start".to_owned(),
            unit: "us".to_owned(),
            less_is_better: true,
            cap: Some(1_000.0),
        };
        assert_eq!(measure.figure(1_000.0), "1 ms or more");
        assert_eq!(measure.figure(999.0), "999 µs");
        assert!(measure.is_at_cap(1_000.0) && !measure.is_at_cap(999.0));
        let text = serde_json::to_string(&measure).unwrap();
        assert_eq!(serde_json::from_str::<Measure>(&text).unwrap(), measure);
        measure.cap = None;
        assert!(!measure.is_at_cap(1e9));
        let text = serde_json::to_string(&measure).unwrap();
        assert!(!text.contains("cap"), "older files have none: {text}");
        assert_eq!(serde_json::from_str::<Measure>(&text).unwrap(), measure);
    }

    #[test]
    fn numbers_are_read_as_they_were_written() {
        // Without serde_json's float_roundtrip, some of these come back one digit off.
        let mut random = crate::stats::Random::new(3);
        for _ in 0..20_000 {
            let value = random.unit() * 10_f64.powi(random.below(40) as i32 - 20);
            let text = serde_json::to_string(&value).unwrap();
            assert_eq!(serde_json::from_str::<f64>(&text).unwrap(), value, "{text}");
        }
    }
}
