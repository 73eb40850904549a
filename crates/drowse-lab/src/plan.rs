//! What to run: which cells, how often, how long.

use crate::child;
use crate::contender;
use crate::runner::external;
use crate::workload::{self, Spec, Variant};
use std::time::Duration;

/// One cell of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The workload's name.
    pub workload: String,
    /// The contender's name.
    pub contender: String,
    /// How many threads.
    pub threads: usize,
}

/// What was asked for. Where nothing was, a plan chooses.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Names of workloads.
    pub workloads: Vec<String>,
    /// Names of contenders.
    pub contenders: Vec<String>,
    /// Numbers of threads.
    pub threads: Vec<usize>,
}

/// Cells, and how to go about them.
#[derive(Debug, Clone)]
pub struct Plan {
    /// What results call it.
    pub name: String,
    /// The cells, in the order of tables.
    pub places: Vec<Place>,
    /// The contenders that have no figure in any workload of the plan. They have no cells.
    pub left_out: Vec<LeftOut>,
    /// How many processes a cell gets, one per round.
    pub rounds: usize,
    /// How long each of them measures.
    pub time: Duration,
    /// How long all of it may take, if it matters: later rounds are shortened to fit.
    pub total: Option<Duration>,
    /// How long to wait for a process.
    pub patience: Duration,
}

/// A contender without a workload in the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Its name.
    pub contender: String,
    /// The workloads that it can run.
    pub workloads: Vec<&'static str>,
}

/// What the quick plan shows: what a fork costs, what a pool makes of real work, and what it is to
/// be idle and woken.
pub const QUICK: &[&str] =
    &["fib", "tree_sum", "heavy_pair", "quicksort", "ticks", "bursts", "cold_entry", "inside_wake"];

/// How long the quick plan measures.
const QUICK_TOTAL: Duration = Duration::from_secs(62);
/// Fewer processes would not show how much they differ.
const QUICK_ROUNDS: u32 = 3;
/// What a process costs besides its measuring: start, preparation, warm-up, and the end of the last
/// round.
const OVERHEAD: Duration = Duration::from_millis(100);

const FULL_ROUNDS: usize = 5;
const FULL_TIME: Duration = Duration::from_millis(500);

/// The least that a process of the quick plan measures.
pub const LEAST_TIME: Duration = Duration::from_millis(30);
/// And the most.
const MOST_TIME: Duration = Duration::from_millis(500);

/// A note names so many workloads of a contender, or else says how many they are.
const MOST_NAMED: usize = 4;

/// Besides ten times the time it was to measure. Some workloads take seconds to prepare, on a busy
/// machine more.
const PATIENCE: Duration = Duration::from_secs(30);

impl Plan {
    /// About a minute, whatever there is to run: one width per workload, and time shared among the
    /// cells.
    pub fn quick(selection: &Selection, cpus: usize) -> Self {
        let chosen = |spec: &&Spec| {
            if selection.workloads.is_empty() {
                QUICK.contains(&spec.name)
            } else {
                selection.has_workload(spec)
            }
        };
        let widths = |spec: &Spec| vec![spec.widths.first().map_or(cpus, |&width| width.max(cpus))];
        let (places, left_out) = selection.places(chosen, widths, true);
        let processes = QUICK_ROUNDS * places.len().max(1) as u32;
        let time = (QUICK_TOTAL / processes).saturating_sub(OVERHEAD).clamp(LEAST_TIME, MOST_TIME);
        Self {
            name: selection.named("quick"),
            places,
            left_out,
            rounds: QUICK_ROUNDS as usize,
            time,
            total: Some(QUICK_TOTAL),
            patience: Self::patience(time),
        }
    }

    /// Everything, at every width that a workload is meant for.
    pub fn full(selection: &Selection, cpus: usize) -> Self {
        let chosen = |spec: &&Spec| selection.workloads.is_empty() || selection.has_workload(spec);
        let widths = |spec: &Spec| {
            let mut widths = spec.widths.to_vec();
            widths.push(cpus);
            widths.sort_unstable();
            widths.dedup();
            widths
        };
        let (places, left_out) = selection.places(chosen, widths, false);
        Self {
            name: selection.named("full"),
            places,
            left_out,
            rounds: FULL_ROUNDS,
            time: FULL_TIME,
            total: None,
            patience: Self::patience(FULL_TIME),
        }
    }

    /// One cell, once.
    pub fn one(place: Place, time: Duration) -> Self {
        let name = format!("{} on {}, {} threads", place.workload, place.contender, place.threads);
        Self {
            name,
            places: vec![place],
            left_out: Vec::new(),
            rounds: 1,
            time,
            total: None,
            patience: Self::patience(time),
        }
    }

    /// The same with so many processes per cell, however long that takes.
    pub fn with_rounds(self, rounds: usize) -> Self {
        Self { name: format!("{} --rounds {rounds}", self.name), rounds, total: None, ..self }
    }

    /// The same with processes that measure for so long.
    pub fn with_time(self, time: Duration) -> Self {
        // As the command line takes it.
        let text = format!("{time:?}").replace('µ', "u");
        Self {
            name: format!("{} --time {text}", self.name),
            time,
            patience: Self::patience(time),
            ..self
        }
    }

    /// A sentence, without its full stop, on the contenders that were left out. `None` if there are
    /// none.
    pub fn left_out_text(&self) -> Option<String> {
        let mut by_workloads: Vec<(&[&str], Vec<&str>)> = Vec::new();
        for LeftOut { contender, workloads } in &self.left_out {
            match by_workloads.iter_mut().find(|(known, _)| known == workloads) {
                Some((_, contenders)) => contenders.push(contender),
                None => by_workloads.push((workloads, vec![contender])),
            }
        }
        let parts = by_workloads.iter().map(|(workloads, contenders)| {
            let (runs, contenders) = (contenders.len() == 1, contenders.join(", "));
            let runs = if runs { "runs" } else { "run" };
            match workloads.len() {
                0 => format!("{contenders} (not on this system)"),
                count if count > MOST_NAMED => format!("{contenders} ({runs} {count} others)"),
                _ => format!("{contenders} ({runs} {})", workloads.join(", ")),
            }
        });
        let parts: Vec<_> = parts.collect();
        (!parts.is_empty()).then(|| {
            format!(
                "not measured, because no workload of this plan is for them: {}",
                parts.join("; ")
            )
        })
    }

    fn patience(time: Duration) -> Duration {
        PATIENCE + time * 10
    }
}

impl Selection {
    fn has_workload(&self, spec: &Spec) -> bool {
        self.workloads.iter().any(|name| name == spec.name)
    }

    /// The name of the plan, with what was asked for.
    fn named(&self, plan: &str) -> String {
        let mut name = plan.to_owned();
        let threads: Vec<_> = self.threads.iter().map(usize::to_string).collect();
        for (option, values) in
            [("workload", &self.workloads), ("contender", &self.contenders), ("threads", &threads)]
        {
            values.iter().for_each(|value| name.push_str(&format!(" --{option} {value}")));
        }
        name
    }

    /// Whether it is of this contender too: it is asked for, or nobody is.
    pub fn has_contender(&self, name: &str) -> bool {
        self.contenders.is_empty() || self.contenders.iter().any(|asked| asked == name)
    }

    /// The names of the contenders: those asked for, else each that differs from the others. If
    /// `built`, those with a program of their own need to have it, unless they are asked for.
    fn contenders(&self, built: bool) -> Vec<&str> {
        let twice =
            |name: &&str| self.contenders.is_empty() && contender::is_the_default_by_name(name);
        let here = contender::ALL.iter().map(|spec| spec.name).filter(|name| !twice(name));
        let absent = contender::absent().iter().map(|absent| absent.name);
        let wanted = |external: &&external::External| {
            !built || !self.contenders.is_empty() || external.program().is_ok()
        };
        let external = external::ALL.iter().filter(wanted).map(|external| external.name);
        here.chain(absent).chain(external).filter(|name| self.has_contender(name)).collect()
    }

    /// Splits contenders into those that can run one of these workloads, and the others. Contenders
    /// that are asked for stay. If no contender can run any, all of them stay: their cells say why.
    fn with_workloads<'n>(
        &self,
        contenders: Vec<&'n str>,
        chosen: &[&'static Spec],
    ) -> (Vec<&'n str>, Vec<LeftOut>) {
        if !self.contenders.is_empty() {
            return (contenders, Vec::new());
        }
        let has_one = |name: &&str| chosen.iter().any(|spec| runs(spec.name, name));
        let (with, without): (Vec<_>, Vec<_>) = contenders.iter().copied().partition(has_one);
        if with.is_empty() {
            return (contenders, Vec::new());
        }
        let left_out = |name: &str| LeftOut {
            contender: name.to_owned(),
            workloads: workload::ALL
                .iter()
                .map(|spec| spec.name)
                .filter(|w| runs(w, name))
                .collect(),
        };
        (with, without.into_iter().map(left_out).collect())
    }

    fn places(
        &self,
        chosen: impl Fn(&&Spec) -> bool,
        widths: impl Fn(&Spec) -> Vec<usize>,
        built: bool,
    ) -> (Vec<Place>, Vec<LeftOut>) {
        let chosen: Vec<_> = workload::ALL.iter().filter(chosen).collect();
        let (contenders, left_out) = self.with_workloads(self.contenders(built), &chosen);
        let mut places = Vec::new();
        for spec in chosen {
            let widths = if self.threads.is_empty() { widths(spec) } else { self.threads.clone() };
            for threads in widths {
                let here = |contender: &&&str| {
                    let variant = Variant::of(contender);
                    !self.contenders.is_empty()
                        || variant.is_none_or(|variant| spec.variants.contains(&variant))
                            && !contender::is_for_others(contender, spec.name)
                };
                places.extend(contenders.iter().filter(here).map(|&contender| Place {
                    workload: spec.name.to_owned(),
                    contender: contender.to_owned(),
                    threads,
                }));
            }
        }
        (places, left_out)
    }
}

/// Whether this contender can run this workload. One that is not in this build can run those that
/// it is there for.
fn runs(workload: &str, contender: &str) -> bool {
    match contender::find_absent(contender) {
        Some(absent) => absent.workloads.contains(&workload),
        None => child::cannot(workload, contender).is_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contender::{Contender, DrowseGuests, DrowseUnsteered};
    use drowse::SleepProtocol;

    fn only(workload: &str, contender: &str) -> Selection {
        Selection {
            workloads: vec![workload.into()],
            contenders: vec![contender.into()],
            threads: Vec::new(),
        }
    }

    #[test]
    fn the_quick_plan_fits_into_a_minute() {
        let plan = Plan::quick(&Selection::default(), 2);
        assert!(!plan.places.is_empty());
        let measuring = plan.time * plan.rounds as u32 * plan.places.len() as u32;
        assert!(measuring <= QUICK_TOTAL, "{measuring:?}");
        assert_eq!(plan.name, "quick");
        for name in QUICK {
            assert!(
                plan.places.iter().any(|place| place.workload == *name),
                "there is no workload {name}"
            );
        }
    }

    #[test]
    fn a_workload_is_run_at_its_own_widths() {
        let widths =
            |plan: &Plan| plan.places.iter().map(|place| place.threads).collect::<Vec<_>>();
        assert_eq!(widths(&Plan::quick(&only("ticks", "drowse"), 2)), [8]);
        assert_eq!(widths(&Plan::quick(&only("fib", "drowse"), 2)), [2]);
        assert_eq!(widths(&Plan::full(&only("fib", "drowse"), 2)), [1, 2]);
        let asked = Selection { threads: vec![3], ..only("fib", "drowse") };
        assert_eq!(widths(&Plan::full(&asked, 2)), [3]);
        assert_eq!(
            Plan::full(&asked, 2).name,
            "full --workload fib --contender drowse --threads 3"
        );
    }

    #[test]
    fn what_was_asked_for_is_in_the_name() {
        let plan = Plan::quick(&only("ticks", "drowse"), 2)
            .with_rounds(2)
            .with_time(Duration::from_millis(50));
        assert_eq!(plan.name, "quick --workload ticks --contender drowse --rounds 2 --time 50ms");
        assert_eq!((plan.rounds, plan.time, plan.total), (2, Duration::from_millis(50), None));
        let plan = Plan::full(&Selection::default(), 2).with_time(Duration::from_micros(1_500));
        assert_eq!(plan.name, "full --time 1.5ms");
        assert_eq!(plan.patience, Plan::patience(plan.time));
        assert_eq!(plan.with_time(Duration::from_micros(20)).name, "full --time 1.5ms --time 20us");
    }

    #[test]
    fn the_default_protocol_is_measured_once_unless_it_is_asked_for() {
        let default = SleepProtocol::default().name();
        let plan =
            Plan::full(&Selection { workloads: vec!["fib".into()], ..Selection::default() }, 2);
        let has = |plan: &Plan, name: &str| plan.places.iter().any(|place| place.contender == name);
        assert!(has(&plan, "drowse"));
        for protocol in SleepProtocol::ALL.map(SleepProtocol::name) {
            let name = format!("drowse-{protocol}");
            assert_eq!(has(&plan, &name), protocol != default, "{name}");
            assert!(has(&Plan::quick(&only("fib", &name), 2), &name), "{name}");
        }
    }

    #[test]
    fn variants_are_measured_where_they_matter() {
        let plan = Plan::full(&Selection::default(), 2);
        for (variant, workload) in
            [(DrowseUnsteered::NAME, "heavy_pair"), (DrowseGuests::NAME, "cold_entry")]
        {
            let places: Vec<_> =
                plan.places.iter().filter(|place| place.contender == variant).collect();
            assert!(places.iter().any(|place| place.workload == workload), "{variant}");
            assert!(places.iter().all(|place| place.workload != "fib"), "{variant}");
            assert_eq!(Plan::quick(&only("fib", variant), 2).places.len(), 1, "asked for");
        }
    }

    /// With so many contenders the table at a glance fits a window of 1,280 pixels, as
    /// `browser/check.py` found.
    const MOST_COLUMNS: usize = 15;

    #[test]
    fn the_quick_plan_has_no_more_columns_than_fit() {
        let plan = Plan::quick(&Selection::default(), 2);
        let mut names: Vec<_> = plan.places.iter().map(|place| &place.contender).collect();
        names.sort_unstable();
        names.dedup();
        let external = external::ALL.iter().filter(|external| external.program().is_err()).count();
        assert!(names.len() + external <= MOST_COLUMNS, "{names:?}");
    }

    #[test]
    fn contenders_without_a_workload_in_the_plan_are_left_out() {
        let plan = Plan::quick(&Selection::default(), 2);
        let left_out: Vec<_> = plan.left_out.iter().map(|left| left.contender.as_str()).collect();
        assert_eq!(left_out, contender::AWAITED.map(|awaited| awaited.name));
        for name in left_out {
            assert!(plan.places.iter().all(|place| place.contender != name), "{name}");
        }
        let text = plan.left_out_text().unwrap();
        assert!(text.contains("tokio-rayon (runs idle, await_job)"), "{text}");
        for left in &plan.left_out {
            let selection =
                Selection { workloads: vec![left.workloads[0].into()], ..Selection::default() };
            let plan = Plan::quick(&selection, 2);
            let is_there = |place: &Place| place.contender == left.contender;
            assert!(plan.places.iter().any(is_there), "{left:?}");
        }
        let asked = Plan::quick(&only("fib", "tokio"), 2);
        assert_eq!((asked.places.len(), asked.left_out_text()), (1, None));
    }

    #[test]
    fn in_the_full_plan_contenders_for_awaited_jobs_have_their_workloads_only() {
        let plan = Plan::full(&Selection::default(), 2);
        assert!(plan.left_out.is_empty(), "{:?}", plan.left_out);
        for awaited in contender::AWAITED {
            let places = plan.places.iter().filter(|place| place.contender == awaited.name);
            let mut workloads: Vec<_> = places.map(|place| place.workload.as_str()).collect();
            workloads.dedup();
            assert_eq!(workloads, awaited.workloads, "{}", awaited.name);
        }
    }

    #[test]
    fn the_full_plan_has_every_workload() {
        let plan = Plan::full(&Selection::default(), 2);
        for spec in workload::ALL {
            assert!(plan.places.iter().any(|place| place.workload == spec.name), "{}", spec.name);
        }
    }
}
