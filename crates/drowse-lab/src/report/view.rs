//! Results as reports see them: by workload, with medians made and compared.

use crate::contender::is_the_default_by_name;
use crate::schema::{Cell, Figures, Measure, Outcome, Results, Workload};
use crate::stats::{Difference, Limits, Summary, differ_within, median};

/// All workloads with their rows.
pub(super) struct View<'a> {
    pub(super) results: &'a Results,
    pub(super) groups: Vec<Group<'a>>,
}

/// One workload.
pub(super) struct Group<'a> {
    pub(super) workload: &'a Workload,
    /// The measure to compare.
    pub(super) main: &'a Measure,
    pub(super) rows: Vec<Row<'a>>,
}

/// One cell.
pub(super) struct Row<'a> {
    pub(super) contender: &'a str,
    pub(super) threads: usize,
    pub(super) kind: Kind,
    /// What was measured, or why nothing was.
    pub(super) body: Result<Measured<'a>, &'a str>,
}

/// What was measured.
pub(super) struct Measured<'a> {
    pub(super) figures: &'a Figures,
    /// rayon's, if there is one to compare with, and this is not it.
    rayon: Option<&'a Figures>,
    /// Of the main measure.
    pub(super) main: Summary,
    /// To rayon's main measure.
    pub(super) to_rayon: Option<Difference>,
    /// CPU time over wall time, in percent.
    pub(super) cpu: Option<f64>,
    /// Whether less of the main measure is better.
    pub(super) less_is_better: bool,
    /// How many of its processes were noisy.
    pub(super) noisy: usize,
}

impl Row<'_> {
    /// Whether it is better than rayon's, beyond noise. Not asked of what is not a pool: that
    /// serial code is faster at a task too small to share is not a merit.
    pub(super) fn better(&self) -> Option<bool> {
        let measured = self.body.as_ref().ok().filter(|_| self.kind != Kind::Limit)?;
        measured.to_rayon.and_then(|difference| difference.better(measured.less_is_better))
    }
}

/// Which side a contender is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Drowse,
    Rayon,
    /// What no pool can beat: serial code, the bare system call.
    Limit,
    Other,
}

impl Kind {
    pub(super) fn of(contender: &str) -> Self {
        match contender {
            "rayon" => Self::Rayon,
            "serial" | "bare" => Self::Limit,
            name if name == "drowse" || name.starts_with("drowse-") => Self::Drowse,
            _ => Self::Other,
        }
    }

    /// The class in the page.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Drowse => "drowse",
            Self::Rayon => "rayon",
            Self::Limit => "limit",
            Self::Other => "other",
        }
    }
}

impl<'a> View<'a> {
    pub(super) fn of(results: &'a Results) -> Self {
        let groups = results.workloads.iter().filter_map(|workload| Group::of(results, workload)).collect();
        Self { results, groups }
    }

    /// Every number of threads that has a cell, smallest first.
    pub(super) fn threads(&self) -> Vec<usize> {
        let mut threads: Vec<_> = self.groups.iter().flat_map(Group::thread_counts).collect();
        threads.sort_unstable();
        threads.dedup();
        threads
    }

    /// The drowse to judge drowse by: the one that people get if they ask for nothing. Picking the
    /// best protocol for each workload would be flattery.
    pub(super) fn champion(&self) -> Option<&'a str> {
        let names = || self.results.contenders.iter().map(|c| c.name.as_str());
        let of_name = |wanted: &str| names().find(|name| *name == wanted);
        let by_name = || names().find(|name| is_the_default_by_name(name));
        of_name("drowse").or_else(by_name).or(names().find(|name| Kind::of(name) == Kind::Drowse))
    }
}

impl<'a> Group<'a> {
    fn of(results: &'a Results, workload: &'a Workload) -> Option<Self> {
        let main = workload.measures.first()?;
        let mut cells: Vec<&Cell> = results.cells.iter().filter(|c| c.workload == workload.name).collect();
        let place = |cell: &Cell| results.contenders.iter().position(|c| c.name == cell.contender);
        cells.sort_by_key(|cell| (place(cell).unwrap_or(usize::MAX), cell.threads));
        let rows: Vec<_> = cells.iter().map(|cell| Row::of(cell, main, &cells)).collect();
        // Listed, but not run: traces do that.
        (!rows.is_empty()).then_some(Self { workload, main, rows })
    }

    /// The number of threads to say once for all of them: that of those that can choose, if they
    /// all chose the same. Serial code has one thread, whatever the others have.
    pub(super) fn threads(&self) -> Option<usize> {
        let mut counts = self.thread_counts();
        if counts.len() == 1 { counts.pop() } else { None }
    }

    /// The numbers of threads that contenders were given, smallest first.
    pub(super) fn thread_counts(&self) -> Vec<usize> {
        let none_can_choose = self.rows.iter().all(|row| row.kind == Kind::Limit);
        let rows = self.rows.iter().filter(|row| none_can_choose || row.kind != Kind::Limit);
        let mut counts: Vec<usize> = rows.map(|row| row.threads).collect();
        counts.sort_unstable();
        counts.dedup();
        counts
    }

    /// A row's number of threads, where that is not what the heading says.
    pub(super) fn own_threads(&self, row: &Row<'_>) -> Option<usize> {
        (self.threads() != Some(row.threads)).then_some(row.threads)
    }

    /// The number of threads in a heading: `, 4 threads`, or nothing if rows differ.
    pub(super) fn threads_text(&self) -> String {
        self.threads().map_or(String::new(), |count| format!(", {}", super::table::threads(count)))
    }
}

/// What to call a measure that is a quantile: `p99` for `wake_p99`.
pub(super) fn quantile_name(name: &str) -> Option<&str> {
    let last = name.rsplit(|c: char| !c.is_ascii_alphanumeric()).next()?;
    let digits = last.strip_prefix('p').unwrap_or("");
    let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    (is_number || matches!(last, "max" | "median")).then_some(last)
}

impl<'a> Row<'a> {
    fn of(cell: &'a Cell, main: &Measure, cells: &[&'a Cell]) -> Self {
        let kind = Kind::of(&cell.contender);
        let body = match &cell.outcome {
            Outcome::None { reason } if reason.trim().is_empty() => Err("no reason was given"),
            Outcome::None { reason } => Err(reason.as_str()),
            Outcome::Figures(figures) => {
                Measured::of(figures, main, peer(cell, cells)).ok_or("it ran, but left no samples")
            }
        };
        Self { contender: &cell.contender, threads: cell.threads, kind, body }
    }
}

/// rayon's cell to compare this one with: of as many threads; else, if there is only one, that one.
fn peer<'a>(cell: &Cell, cells: &[&'a Cell]) -> Option<&'a Figures> {
    if cell.contender == "rayon" {
        return None;
    }
    let mut rayons: Vec<&Cell> = cells.iter().copied().filter(|c| c.contender == "rayon").collect();
    if rayons.len() > 1 {
        rayons.retain(|c| c.threads == cell.threads);
    }
    match rayons.first().map(|c| &c.outcome) {
        Some(Outcome::Figures(figures)) => Some(figures),
        _ => None,
    }
}

impl<'a> Measured<'a> {
    fn of(figures: &'a Figures, main: &Measure, rayon: Option<&'a Figures>) -> Option<Self> {
        Some(Self {
            figures,
            rayon,
            main: Summary::of(figures.measure(&main.name)?)?,
            to_rayon: to_rayon(figures, rayon, main),
            cpu: median(&figures.cpu_percent),
            less_is_better: main.less_is_better,
            noisy: figures.noisy.len(),
        })
    }

    /// How it compares with rayon by this measure.
    pub(super) fn to_rayon_by(&self, measure: &Measure) -> Option<Difference> {
        to_rayon(self.figures, self.rayon, measure)
    }

    /// rayon's median by this measure.
    pub(super) fn median_of_rayon(&self, measure: &Measure) -> Option<f64> {
        median(self.rayon?.measure(&measure.name)?.samples())
    }

    /// The number of processes of this or of rayon's, whichever has fewer.
    pub(super) fn processes(&self) -> usize {
        self.figures.processes().min(self.rayon.map_or(usize::MAX, Figures::processes))
    }

    /// What a reader should know of noise: `1 of 3 runs noisy`.
    pub(super) fn noise(&self) -> Option<String> {
        (self.noisy > 0).then(|| format!("{} of {} runs noisy", self.noisy, self.figures.processes()))
    }

    /// Whether most of it, or of rayon's, was measured while the machine was busy with something
    /// else.
    pub(super) fn mostly_noisy(&self) -> bool {
        let noisy = |figures: &Figures| 2 * figures.noisy.len() > figures.processes();
        noisy(self.figures) || self.rayon.is_some_and(noisy)
    }
}

fn to_rayon(ours: &Figures, rayon: Option<&Figures>, measure: &Measure) -> Option<Difference> {
    let (theirs, ours) = (rayon?.measure(&measure.name)?, ours.measure(&measure.name)?);
    Some(differ_within(theirs, ours, &Limits::ONE_RUN.of_unit(&measure.unit)))
}

#[cfg(test)]
mod tests {
    use super::{Kind, quantile_name};

    #[test]
    fn quantiles_are_known_by_name() {
        assert_eq!(quantile_name("p50"), Some("p50"));
        assert_eq!(quantile_name("wake_p999"), Some("p999"));
        assert_eq!(quantile_name("max"), Some("max"));
        assert_eq!(quantile_name("ns_per_node"), None);
        assert_eq!(quantile_name("p"), None);
        assert_eq!(quantile_name(""), None);
    }

    #[test]
    fn sides() {
        assert_eq!(Kind::of("drowse-jec"), Kind::Drowse);
        assert_eq!(Kind::of("rayon-on-drowse"), Kind::Other);
        assert_eq!(Kind::of("bare"), Kind::Limit);
    }
}
