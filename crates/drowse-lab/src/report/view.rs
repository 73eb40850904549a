//! Results as reports see them: by workload, with medians made and compared.

use crate::contender::is_the_default_by_name;
use crate::schema::{Cell, Figures, Measure, Outcome, Results, Workload};
use crate::stats::{Limits, Summary, differ_within, median, ratio};

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
    main_measure: &'a Measure,
    /// The comparisons with rayon, one for each measure that both have.
    pub(super) compared: Vec<Comparison<'a>>,
    /// CPU time over wall time, in percent.
    pub(super) cpu: Option<f64>,
    /// How many of its processes were noisy.
    pub(super) noisy: usize,
}

/// A median beside rayon's, by one measure. The only place where they are compared: tables and
/// charts take their ratios and marks from it, and the findings take all that they say.
pub(super) struct Comparison<'a> {
    pub(super) measure: &'a Measure,
    pub(super) ours: f64,
    pub(super) theirs: f64,
    /// Ours over rayon's; `None` if that says nothing: one of them is at the cap of the measure,
    /// or rayon's is zero, or both are nearly zero.
    pub(super) ratio: Option<f64>,
    /// Whether ours is better than rayon's, beyond noise. Never said of a contender that is no
    /// pool: that serial code is faster at a task too small to share is not a merit.
    pub(super) better: Option<bool>,
}

impl<'a> Comparison<'a> {
    fn of(
        kind: Kind,
        ours: &Figures,
        rayon: Option<&Figures>,
        measure: &'a Measure,
    ) -> Option<Self> {
        let (theirs, ours) = (rayon?.measure(&measure.name)?, ours.measure(&measure.name)?);
        let difference = differ_within(theirs, ours, &Limits::ONE_RUN.of_unit(&measure.unit));
        let (ours, theirs) = (median(ours.samples())?, median(theirs.samples())?);
        let capped = measure.is_at_cap(ours) || measure.is_at_cap(theirs);
        Some(Self {
            measure,
            ours,
            theirs,
            ratio: difference.ratio.filter(|_| !capped),
            better: difference.better(measure.less_is_better).filter(|_| kind != Kind::Limit),
        })
    }

    /// The ratio as tables show it; nothing if there is none.
    pub(super) fn ratio_text(&self) -> String {
        self.ratio.map_or(String::new(), ratio)
    }

    /// Whether one of the two is at the cap of the measure, and not both.
    pub(super) fn has_one_at_cap(&self) -> bool {
        self.measure.is_at_cap(self.ours) != self.measure.is_at_cap(self.theirs)
    }
}

impl Row<'_> {
    /// Whether the main measure is better than rayon's, beyond noise.
    pub(super) fn better(&self) -> Option<bool> {
        self.body.as_ref().ok()?.to_rayon()?.better
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
        let groups =
            results.workloads.iter().filter_map(|workload| Group::of(results, workload)).collect();
        Self { results, groups }
    }

    /// What to say once of a machine that was busy: how many processes other programs disturbed.
    /// `None` if there was none.
    pub(super) fn busy(&self) -> Option<String> {
        let figures = || {
            self.results.cells.iter().filter_map(|cell| match &cell.outcome {
                Outcome::Figures(figures) => Some(figures),
                Outcome::None { .. } => None,
            })
        };
        let noisy: usize = figures().map(|figures| figures.noisy.len()).sum();
        let all: usize = figures().map(Figures::processes).sum();
        let processes = if all == 1 { "process" } else { "processes" };
        (noisy > 0).then(|| {
            format!(
                "The machine was busy: {noisy} of {all} {processes} ran while other programs used \
                 more than a tenth of it. Their figures count, with the mark !. Measure again when \
                 it has nothing else to do."
            )
        })
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
        let mut cells: Vec<&Cell> =
            results.cells.iter().filter(|c| c.workload == workload.name).collect();
        let measures = &workload.measures;
        let place = |cell: &Cell| results.contenders.iter().position(|c| c.name == cell.contender);
        cells.sort_by_key(|cell| (place(cell).unwrap_or(usize::MAX), cell.threads));
        let rows: Vec<_> = cells.iter().map(|cell| Row::of(cell, measures, &cells)).collect();
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
    fn of(cell: &'a Cell, measures: &'a [Measure], cells: &[&'a Cell]) -> Self {
        let kind = Kind::of(&cell.contender);
        let body = match &cell.outcome {
            Outcome::None { reason } if reason.trim().is_empty() => Err("no reason was given"),
            Outcome::None { reason } => Err(reason.as_str()),
            Outcome::Figures(figures) => Measured::of(kind, figures, measures, peer(cell, cells))
                .ok_or("it ran, but left no samples"),
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
    fn of(
        kind: Kind,
        figures: &'a Figures,
        measures: &'a [Measure],
        rayon: Option<&'a Figures>,
    ) -> Option<Self> {
        let main = measures.first()?;
        let compared = |measure| Comparison::of(kind, figures, rayon, measure);
        Some(Self {
            figures,
            rayon,
            main: Summary::of(figures.measure(&main.name)?)?,
            compared: measures.iter().filter_map(compared).collect(),
            cpu: median(&figures.cpu_percent),
            noisy: figures.noisy.len(),
            main_measure: main,
        })
    }

    /// The comparison with rayon by the main measure.
    pub(super) fn to_rayon(&self) -> Option<&Comparison<'a>> {
        self.to_rayon_by(self.main_measure)
    }

    /// The comparison with rayon by this measure.
    pub(super) fn to_rayon_by(&self, measure: &Measure) -> Option<&Comparison<'a>> {
        self.compared.iter().find(|comparison| comparison.measure.name == measure.name)
    }

    /// The number of processes of this or of rayon's, whichever has fewer.
    pub(super) fn processes(&self) -> usize {
        self.figures.processes().min(self.rayon.map_or(usize::MAX, Figures::processes))
    }

    /// What a reader should know of noise: `1 of 3 runs noisy`.
    pub(super) fn noise(&self) -> Option<String> {
        (self.noisy > 0)
            .then(|| format!("{} of {} runs noisy", self.noisy, self.figures.processes()))
    }
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
