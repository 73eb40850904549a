//! The timelines: those of one workload together, in step, so that protocols can be compared.

use super::html::micros;
use crate::chart::{Drawing, State, Window, escape, timeline_data, timeline_svg};
use crate::schema::{Results, Timeline};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The most spans and arrows to put into a page, of all timelines together.
const MOST_SPANS: usize = 60_000;
const MOST_ARROWS: usize = 20_000;

/// With more arrows than this the page opens zoomed in, at about this many.
const ARROWS_AT_A_GLANCE: usize = 24;

/// The width at which timelines are drawn; the page's script finds the true one.
const WIDTH: f64 = 560.0;

pub(super) fn section(out: &mut String, results: &Results) {
    if results.timelines.is_empty() {
        return;
    }
    out.push_str(
        "<section id=\"timelines\">\n<h2>Timelines</h2>\n<p class=\"lead\">What each worker was doing, and who woke whom; \
         in brackets, why they were woken (job, baton, latch). Where there are many arrows, the picture opens on a part of the trace. \
         Timelines of one workload zoom together. <span class=\"hint\">Drag to move; pinch, or hold Ctrl and turn the wheel, to zoom \
         (without Ctrl once the picture has been clicked); keys: + and \u{2212}, arrows, 0 for all. Point at a bar or an arrow, or \
         tap it, to read it.</span></p>\n",
    );
    legend(out);
    for (at, (workload, timelines)) in by_workload(&results.timelines).into_iter().enumerate() {
        group(out, at, workload, &timelines, results.timelines.len());
    }
    out.push_str("</section>\n");
}

/// In the order in which workloads first appear.
fn by_workload(timelines: &[Timeline]) -> Vec<(&str, Vec<&Timeline>)> {
    let mut groups: Vec<(&str, Vec<&Timeline>)> = Vec::new();
    for timeline in timelines {
        match groups.iter_mut().find(|(workload, _)| *workload == timeline.workload) {
            Some((_, list)) => list.push(timeline),
            None => groups.push((&timeline.workload, vec![timeline])),
        }
    }
    groups
}

fn legend(out: &mut String) {
    out.push_str("<p class=\"legend\">");
    let states = [
        (State::Active, "active"),
        (State::Job, "a job that was stolen or injected"),
        (State::Idle, "idle: searching"),
        (State::Sleepy, "sleepy"),
        (State::Asleep, "asleep"),
    ];
    for (state, text) in states {
        let _ = write!(
            out,
            "<span><svg width=\"22\" height=\"20\" aria-hidden=\"true\"><path class=\"s {0}\" stroke-width=\"{1}\" d=\"M0 10H22\"/>\
             </svg>{text}</span>",
            state.name(),
            state.height()
        );
    }
    for (kind, text) in [("wake", "wakes"), ("steal", "a stolen job moves")] {
        let _ = write!(
            out,
            "<span><svg width=\"22\" height=\"20\" aria-hidden=\"true\"><path class=\"a {kind}\" d=\"M2 10H15\"/>\
             <path class=\"h {kind}\" d=\"M21 10L14 6.5V13.5Z\"/></svg>{text}</span>"
        );
    }
    out.push_str("</p>\n");
}

fn group(out: &mut String, at: usize, workload: &str, timelines: &[&Timeline], shared_by: usize) {
    let length =
        timelines.iter().map(|t| t.length_us).filter(|l| l.is_finite()).fold(1e-3, f64::max);
    let window = first_window(timelines, length);
    let _ = write!(
        out,
        "<article class=\"tlgroup\" data-length=\"{length}\" data-from=\"{}\" data-to=\"{}\">\n<div class=\"tlhead\"><h3>{}</h3>\n",
        window.from_us,
        window.to_us,
        escape(workload)
    );
    out.push_str("<div class=\"tools\" role=\"group\" aria-label=\"Zoom and move\">");
    for (what, name, sign) in [
        ("out", "Zoom out", "\u{2212}"),
        ("in", "Zoom in", "+"),
        ("left", "Earlier", "\u{2190}"),
        ("right", "Later", "\u{2192}"),
        ("all", "Show all of it", "all"),
    ] {
        let _ = write!(
            out,
            "<button type=\"button\" data-do=\"{what}\" aria-label=\"{name}\" title=\"{name}\">{sign}</button>"
        );
    }
    let _ = writeln!(
        out,
        "<span class=\"where\" aria-live=\"polite\">{} to {} of {}</span></div></div>",
        micros(window.from_us),
        micros(window.to_us),
        micros(length)
    );
    let percent = |us: f64| us / length * 100.0;
    let _ = write!(
        out,
        "<div class=\"map\" aria-hidden=\"true\"><i style=\"left:{:.3}%;width:{:.3}%\"></i></div>\n<div class=\"tls n{}\">\n",
        percent(window.from_us),
        percent(window.to_us - window.from_us),
        columns(timelines.len())
    );
    for (i, timeline) in timelines.iter().enumerate() {
        let place = Place { id: format!("tl-{at}-{i}"), window };
        figure(out, &place, timeline, shared_by);
    }
    out.push_str("</div>\n</article>\n");
}

/// How many to put side by side where there is room: no row with only one, if possible.
fn columns(count: usize) -> usize {
    match count {
        0 | 1 => 1,
        2 | 4 => 2,
        _ => 3,
    }
}

/// Where a timeline stands.
struct Place {
    id: String,
    window: Window,
}

fn figure(out: &mut String, place: &Place, timeline: &Timeline, shared_by: usize) {
    let (drawn, note) = capped(timeline, shared_by);
    let _ = write!(out, "<figure>\n<figcaption><b>protocol {}</b> ", escape(&timeline.protocol));
    let wakes = timeline.arrows.iter().filter(|arrow| arrow.kind == "wake");
    let steals = timeline.arrows.iter().filter(|arrow| arrow.kind == "steal").count();
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    wakes.for_each(|arrow| *reasons.entry(&arrow.why).or_default() += 1);
    let count: usize = reasons.values().sum();
    let wakes = if count == 1 { "wake" } else { "wakes" };
    let _ =
        write!(out, "<span class=\"big\">{count} {wakes} in {}</span>", micros(timeline.length_us));
    let mut reasons: Vec<_> = reasons.into_iter().filter(|(why, _)| !why.is_empty()).collect();
    reasons.sort_by_key(|&(_, n)| std::cmp::Reverse(n));
    if !reasons.is_empty() {
        let list: Vec<String> =
            reasons.iter().map(|(why, n)| format!("{} {n}", escape(why))).collect();
        let _ = write!(out, " <small>({})</small>", list.join(", "));
    }
    let theft = if steals == 1 { "steal" } else { "steals" };
    let _ = write!(out, " <span>{steals} {theft}</span>");
    shares(out, timeline);
    out.push_str("</figcaption>\n");
    let drawing = Drawing { window: place.window, width: WIDTH, names: names_width(timeline) };
    out.push_str(&timeline_svg(&drawn, &drawing, &place.id));
    if let Some(note) = note {
        let _ = writeln!(out, "<p class=\"small\">{}</p>", escape(&note));
    }
    // Within a script element nothing is escaped, but nothing may look like its end.
    let data = timeline_data(&drawn).to_string().replace('<', "\\u003c");
    let _ = write!(out, "<script type=\"application/json\">{data}</script>\n</figure>\n");
}

/// About as wide as the longest name, within reason.
fn names_width(timeline: &Timeline) -> f64 {
    let longest = timeline.rows.iter().map(|row| row.chars().count()).max().unwrap_or(0);
    (longest as f64 * 7.0 + 10.0).clamp(40.0, 110.0)
}

/// How much of all workers' time was spent in which state.
fn shares(out: &mut String, timeline: &Timeline) {
    let mut total = 0.0;
    let mut by_state = BTreeMap::new();
    for span in &timeline.spans {
        let (state, time) = (State::of(&span.state), span.to_us - span.from_us);
        if state != State::Job && time > 0.0 && time.is_finite() {
            *by_state.entry(state).or_insert(0.0) += time;
            total += time;
        }
    }
    if total <= 0.0 {
        return;
    }
    out.push_str("<span class=\"shares\">");
    for (state, time) in by_state.into_iter().rev() {
        let percent = time / total * 100.0;
        let _ = write!(
            out,
            "<i class=\"{0}\" style=\"flex-grow:{percent:.2}\" data-tip=\"{0} for {percent:.1} % of the workers\u{2019} time\"></i>",
            state.name()
        );
    }
    out.push_str("</span>");
}

/// What to show first: everything, or, where that would be a thicket of arrows, a part from which
/// single ones can be read.
fn first_window(timelines: &[&Timeline], length: f64) -> Window {
    let all = Window { from_us: 0.0, to_us: length };
    let Some(busiest) = timelines.iter().max_by_key(|timeline| timeline.arrows.len()) else {
        return all;
    };
    if busiest.arrows.len() <= 2 * ARROWS_AT_A_GLANCE {
        return all;
    }
    // Not the beginning, which is unlike the rest, and a time that even the shortest of them has.
    let shortest =
        timelines.iter().map(|t| t.length_us).filter(|l| l.is_finite()).fold(length, f64::min);
    let mut begins: Vec<f64> = busiest.arrows.iter().map(|arrow| arrow.from_us).collect();
    begins.sort_by(f64::total_cmp);
    let first =
        begins.partition_point(|&at| at < shortest * 0.3).min(begins.len() - ARROWS_AT_A_GLANCE);
    let (from, to) = (begins[first], begins[first + ARROWS_AT_A_GLANCE - 1]);
    let margin = (to - from) * 0.04;
    let (from, to) = ((from - margin).max(0.0), (to + margin).min(length));
    if to - from > length * 0.7 || to <= from { all } else { Window { from_us: from, to_us: to } }
}

/// The timeline as far as it fits into a page, and a note if that is not all of it.
fn capped(timeline: &Timeline, shared_by: usize) -> (Cow<'_, Timeline>, Option<String>) {
    let (spans, arrows) = (MOST_SPANS / shared_by, MOST_ARROWS / shared_by);
    let cut_of = |mut begins: Vec<f64>, most: usize| {
        begins.sort_by(f64::total_cmp);
        begins.get(most).copied().unwrap_or(f64::INFINITY)
    };
    let cut = cut_of(timeline.spans.iter().map(|s| s.from_us).collect(), spans)
        .min(cut_of(timeline.arrows.iter().map(|a| a.from_us).collect(), arrows));
    if cut == f64::INFINITY {
        return (Cow::Borrowed(timeline), None);
    }
    let mut part = timeline.clone();
    part.spans.retain(|span| span.from_us < cut);
    part.arrows.retain(|arrow| arrow.from_us < cut);
    let note = format!(
        "Drawn up to {} only: {} of {} spans and {} of {} arrows. The counts are of all of it.",
        micros(cut),
        part.spans.len(),
        timeline.spans.len(),
        part.arrows.len(),
        timeline.arrows.len()
    );
    (Cow::Owned(part), Some(note))
}
