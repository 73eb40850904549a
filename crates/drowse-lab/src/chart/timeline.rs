//! A row for each worker, coloured by what it was doing, with arrows for wake-ups and thefts.

use super::axis::Axis;
use super::data::State;
use super::text::{coordinate, escape};
use crate::schema::{Arrow, Timeline};
use crate::stats::Scale;
use std::fmt::Write as _;

/// The height of a row.
const ROW: f64 = 30.0;

/// The space over the first row, and that under the last, for the axis.
const TOP: f64 = 6.0;
const BOTTOM: f64 = 24.0;

/// The space at the right edge.
const RIGHT: f64 = 10.0;

/// From when to when, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// The left edge.
    pub from_us: f64,
    /// The right edge.
    pub to_us: f64,
}

/// How to draw it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drawing {
    /// Which part.
    pub window: Window,
    /// How wide, in pixels.
    pub width: f64,
    /// The width of the names at the left edge.
    pub names: f64,
}

impl Drawing {
    fn x(&self, at_us: f64) -> f64 {
        let window = self.window;
        let length = (window.to_us - window.from_us).max(1e-3);
        self.names + (at_us - window.from_us) / length * (self.width - self.names - RIGHT)
    }

    fn sees(&self, from_us: f64, to_us: f64) -> bool {
        to_us >= self.window.from_us && from_us <= self.window.to_us
    }
}

/// The picture, as an SVG that stands by itself if it is given a style. `id` tells it from others
/// in the same page.
#[must_use]
pub fn timeline_svg(timeline: &Timeline, drawing: &Drawing, id: &str) -> String {
    let rows = timeline.rows.len() as f64;
    let (width, height) = (drawing.width, TOP + rows * ROW + BOTTOM);
    let mut out = format!(
        "<svg class=\"tl\" id=\"{id}\" viewBox=\"0 0 {width} {height}\" width=\"100%\" tabindex=\"0\" role=\"img\" \
         aria-label=\"{}\" data-names=\"{}\">\n",
        escape(&format!("Timeline of {}: {}", timeline.title, summary(timeline))),
        drawing.names
    );
    let _ = write!(
        out,
        "<defs><clipPath id=\"{id}-clip\"><rect x=\"{0}\" y=\"0\" width=\"{1}\" height=\"{height}\"/></clipPath></defs>",
        drawing.names,
        width - drawing.names - RIGHT
    );
    axis(&mut out, drawing, height);
    for (row, name) in timeline.rows.iter().enumerate() {
        let _ = write!(
            out,
            "<text class=\"name\" x=\"0\" y=\"{}\">{}</text>",
            middle(row) + 4.0,
            escape(name)
        );
    }
    let _ = write!(out, "\n<g clip-path=\"url(#{id}-clip)\">");
    for state in State::ALL {
        let _ = write!(
            out,
            "<path class=\"s {}\" stroke-width=\"{}\" d=\"{}\"/>",
            state.name(),
            state.height(),
            spans(timeline, state, drawing)
        );
    }
    for kind in ["steal", "wake"] {
        let (mut lines, mut heads) = (String::new(), String::new());
        let drawn =
            timeline.arrows.iter().filter(|arrow| (arrow.kind == "steal") == (kind == "steal"));
        for arrow in drawn.filter(|arrow| drawing.sees(arrow.from_us, arrow.to_us)) {
            arrow_path(&mut lines, &mut heads, arrow, drawing);
        }
        let _ = write!(
            out,
            "<path class=\"a {kind}\" d=\"{lines}\"/><path class=\"h {kind}\" d=\"{heads}\"/>"
        );
    }
    out.push_str("</g>\n</svg>\n");
    out
}

/// `12 wakes, 3 thefts`.
fn summary(timeline: &Timeline) -> String {
    let count = |kind: &str| timeline.arrows.iter().filter(|arrow| arrow.kind == kind).count();
    let length = Scale::of(timeline.length_us, "us").figure(timeline.length_us);
    format!(
        "{} rows, {length}, {} wakes, {} steals",
        timeline.rows.len(),
        count("wake"),
        count("steal")
    )
}

fn middle(row: usize) -> f64 {
    TOP + (row as f64 + 0.5) * ROW
}

/// Bars as thick lines. One that is less than a pixel wide is drawn as a pixel, and what follows
/// within the same pixel is not drawn again: the page's script does the same, and draws what was
/// left out when zoomed.
fn spans(timeline: &Timeline, state: State, drawing: &Drawing) -> String {
    let mut out = String::new();
    let mut ends = vec![f64::NEG_INFINITY; timeline.rows.len()];
    let mut list: Vec<_> = timeline
        .spans
        .iter()
        .filter(|span| State::of(&span.state) == state && drawing.sees(span.from_us, span.to_us))
        .collect();
    list.sort_by(|a, b| a.from_us.total_cmp(&b.from_us));
    for span in list {
        let Some(end) = ends.get_mut(span.row) else { continue };
        let left = drawing.x(span.from_us).max(drawing.names - 2.0);
        let right = drawing.x(span.to_us).min(drawing.width).max(left + 1.0);
        if right <= *end {
            continue;
        }
        *end = right;
        out.push('M');
        coordinate(&mut out, left);
        out.push(' ');
        coordinate(&mut out, middle(span.row));
        out.push('H');
        coordinate(&mut out, right);
    }
    out
}

/// A line between the edges of two rows, with a head. On one row, a short line from above.
fn arrow_path(lines: &mut String, heads: &mut String, arrow: &Arrow, drawing: &Drawing) {
    let (x1, x2) = (drawing.x(arrow.from_us), drawing.x(arrow.to_us));
    let (from, to) = (middle(arrow.from_row), middle(arrow.to_row));
    let down = if to >= from { 1.0 } else { -1.0 };
    let (y1, y2) = if arrow.from_row == arrow.to_row {
        (from - 14.0, to - 5.0)
    } else {
        (from, to - down * 6.0)
    };
    points(lines, &[("M", x1, y1), ("L", x2, y2)]);
    let length = (x2 - x1).hypot(y2 - y1).max(1e-6);
    let (dx, dy) = ((x2 - x1) / length, (y2 - y1) / length);
    let side = |s: f64| (x2 - 6.0 * dx - s * 3.0 * dy, y2 - 6.0 * dy + s * 3.0 * dx);
    let ((ax, ay), (bx, by)) = (side(1.0), side(-1.0));
    points(heads, &[("M", x2, y2), ("L", ax, ay), ("L", bx, by)]);
    heads.push('Z');
}

fn points(out: &mut String, points: &[(&str, f64, f64)]) {
    for (verb, x, y) in points {
        out.push_str(verb);
        coordinate(out, *x);
        out.push(' ');
        coordinate(out, *y);
    }
}

fn axis(out: &mut String, drawing: &Drawing, height: f64) {
    out.push_str("<g class=\"ax\">");
    let window = drawing.window;
    for (at, label) in Axis::between(window.from_us, window.to_us, "us") {
        let x = drawing.x(at);
        let _ = write!(
            out,
            "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{}\"/><text x=\"{x:.1}\" y=\"{}\">{}</text>",
            height - BOTTOM + 4.0,
            height - 7.0,
            escape(&label)
        );
    }
    out.push_str("</g>");
}
