//! The page.

use super::date::utc;
use super::findings::{is_loss, of_view};
use super::view::View;
use super::{figures, matrix, timelines, workloads};
use crate::chart::escape;
use crate::schema::Results;
use crate::stats::{Scale, number};
use std::fmt::Write as _;

const STYLE: &str = include_str!("page.css");
const CHARTS: &str = include_str!("charts.css");
const SCRIPT: &str = include_str!("page.js");

/// One page with everything in it, to be written to a file and opened, or sent to somebody.
#[must_use]
pub fn html(results: &Results) -> String {
    let view = View::of(results);
    let mut out = String::with_capacity(256 * 1024);
    out.push_str(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>drowse: measured</title>\n",
    );
    // An icon of nothing: else the browser asks for one.
    out.push_str("<link rel=\"icon\" href=\"data:,\">\n");
    let _ = write!(out, "<style>\n{STYLE}{CHARTS}</style>\n</head>\n<body>\n");
    head(&mut out, &view);
    out.push_str("<main>\n");
    matrix::section(&mut out, &view);
    timelines::section(&mut out, results);
    workloads::section(&mut out, &view);
    figures::section(&mut out, &view);
    notes(&mut out, &view);
    out.push_str("</main>\n<div id=\"tip\" role=\"status\" hidden></div>\n");
    let _ = write!(out, "<script>\n{SCRIPT}</script>\n</body>\n</html>\n");
    out
}

fn head(out: &mut String, view: &View<'_>) {
    let results = view.results;
    let (host, build) = (&results.host, &results.build);
    out.push_str("<header>\n<h1>drowse, measured</h1>\n<p class=\"meta\">");
    let facts = [
        escape(&utc(results.started)),
        format!("{}, {}", escape(&host.cpu), processors(host.cpus)),
        escape(&host.system),
        escape(&build.rustc),
        format!("drowse {} at <code>{}</code>", escape(&build.drowse), escape(&build.commit)),
        format!("{}, {}", escape(&plan(&results.plan)), duration(results.seconds)),
    ];
    let _ = writeln!(out, "<span>{}</span></p>", facts.join("</span> <span>"));
    if let Some(busy) = view.busy() {
        let (what, rest) = busy.split_once(": ").unwrap_or(("", &busy));
        let _ = writeln!(out, "<p class=\"busy\"><b>{}:</b> {}</p>", escape(what), escape(rest));
    }
    let findings = of_view(view);
    if !findings.is_empty() {
        out.push_str("<ol class=\"findings\">\n");
        for finding in &findings {
            let (what, rest) = finding.split_once(": ").unwrap_or(("", finding));
            let class = if is_loss(what) { " class=\"loss\"" } else { "" };
            let _ = writeln!(
                out,
                "<li{}><b>{}</b> <span>{}</span></li>",
                class,
                escape(what),
                glued(&escape(rest))
            );
        }
        out.push_str("</ol>\n");
    }
    let mut parts = Vec::new();
    let mut part = |there: bool, id: &str, name: &str| {
        if there {
            parts.push(format!("<a href=\"#{id}\">{name}</a>"));
        }
    };
    part(!view.groups.is_empty(), "glance", "At a glance");
    part(!results.timelines.is_empty(), "timelines", "Timelines");
    part(!view.groups.is_empty(), "workloads", "Workloads");
    part(!view.groups.is_empty(), "figures", "All figures");
    part(true, "how", "How it was measured");
    let _ = write!(out, "<nav aria-label=\"Contents\">{}</nav>\n</header>\n", parts.join(" "));
}

/// Keeps a number on the line of its unit.
fn glued(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut last = ' ';
    for c in text.chars() {
        out.push(if c == ' ' && last.is_ascii_digit() { '\u{a0}' } else { c });
        last = c;
    }
    out
}

/// What the machine runs at once: not to be taken for the threads of a pool.
fn processors(count: usize) -> String {
    if count == 1 { "1 processor".to_string() } else { format!("{count} processors") }
}

/// A load average as `uptime` writes it.
fn load(value: f64) -> String {
    if value.is_finite() { format!("{value:.2}") } else { number(value) }
}

/// `quick plan`. A trace has its command instead.
fn plan(name: &str) -> String {
    if name.starts_with("trace ") { name.to_string() } else { format!("{name} plan") }
}

fn duration(seconds: f64) -> String {
    match seconds {
        // What is read as 10 has no tenths.
        few if few < 9.95 => format!("{few:.1} seconds"),
        some if some < 120.0 => format!("{some:.0} seconds"),
        many => format!("{:.0} minutes", many / 60.0),
    }
}

fn notes(out: &mut String, view: &View<'_>) {
    let results = view.results;
    let host = &results.host;
    out.push_str("<section id=\"how\">\n<h2>How it was measured</h2>\n<div class=\"prose\">\n");
    if !view.groups.is_empty() {
        measuring(out);
    }
    if let Some(champion) = view.champion().filter(|_| !view.groups.is_empty()) {
        let _ = writeln!(
            out,
            "<p>The findings judge drowse by <code>{}</code>, which is what one gets without asking, and not by the best protocol \
             for each workload.</p>",
            escape(champion)
        );
    }
    let _ = writeln!(
        out,
        "<p>Load of the machine before the run: {}; after it: {} (of {}).</p>",
        load(host.load_before),
        load(host.load_after),
        processors(host.cpus)
    );
    if !results.notes.is_empty() {
        out.push_str("<h3>Notes of this run</h3>\n<ul>\n");
        for note in &results.notes {
            let _ = writeln!(out, "<li>{}</li>", escape(note));
        }
        out.push_str("</ul>\n");
    }
    if !results.contenders.is_empty() {
        out.push_str("<h3>Contenders</h3>\n<dl>\n");
        for contender in &results.contenders {
            let _ = writeln!(
                out,
                "<dt>{}</dt><dd>{}</dd>",
                escape(&contender.name),
                escape(&contender.about)
            );
        }
        out.push_str("</dl>\n");
    }
    out.push_str("</div>\n</section>\n");
}

/// How figures came about.
fn measuring(out: &mut String) {
    out.push_str(
        "<p>Each contender ran each workload in fresh processes of its own. Their rounds were interleaved, so that a busy spell of \
         the machine meets all of them alike, and each began with a warm-up. Results were checked against serial code.</p>\n\
         <p>A figure is the median of its samples; its interval is a 95 % bootstrap interval: 1,000 times, as many processes are \
         drawn again with repetition, and from each as many samples; the middle 95 % of the medians are kept, and more than that where there are few processes, \
         which would otherwise be too sure of themselves. (Three that differ hold the true median in three of four cases at most, however wide.) Outliers are \
         drawn with the rest and never dropped. \
         A hollow sample is of a process that ran while the machine was busy with something else.</p>\n\
         <p>\u{201c}Better\u{201d} and \u{201c}worse\u{201d} are said only of what is beyond noise: medians at least 5 % apart, an \
         interval of their ratio that leaves out 1, middle halves of the samples that do not overlap, and three processes at least. CPU is the process\u{2019}s \
         CPU time over the time on the clock: 200 % is two cores in full use.</p>\n",
    );
}

/// A time of a timeline.
pub(super) fn micros(us: f64) -> String {
    Scale::of(us, "us").figure(us)
}

#[cfg(test)]
mod tests {
    use super::{duration, plan};

    #[test]
    fn what_was_run_and_for_how_long() {
        assert_eq!(plan("quick --workload ticks"), "quick --workload ticks plan");
        assert_eq!(
            plan("trace --workload ticks --threads 8"),
            "trace --workload ticks --threads 8"
        );
        assert_eq!(
            [0.84, 9.94, 9.96, 61.7, 160.0].map(duration),
            ["0.8 seconds", "9.9 seconds", "10 seconds", "62 seconds", "3 minutes"]
        );
    }
}
