//! The findings: what somebody who reads only three sentences should know.

use super::table::threads;
use super::view::{Comparison, Group, Kind, Measured, View};
use crate::schema::Results;
use crate::stats::{Limits, figure, number};

/// The first words of the finding that tells of a loss.
const LOSS: &str = "Largest loss";

/// Whether a finding with these first words tells of a loss.
pub(super) fn is_loss(words: &str) -> bool {
    words == LOSS
}

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
    findings.extend(worst(view, &pairs, champion));
    findings.extend(idle(view, champion));
    findings.extend(speedup(view, champion));
    findings.extend(overall(&pairs, champion));
    findings.truncate(3);
    findings
}

/// A figure of drowse beside rayon's.
struct Pair<'v> {
    group: &'v Group<'v>,
    threads: usize,
    measured: &'v Measured<'v>,
    compared: &'v Comparison<'v>,
}

/// By every measure, not only by the main one: a contender that spends less CPU time by taking
/// longer has lost something.
fn pairs<'v>(view: &'v View<'v>, contender: &str) -> Vec<Pair<'v>> {
    let mut pairs = Vec::new();
    for group in &view.groups {
        for row in group.rows.iter().filter(|row| row.contender == contender) {
            let Ok(measured) = &row.body else { continue };
            let pair = |compared| Pair { group, threads: row.threads, measured, compared };
            pairs.extend(measured.compared.iter().map(pair));
        }
    }
    pairs
}

fn is_idle(group: &Group<'_>) -> bool {
    group.workload.name == "idle" || group.workload.name.starts_with("idle_")
}

/// How many times better, or worse, one figure is than the other.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Factor {
    Exactly(f64),
    /// One side is at the cap of the measure.
    AtLeast(f64),
    /// One side is nothing.
    Unknown,
}

impl Factor {
    /// How many times as much the larger of the two is.
    fn of(compared: &Comparison<'_>) -> Self {
        let (less, more) = (compared.ours.min(compared.theirs), compared.ours.max(compared.theirs));
        match compared.ratio {
            _ if less <= 0.0 => Self::Unknown,
            Some(_) => Self::Exactly(more / less),
            None if compared.has_one_at_cap() => Self::AtLeast(more / less),
            None => Self::Unknown,
        }
    }

    /// The order of losses: one without a factor is the largest.
    fn size(self) -> f64 {
        match self {
            Self::Exactly(factor) | Self::AtLeast(factor) => factor,
            Self::Unknown => f64::INFINITY,
        }
    }

    /// The order of wins: one without a certain factor is the smallest.
    fn certain_size(self) -> f64 {
        match self {
            Self::Exactly(factor) => factor,
            Self::AtLeast(_) | Self::Unknown => 0.0,
        }
    }

    /// `, 7.4 times better`; nothing if there is no factor.
    fn text(self, word: &str) -> String {
        match self {
            Self::Exactly(factor) => format!(", {} {word}", times(factor)),
            Self::AtLeast(factor) => format!(", at least {} {word}", times(factor)),
            Self::Unknown => String::new(),
        }
    }
}

impl Pair<'_> {
    /// `ticks, 4 threads, time a tick: 4.21 µs for drowse, 31.0 µs for rayon, 7.4 times better`.
    fn told(&self, champion: &str, word: &str) -> String {
        let Comparison { measure, ours, theirs, .. } = self.compared;
        format!(
            "{}, {}, {}: {} for {champion}, {} for rayon{}",
            self.group.workload.name,
            threads(self.threads),
            measure.label,
            measure.figure(*ours),
            measure.figure(*theirs),
            Factor::of(self.compared).text(word)
        )
    }

    /// How many times better it is, below one if it is worse; `None` without a certain factor.
    fn gain(&self) -> Option<f64> {
        let ratio = self.compared.ratio.filter(|ratio| *ratio > 0.0)?;
        Some(if self.compared.measure.less_is_better { 1.0 / ratio } else { ratio })
    }
}

/// The largest win whose size is known. One with a side at the cap only if there is no other.
fn best(pairs: &[Pair<'_>], champion: &str) -> Option<String> {
    let wins = pairs.iter().filter(|pair| pair.compared.better == Some(true));
    let size = |pair: &&Pair<'_>| Factor::of(pair.compared).certain_size();
    let pair = wins.max_by(|a, b| size(a).total_cmp(&size(b)))?;
    Some(format!("Largest win: {}.", pair.told(champion, "better")))
}

/// The largest loss. One with a side at the cap is at least as large as it says.
fn worst(view: &View<'_>, pairs: &[Pair<'_>], champion: &str) -> Option<String> {
    let losses = pairs.iter().filter(|pair| pair.compared.better == Some(false));
    let size = |pair: &&Pair<'_>| Factor::of(pair.compared).size();
    match losses.max_by(|a, b| size(a).total_cmp(&size(b))) {
        Some(pair) => Some(format!("{LOSS}: {}.", pair.told(champion, "worse"))),
        None if pairs.is_empty() => None,
        None => Some(no_loss(view, pairs, champion)),
    }
}

fn no_loss(view: &View<'_>, pairs: &[Pair<'_>], champion: &str) -> String {
    let (count, needed) = (pairs.len(), Limits::ONE_RUN.processes);
    let comparisons =
        if count == 1 { "the one comparison".to_owned() } else { format!("{count} comparisons") };
    let processes = pairs.iter().map(|pair| pair.measured.processes()).max().unwrap_or(0);
    if processes < needed {
        let runs = if processes == 1 {
            "one process".to_owned()
        } else {
            format!("{processes} processes")
        };
        return format!(
            "Nothing to judge by: {runs} a cell, and it takes {needed} to tell a step from noise."
        );
    }
    let others = others_with_losses(view, champion);
    let others = if others.is_empty() {
        String::new()
    } else {
        format!(" (the tables mark losses of {})", others.join(", "))
    };
    format!("No loss: {champion} has none beyond noise, in {comparisons} with rayon{others}.")
}

/// The names of the other contenders that are drowse and have a loss.
fn others_with_losses<'v>(view: &View<'v>, champion: &str) -> Vec<&'v str> {
    let names = view.results.contenders.iter().map(|contender| contender.name.as_str());
    let others = names.filter(|name| Kind::of(name) == Kind::Drowse && *name != champion);
    let has_loss =
        |name: &&str| pairs(view, name).iter().any(|pair| pair.compared.better == Some(false));
    others.filter(has_loss).collect()
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
    Some(format!(
        "Idle: {} of {champion}'s pool of {} is {ours}{peer}.",
        group.main.label,
        threads(most)
    ))
}

/// The best gain over serial code.
fn speedup(view: &View<'_>, champion: &str) -> Option<String> {
    let gains = view.groups.iter().filter(|group| !is_idle(group)).filter_map(|group| {
        let of = |name: &str| {
            let rows = group.rows.iter().filter(|row| row.contender == name);
            rows.max_by_key(|row| row.threads)
                .and_then(|row| Some((row.threads, row.body.as_ref().ok()?)))
        };
        let ((count, ours), (_, serial)) = (of(champion)?, of("serial")?);
        let (serial, ours) = (serial.main.median, ours.main.median);
        if group.main.is_at_cap(serial) || group.main.is_at_cap(ours) {
            return None;
        }
        let ratio = serial / ours;
        let gain = if group.main.less_is_better { ratio } else { 1.0 / ratio };
        gain.is_finite().then_some((gain, count, group))
    });
    let (gain, count, group) = gains.filter(|g| g.0 > 1.0).max_by(|a, b| a.0.total_cmp(&b.0))?;
    let name = &group.workload.name;
    Some(format!(
        "Largest gain over serial code: {name}: {} times with {}.",
        number(gain),
        threads(count)
    ))
}

/// All of it in one number. Only where some of them are more than noise: a mean of what cannot be
/// judged cannot be either. Without those that have a side at the cap, whose ratio is not known.
fn overall(pairs: &[Pair<'_>], champion: &str) -> Option<String> {
    let gains: Vec<f64> =
        pairs.iter().filter(|pair| !is_idle(pair.group)).filter_map(Pair::gain).collect();
    if gains.len() < 2 || pairs.iter().all(|pair| pair.compared.better.is_none()) {
        return None;
    }
    let count = gains.len();
    let mean = (gains.iter().map(|gain| gain.ln()).sum::<f64>() / count as f64).exp();
    let (gain, word) = if mean < 1.0 { (1.0 / mean, "worse") } else { (mean, "better") };
    Some(format!(
        "Geometric mean: {champion} is {} {word} in {count} comparisons with rayon.",
        times(gain)
    ))
}
