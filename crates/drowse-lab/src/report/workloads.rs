//! Charts for each workload: one for each measure, or for each family of quantiles.

use super::figures::tip;
use super::table::threads;
use super::view::{Comparison, Group, Measured, Row, View, quantile_name};
use crate::chart::{DotRow, Dots, Series, escape};
use crate::schema::Measure;
use crate::stats::{Interval, Summary, figure, quantile};
use std::fmt::Write as _;

/// How many samples of a time make a distribution, of which the tail is worth a dot.
const DISTRIBUTION: usize = 60;

/// The charts that are open; further ones unfold.
const OPEN: usize = 2;

pub(super) fn section(out: &mut String, view: &View<'_>) {
    if view.groups.is_empty() {
        return;
    }
    out.push_str(
        "<section id=\"workloads\">\n<h2>Workloads</h2>\n<p class=\"lead\">The large dot is the median, the thick line its 95 % \
         interval; each faint dot is a sample, a hollow one is of a process that ran in noise. Where there are many samples, further dots \
         stand for the slowest tenth and the slowest hundredth.</p>\n",
    );
    for group in &view.groups {
        let name = escape(&group.workload.name);
        let _ = write!(
            out,
            "<article class=\"workload\" id=\"w-{name}\">\n<h3>{name}</h3>\n<p>{}</p>\n",
            escape(&group.workload.about)
        );
        for (i, family) in families(group).iter().enumerate() {
            let chart = chart(group, family).html();
            if i < OPEN {
                out.push_str(&chart);
            } else {
                let label = escape(&family[0].label);
                let _ = write!(out, "<details><summary>{label}</summary>\n{chart}</details>\n");
            }
        }
        out.push_str("</article>\n");
    }
    out.push_str("</section>\n");
}

/// The measures, those together that are quantiles of the same thing.
fn families<'a>(group: &Group<'a>) -> Vec<Vec<&'a Measure>> {
    let mut families: Vec<Vec<&Measure>> = Vec::new();
    for measure in &group.workload.measures {
        let stem = |m: &Measure| {
            quantile_name(&m.name).map(|q| m.name[..m.name.len() - q.len()].to_string())
        };
        let same = |family: &&mut Vec<&Measure>| {
            stem(measure).is_some()
                && stem(family[0]) == stem(measure)
                && family[0].unit == measure.unit
        };
        match families.iter_mut().find(same) {
            Some(family) => family.push(measure),
            None => families.push(vec![measure]),
        }
    }
    families
}

fn chart<'a>(group: &'a Group<'a>, family: &[&'a Measure]) -> Dots<'a> {
    let first = family[0];
    let better = if first.less_is_better { "less is better" } else { "more is better" };
    let direction = format!("{better}{}", group.threads_text());
    let rows: Vec<_> = group.rows.iter().map(|row| dot_row(group, row, family)).collect();
    let most =
        rows.iter().filter_map(|row| row.series.as_ref().ok()).map(Vec::len).max().unwrap_or(0);
    let series = match (family.len(), most) {
        (1, 0 | 1) => Vec::new(),
        (1, _) => vec!["median", "p90", "p99"],
        _ => family.iter().map(|m| quantile_name(&m.name).unwrap_or(&m.name)).collect(),
    };
    Dots { label: &first.label, unit: &first.unit, direction, series, rows }
}

fn dot_row<'a>(group: &'a Group<'a>, row: &'a Row<'a>, family: &[&'a Measure]) -> DotRow<'a> {
    let detail = group.own_threads(row).map_or(String::new(), threads);
    let named = |figure, tip, series| DotRow {
        name: row.contender,
        detail: detail.clone(),
        class: row.kind.class(),
        figure,
        tip,
        series,
    };
    let none = |reason| named((String::new(), String::new()), String::new(), Err(reason));
    let measured = match &row.body {
        Ok(measured) => measured,
        Err(reason) => return none(*reason),
    };
    let series = series(group, measured, family);
    let Some(first) = series.first().map(|first| first.summary) else {
        return none("it has no samples of this");
    };
    let (main, unit) = (family[0].name == group.main.name, &family[0].unit);
    let mut under = Vec::new();
    under.extend(
        measured
            .to_rayon()
            .filter(|_| main)
            .map(Comparison::ratio_text)
            .filter(|text| !text.is_empty())
            .map(|times| format!("{times} rayon")),
    );
    if let [_, .., last] = series.as_slice() {
        let name = family.last().and_then(|m| quantile_name(&m.name)).unwrap_or("p99");
        under.push(format!("{name} {}", figure(last.summary.median, unit)));
    }
    let text = family[0].figure(first.median);
    let tip =
        if main { tip(row, measured, family[0]) } else { format!("{}: {text}", row.contender) };
    named((text, under.join(", ")), tip, Ok(series))
}

fn series<'a>(
    group: &Group<'_>,
    measured: &'a Measured<'a>,
    family: &[&Measure],
) -> Vec<Series<'a>> {
    let mut all: Vec<Series<'a>> = family
        .iter()
        .filter_map(|measure| {
            let by_process = measured.figures.measure(&measure.name)?;
            let known = (measure.name == group.main.name).then_some(measured.main);
            let noisy = measured.figures.noisy_samples(&measure.name);
            let summary = known.or_else(|| Summary::of(by_process))?;
            Some(Series { summary, samples: by_process.samples(), noisy })
        })
        .collect();
    let time =
        matches!(family[0].unit.as_str(), "ns" | "us" | "ms" | "s") && family[0].less_is_better;
    if let ([one], true) = (all.as_slice(), time) {
        let (summary, samples) = (one.summary, one.samples);
        if summary.count >= DISTRIBUTION {
            let tail = [0.9, 0.99].into_iter().filter_map(|q| {
                let at = quantile(samples, q)?;
                let summary =
                    Summary { median: at, interval: Interval { low: at, high: at }, ..summary };
                Some(Series { summary, samples: &[], noisy: Vec::new() })
            });
            all.extend(tail.collect::<Vec<_>>());
        }
    }
    all
}
