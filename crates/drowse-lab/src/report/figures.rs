//! The table of all cells, with the reasons of those that have no figures.

use super::matrix::breakable;
use super::table::threads;
use super::view::{Comparison, Group, Measured, Row, View};
use crate::chart::escape;
use crate::schema::Measure;
use crate::stats::{Summary, figure, range, range_beside};
use std::fmt::Write as _;

const COLUMNS: [&str; 8] = [
    "contender",
    "threads",
    "median",
    "95 % interval",
    "all samples",
    "to rayon",
    "CPU",
    "switches a second",
];

pub(super) fn section(out: &mut String, view: &View<'_>) {
    if view.groups.is_empty() {
        return;
    }
    out.push_str("<section id=\"figures\">\n<h2>All figures</h2>\n");
    out.push_str(
        "<p class=\"lead\">Switches are changes of context: those that the process asked for, and those that it was made to do.</p>\n",
    );
    out.push_str("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"All figures\">\n<table class=\"all\">\n");
    out.push_str("<thead><tr>");
    for column in COLUMNS {
        let _ = write!(out, "<th scope=\"col\">{column}</th>");
    }
    out.push_str("</tr></thead>\n");
    for group in &view.groups {
        let better = if group.main.less_is_better { "less is better" } else { "more is better" };
        let _ = write!(
            out,
            "<tbody>\n<tr class=\"head\"><th scope=\"colgroup\" colspan=\"{}\"><span>{}</span> <small>{}, {better}</small></th></tr>\n",
            COLUMNS.len(),
            escape(&group.workload.name),
            escape(&group.main.label)
        );
        for row in &group.rows {
            line(out, group, row);
        }
        out.push_str("</tbody>\n");
    }
    out.push_str("</table>\n</div>\n</section>\n");
}

fn line(out: &mut String, group: &Group<'_>, row: &Row<'_>) {
    let _ = write!(
        out,
        "<tr class=\"{}\"><th scope=\"row\">{}</th><td>{}</td>",
        row.kind.class(),
        breakable(row.contender),
        row.threads
    );
    match &row.body {
        Ok(measured) => cells(out, group, measured),
        Err(reason) => {
            let _ = write!(
                out,
                "<td class=\"reason\" colspan=\"{}\">{}</td>",
                COLUMNS.len() - 2,
                escape(reason)
            );
        }
    }
    out.push_str("</tr>\n");
    if let Ok(measured) = &row.body {
        for measure in &group.workload.measures[1..] {
            let samples = measured.figures.measure(&measure.name);
            let Some(summary) = samples.and_then(Summary::of) else { continue };
            let _ =
                write!(out, "<tr class=\"more\"><td colspan=\"2\">{}</td>", escape(&measure.label));
            summary_cells(out, &summary, measure);
            ratio_cell(out, measured.to_rayon_by(measure));
            out.push_str("<td></td><td></td></tr>\n");
        }
    }
}

fn summary_cells(out: &mut String, summary: &Summary, measure: &Measure) {
    let (interval, unit) = (&summary.interval, &measure.unit);
    let _ = write!(
        out,
        "<td><b>{}</b></td><td>{}</td><td>{} in {}: {}",
        escape(&measure.figure(summary.median)),
        escape(&range_beside(summary.median, interval.low, interval.high, unit)),
        summary.count,
        runs(summary.processes),
        escape(&range(summary.min, summary.max, unit))
    );
    out.push_str("</td>");
}

/// `1 run`, `3 runs`.
fn runs(count: usize) -> String {
    if count == 1 { "1 run".to_string() } else { format!("{count} runs") }
}

fn cells(out: &mut String, group: &Group<'_>, measured: &Measured<'_>) {
    summary_cells(out, &measured.main, group.main);
    if let Some(noise) = measured.noise() {
        // Within the cell of the samples, which it is about.
        out.truncate(out.len() - "</td>".len());
        let _ = write!(out, "<small class=\"noise\">{}</small></td>", escape(&noise));
    }
    ratio_cell(out, measured.to_rayon());
    let cpu = measured.cpu.map_or(String::new(), |cpu| figure(cpu, "%"));
    let _ = write!(out, "<td>{}</td><td>{}</td>", escape(&cpu), escape(&switches(measured)));
}

/// `0.33x better`.
fn ratio_cell(out: &mut String, comparison: Option<&Comparison<'_>>) {
    let (class, word) = match comparison.and_then(|comparison| comparison.better) {
        Some(true) => ("better", " better"),
        Some(false) => ("worse", " worse"),
        None => ("same", ""),
    };
    let times = comparison.map_or(String::new(), Comparison::ratio_text);
    let _ = write!(out, "<td class=\"{class}\">{}{word}</td>", escape(&times));
}

/// `1.20 k, 31`: those asked for, those forced.
fn switches(measured: &Measured<'_>) -> String {
    let median = |i: usize| {
        let list: Vec<f64> = measured.figures.switches.iter().map(|pair| pair[i]).collect();
        crate::stats::median(&list)
    };
    match (median(0), median(1)) {
        (Some(asked), Some(forced)) => format!("{}, {}", figure(asked, ""), figure(forced, "")),
        _ => String::new(),
    }
}

/// What a chart says of a row when somebody points at it.
pub(super) fn tip(row: &Row<'_>, measured: &Measured<'_>, measure: &Measure) -> String {
    let (main, unit) = (&measured.main, &measure.unit);
    let mut out = format!(
        "{}, {}: {}; 95 % interval {}; {} samples in {}, {}",
        row.contender,
        threads(row.threads),
        measure.figure(main.median),
        range_beside(main.median, main.interval.low, main.interval.high, unit),
        main.count,
        runs(main.processes),
        range(main.min, main.max, unit)
    );
    if let Some(cpu) = measured.cpu {
        let _ = write!(out, "; CPU {}", figure(cpu, "%"));
    }
    if let Some(noise) = measured.noise() {
        let _ = write!(out, "; {noise}");
    }
    out
}
