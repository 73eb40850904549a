//! Everything at a glance: a row per workload, a column per contender.

use super::table::threads;
use super::view::{Comparison, Group, Kind, Row, View};
use crate::chart::escape;
use crate::schema::Contender;
use std::fmt::Write as _;

pub(super) fn section(out: &mut String, view: &View<'_>) {
    if view.groups.is_empty() {
        return;
    }
    out.push_str("<section id=\"glance\">\n<h2>At a glance</h2>\n");
    let compared = view.groups.iter().flat_map(|g| &g.rows);
    let compared =
        compared.filter_map(|row| row.body.as_ref().ok()).any(|m| m.to_rayon().is_some());
    out.push_str("<p class=\"lead\">Medians.");
    if compared {
        out.push_str(
            " Beside rayon: <span class=\"swatch better\">better</span>, <span class=\"swatch worse\">worse</span>, or no telling \
             apart. The small number is the ratio to rayon\u{2019}s figure.",
        );
    }
    out.push_str(
        "</p>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"All medians\">\n",
    );
    out.push_str("<table class=\"matrix\">\n<thead><tr><th scope=\"col\">workload</th>");
    let contenders = columns(view);
    for contender in &contenders {
        let class = Kind::of(&contender.name).class();
        let _ = write!(
            out,
            "<th scope=\"col\" class=\"{class}\" title=\"{}\">{}</th>",
            escape(&contender.about),
            breakable(&contender.name)
        );
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    let many = view.threads().len() > 1;
    for group in &view.groups {
        for count in group.thread_counts() {
            let _ = write!(
                out,
                "<tr><th scope=\"row\"><a href=\"#w-{0}\">{1}</a>",
                escape(&group.workload.name),
                breakable(&group.workload.name)
            );
            let more = if group.main.less_is_better { "" } else { " \u{2191}" };
            let rate = rate(&group.main.unit).filter(|_| !group.main.label.contains("a second"));
            let rate = rate.map_or(String::new(), |rate| format!(", {rate}"));
            let size = if many {
                format!(", {}", threads(count).replace(' ', "\u{a0}"))
            } else {
                String::new()
            };
            let _ = write!(
                out,
                "<small>{}{}{size}{more}</small></th>",
                escape(&group.main.label),
                escape(&rate)
            );
            for contender in &contenders {
                let rows: Vec<_> =
                    group.rows.iter().filter(|r| r.contender == contender.name).collect();
                let same = rows.iter().find(|row| row.threads == count);
                // Serial code has one thread, and is there to compare with for any number.
                let only = rows.first().filter(|row| rows.len() == 1 && row.kind == Kind::Limit);
                cell(out, group, same.or(only).copied());
            }
            out.push_str("</tr>\n");
        }
    }
    out.push_str("</tbody>\n</table>\n</div>\n");
    let more_is_better = view.groups.iter().any(|group| !group.main.less_is_better);
    let arrow =
        if more_is_better { " \u{2191} marks measures of which more is better." } else { "" };
    let _ = write!(
        out,
        "<p class=\"small\">A dash is a cell without a figure: its reason is in <a href=\"#figures\">all figures</a>.{arrow}</p>\n\
         </section>\n"
    );
}

/// The contenders that have a figure. A column of dashes would say nothing, and the reasons are in
/// the table of all figures. If none has one, all of them.
fn columns<'a>(view: &View<'a>) -> Vec<&'a Contender> {
    let all = || view.results.contenders.iter();
    let rows = || view.groups.iter().flat_map(|group| &group.rows);
    let has_figure = |name: &str| rows().any(|row| row.contender == name && row.body.is_ok());
    let with: Vec<_> = all().filter(|contender| has_figure(&contender.name)).collect();
    if with.is_empty() { all().collect() } else { with }
}

/// What of a unit is a rate: `/s` of `M/s`.
fn rate(unit: &str) -> Option<&str> {
    unit.contains('/')
        .then(|| unit.strip_prefix('M').filter(|rest| rest.starts_with('/')).unwrap_or(unit))
}

/// A name that may be broken behind its hyphens and underscores.
pub(super) fn breakable(name: &str) -> String {
    escape(name).replace('_', "_<wbr>").replace('-', "-<wbr>")
}

fn cell(out: &mut String, group: &Group<'_>, row: Option<&Row<'_>>) {
    let Some(row) = row else {
        out.push_str("<td class=\"none\"></td>");
        return;
    };
    let measured = match &row.body {
        Ok(measured) => measured,
        Err(reason) => {
            let _ = write!(out, "<td class=\"none\" data-tip=\"{}\">\u{2013}</td>", escape(reason));
            return;
        }
    };
    let word = match row.better() {
        Some(true) => "better",
        Some(false) => "worse",
        None => "same",
    };
    let _ = write!(out, "<td class=\"{word} {}\"><b>", row.kind.class());
    // The unit under the number would be hard to read; beside it, small, it is not.
    let capped = group.main.is_at_cap(measured.main.median);
    let text = group.main.figure(measured.main.median);
    // At the cap: what there is instead of a ratio.
    let text = text.strip_suffix(" or more").unwrap_or(&text);
    match text.split_once(' ') {
        Some((number, unit)) => {
            // Of a rate, the prefix: what it is a rate of, the row says.
            let unit = rate(&group.main.unit).map_or(unit, |rate| unit.trim_end_matches(rate));
            let _ = write!(out, "{}\u{202f}<i>{}</i></b>", escape(number), escape(unit.trim()));
        }
        None => {
            let _ = write!(out, "{}</b>", escape(text));
        }
    }
    let times = match measured.to_rayon() {
        _ if capped => "or more".to_owned(),
        comparison => comparison.map_or(String::new(), Comparison::ratio_text),
    };
    let mark = if measured.noisy > 0 { " !" } else { "" };
    let _ = write!(out, "<small>{}{mark}</small>", escape(&times));
    if word != "same" {
        let _ = write!(out, "<span class=\"vh\"> {word}</span>");
    }
    out.push_str("</td>");
}
