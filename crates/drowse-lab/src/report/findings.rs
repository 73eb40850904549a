//! The findings: what somebody who reads only three sentences should know.

use super::table::threads;
use super::view::{Group, Measured, View};
use crate::schema::{Measure, Results};
use crate::stats::{Limits, figure, number};

/// How the finding begins that tells of one.
pub(super) const LOSS: &str = "Largest loss";

/// The most telling things about these results, in a sentence each: at most three, fewer if there
/// is less to tell. The largest loss to rayon, by any measure, is always among them, if there is
/// one.
#[must_use]
pub fn findings(results: &Results) -> Vec<String> {
    of_view(&View::of(results))
}

pub(super) fn of_view(view: &View<'_>) -> Vec<String> {
    let Some(champion) = view.champion() else {
        return Vec::new();
    };
    let pairs = pairs(view, champion);
    let mut findings = Vec::new();
    findings.extend(best(&pairs, champion));
    findings.extend(worst(&pairs, champion));
    findings.extend(idle(view, champion));
    findings.extend(speedup(view, champion));
    findings.extend(overall(&pairs, champion));
    findings.truncate(3);
    findings
}

/// drowse and rayon on the same workload with as many threads, by one measure.
struct Pair<'v> {
    group: &'v Group<'v>,
    threads: usize,
    measured: &'v Measured<'v>,
    measure: &'v Measure,
    ours: f64,
    theirs: f64,
    /// How many times better ours is: below one if it is worse.
    gain: f64,
    /// Whether that is more than noise.
    certain: bool,
}

/// By every measure, not only by the main one: a contender that spends less CPU time by taking
/// longer has lost something.
fn pairs<'v>(view: &'v View<'v>, champion: &str) -> Vec<Pair<'v>> {
    let mut pairs = Vec::new();
    for group in view.groups.iter().filter(|group| !is_idle(group)) {
        for row in group.rows.iter().filter(|row| row.contender == champion) {
            let Ok(measured) = &row.body else { continue };
            let of_measure = |measure| Pair::of(group, row.threads, measured, measure);
            pairs.extend(group.workload.measures.iter().filter_map(of_measure));
        }
    }
    pairs
}

fn is_idle(group: &Group<'_>) -> bool {
    group.workload.name == "idle" || group.workload.name.starts_with("idle_")
}

impl<'v> Pair<'v> {
    fn of(
        group: &'v Group<'v>,
        threads: usize,
        measured: &'v Measured<'v>,
        measure: &'v Measure,
    ) -> Option<Self> {
        let difference = measured.to_rayon_by(measure)?;
        let ratio = difference.ratio.filter(|ratio| *ratio > 0.0)?;
        let theirs = measured.median_of_rayon(measure)?;
        Some(Self {
            group,
            threads,
            measured,
            measure,
            ours: theirs * ratio,
            theirs,
            gain: if measure.less_is_better { 1.0 / ratio } else { ratio },
            certain: difference.better(measure.less_is_better).is_some(),
        })
    }

    /// `4.21 µs for drowse, 31.0 µs for rayon`.
    fn figures(&self, champion: &str) -> String {
        let of = |value| figure(value, &self.measure.unit);
        format!("{} for {champion}, {} for rayon", of(self.ours), of(self.theirs))
    }

    /// `ticks, 4 threads, time a tick`.
    fn place(&self) -> String {
        format!("{}, {}, {}", self.group.workload.name, threads(self.threads), self.measure.label)
    }
}

/// Said in the sentence itself: someone who reads three sentences reads no notes.
fn noise(noisy: bool) -> &'static str {
    if noisy { " (the machine was busy with other things)" } else { "" }
}

fn best(pairs: &[Pair<'_>], champion: &str) -> Option<String> {
    let certain = pairs.iter().filter(|pair| pair.certain && pair.gain > 1.0);
    let pair = certain.max_by(|a, b| a.gain.total_cmp(&b.gain))?;
    let (place, figures, gain) = (pair.place(), pair.figures(champion), times(pair.gain));
    Some(format!("Largest win: {place}: {figures}, {gain} better{}.", noise(pair.measured.mostly_noisy())))
}

fn worst(pairs: &[Pair<'_>], champion: &str) -> Option<String> {
    let certain = pairs.iter().filter(|pair| pair.certain && pair.gain < 1.0);
    match certain.min_by(|a, b| a.gain.total_cmp(&b.gain)) {
        Some(pair) => {
            let (place, figures, loss) = (pair.place(), pair.figures(champion), times(1.0 / pair.gain));
            Some(format!("{LOSS}: {place}: {figures}, {loss} worse{}.", noise(pair.measured.mostly_noisy())))
        }
        None if pairs.is_empty() => None,
        None => Some(no_loss(pairs)),
    }
}

fn no_loss(pairs: &[Pair<'_>]) -> String {
    let (count, needed) = (pairs.len(), Limits::ONE_RUN.processes);
    let comparisons =
        if count == 1 { "the one comparison".to_owned() } else { format!("{count} comparisons") };
    let processes = pairs.iter().map(|pair| pair.measured.processes()).max().unwrap_or(0);
    if processes < needed {
        let runs = if processes == 1 { "one process".to_owned() } else { format!("{processes} processes") };
        return format!(
            "Nothing to judge by: {runs} a cell, and it takes {needed} to tell a step from noise."
        );
    }
    let noisy = 2 * pairs.iter().filter(|pair| pair.measured.mostly_noisy()).count() > count;
    let told = if noisy { "none that can be told from noise" } else { "none beyond noise" };
    format!("No loss: {told}, in {comparisons} with rayon{}.", noise(noisy))
}

/// `7.4 times`, or `12 %` for what is less than half as much again.
fn times(factor: f64) -> String {
    if factor < 1.5 {
        format!("{:.0} %", (factor - 1.0) * 100.0)
    } else {
        format!("{} times", number(factor))
    }
}

fn idle(view: &View<'_>, champion: &str) -> Option<String> {
    let group = view.groups.iter().find(|group| is_idle(group))?;
    let most = group.rows.iter().map(|row| row.threads).max()?;
    let of = |name: &str| {
        let row = group.rows.iter().find(|row| row.contender == name && row.threads == most)?;
        row.body.as_ref().ok().map(|m| figure(m.main.median, &group.main.unit))
    };
    let ours = of(champion)?;
    let peer = of("rayon").map_or(String::new(), |theirs| format!(", of rayon's {theirs}"));
    Some(format!("Idle: {} of {champion}'s pool of {} is {ours}{peer}.", group.main.label, threads(most)))
}

/// The best gain over serial code.
fn speedup(view: &View<'_>, champion: &str) -> Option<String> {
    let gains = view.groups.iter().filter(|group| !is_idle(group)).filter_map(|group| {
        let of = |name: &str| {
            let rows = group.rows.iter().filter(|row| row.contender == name);
            rows.max_by_key(|row| row.threads).and_then(|row| Some((row.threads, row.body.as_ref().ok()?)))
        };
        let ((count, ours), (_, serial)) = (of(champion)?, of("serial")?);
        let ratio = serial.main.median / ours.main.median;
        let gain = if group.main.less_is_better { ratio } else { 1.0 / ratio };
        gain.is_finite().then_some((gain, count, group))
    });
    let (gain, count, group) = gains.filter(|g| g.0 > 1.0).max_by(|a, b| a.0.total_cmp(&b.0))?;
    let name = &group.workload.name;
    Some(format!("Largest gain over serial code: {name}: {} times with {}.", number(gain), threads(count)))
}

/// All of it in one number.
/// Only where some of them are more than noise: a mean of what cannot be judged cannot be either.
fn overall(pairs: &[Pair<'_>], champion: &str) -> Option<String> {
    if pairs.len() < 2 || !pairs.iter().any(|pair| pair.certain) {
        return None;
    }
    let mean = (pairs.iter().map(|pair| pair.gain.ln()).sum::<f64>() / pairs.len() as f64).exp();
    let (gain, word) = if mean < 1.0 { (1.0 / mean, "worse") } else { (mean, "better") };
    let count = pairs.len();
    Some(format!(
        "All {count} comparisons with rayon: {champion} is {} {word} in the geometric mean.",
        times(gain)
    ))
}
