//! A row for each contender: every sample faint, the interval a line, the median a dot.

use super::axis::Axis;
use super::text::{coordinate, escape};
use crate::stats::Summary;
use std::fmt::Write as _;

/// The height of a row's plot, in pixels.
const HEIGHT: f64 = 38.0;

/// A chart of one measure, or of several quantiles of one.
#[derive(Debug, Clone)]
pub struct Dots<'a> {
    /// What is measured: `time a tick`.
    pub label: &'a str,
    /// In which unit of the schema.
    pub unit: &'a str,
    /// The direction to look, and what else a heading says: `less is better, 4 threads`.
    pub direction: String,
    /// The names of the series, if there is more than one.
    pub series: Vec<&'a str>,
    /// From top to bottom.
    pub rows: Vec<DotRow<'a>>,
}

/// What one contender did.
#[derive(Debug, Clone)]
pub struct DotRow<'a> {
    /// Its name.
    pub name: &'a str,
    /// What else tells it from the others, such as its threads; or nothing.
    pub detail: String,
    /// `drowse`, `rayon`, `limit` or `other`.
    pub class: &'a str,
    /// The figure to write, and a smaller one under it.
    pub figure: (String, String),
    /// More, for those who point at it.
    pub tip: String,
    /// What to draw, as many as there are names; or none, and why.
    pub series: Result<Vec<Series<'a>>, &'a str>,
}

/// One dot and what it stands for.
#[derive(Debug, Clone)]
pub struct Series<'a> {
    /// The median and its interval.
    pub summary: Summary,
    /// Every sample.
    pub samples: &'a [f64],
    /// The places of those that were taken in a noisy round, smallest first.
    pub noisy: Vec<usize>,
}

impl Dots<'_> {
    /// The chart.
    #[must_use]
    pub fn html(&self) -> String {
        let drawn = || self.rows.iter().filter_map(|row| row.series.as_ref().ok()).flatten();
        let medians: Vec<f64> = drawn().map(|series| series.summary.median).collect();
        let all: Vec<f64> = drawn().flat_map(|series| series.samples.iter().copied()).collect();
        let axis = Axis::of(&medians, &all, self.unit);
        let mut out = String::from("<figure class=\"chart\">\n<figcaption><span>");
        let log = if axis.log { "; <b>log axis</b>: equal steps are equal ratios" } else { "" };
        let _ = write!(out, "{}, {}{log}", escape(self.label), escape(&self.direction));
        out.push_str("</span>");
        self.key(&mut out);
        out.push_str("</figcaption>\n");
        for row in &self.rows {
            self.row(&mut out, row, &axis);
        }
        if !medians.is_empty() {
            axis_row(&mut out, &axis);
        }
        out.push_str("</figure>\n");
        out
    }

    fn key(&self, out: &mut String) {
        if self.series.len() < 2 {
            return;
        }
        out.push_str("<span class=\"key\">");
        for (i, name) in self.series.iter().enumerate() {
            let _ = write!(
                out,
                "<span><svg width=\"14\" height=\"14\" aria-hidden=\"true\">\
                 <circle class=\"m m{i}\" cx=\"7\" cy=\"7\" r=\"{}\"/></svg>{}</span>",
                radius(i),
                escape(name)
            );
        }
        out.push_str("</span>");
    }

    fn row(&self, out: &mut String, row: &DotRow<'_>, axis: &Axis) {
        let _ = write!(out, "<div class=\"row {}\"", escape(row.class));
        if !row.tip.is_empty() {
            let _ = write!(out, " data-tip=\"{}\"", escape(&row.tip));
        }
        let _ = write!(out, "><div class=\"who\">{}", escape(row.name));
        if !row.detail.is_empty() {
            let _ = write!(out, " <small>{}</small>", escape(&row.detail));
        }
        out.push_str("</div>");
        match &row.series {
            Ok(series) => {
                plot(out, series, axis);
                let (figure, under) = &row.figure;
                let _ = write!(
                    out,
                    "<div class=\"fig\"><b>{}</b><small>{}</small></div>",
                    escape(figure),
                    escape(under)
                );
            }
            Err(reason) => {
                let _ = write!(out, "<div class=\"why\">{}</div>", escape(reason));
            }
        }
        out.push_str("</div>\n");
    }
}

fn plot(out: &mut String, series: &[Series<'_>], axis: &Axis) {
    let middle = HEIGHT / 2.0;
    let _ =
        write!(out, "<svg class=\"plot\" width=\"100%\" height=\"{HEIGHT}\" aria-hidden=\"true\">");
    for (place, _) in axis.ticks() {
        line(out, "g", (place, place), (0.0, HEIGHT));
    }
    let medians: Vec<f64> = series.iter().map(|s| axis.place(s.summary.median)).collect();
    let ends = medians.iter().fold((100.0_f64, 0.0_f64), |(a, b), &x| (a.min(x), b.max(x)));
    if series.len() > 1 {
        line(out, "span", ends, (middle, middle));
    } else if !axis.log {
        line(out, "stem", (0.0, ends.1), (middle, middle));
    }
    for one in series {
        samples(out, one, axis);
    }
    for (i, one) in series.iter().enumerate().rev() {
        let interval = &one.summary.interval;
        line(out, "ci", (axis.place(interval.low), axis.place(interval.high)), (middle, middle));
        let _ = write!(out, "<circle class=\"m m{i}\" cx=\"");
        coordinate(out, medians[i]);
        let _ = write!(out, "%\" cy=\"{middle}\" r=\"{}\"/>", radius(i));
    }
    out.push_str("</svg>");
}

/// Every sample as a faint dot, over and under the line in turn so that neighbours can be told
/// apart. Those that would land on the same spot are drawn once: a thousand equal samples look no
/// different.
fn samples(out: &mut String, series: &Series<'_>, axis: &Axis) {
    const LANES: [f64; 5] = [0.0, -6.0, 6.0, -10.0, 10.0];
    let mut drawn = std::collections::BTreeSet::new();
    out.push_str("<g class=\"raw\">");
    for (i, &value) in series.samples.iter().enumerate().filter(|(_, value)| value.is_finite()) {
        let lane = i % LANES.len();
        let noisy = series.noisy.binary_search(&i).is_ok();
        let place = (axis.place(value) * 5.0).round() as i64;
        if !drawn.insert((place, lane, noisy)) {
            continue;
        }
        out.push_str(if noisy { "<circle class=\"noisy\" cx=\"" } else { "<circle cx=\"" });
        coordinate(out, place as f64 / 5.0);
        let _ = write!(out, "%\" cy=\"{}\"/>", HEIGHT / 2.0 + LANES[lane]);
    }
    out.push_str("</g>");
}

fn axis_row(out: &mut String, axis: &Axis) {
    out.push_str(
        "<div class=\"row axis\" aria-hidden=\"true\"><div class=\"who\"></div><div class=\"ticks\">",
    );
    for (place, label) in axis.ticks() {
        out.push_str("<span style=\"left:");
        coordinate(out, place);
        let _ = write!(out, "%\">{}</span>", escape(&label));
    }
    out.push_str("</div><div class=\"fig\"></div></div>\n");
}

fn line(out: &mut String, class: &str, (x1, x2): (f64, f64), (y1, y2): (f64, f64)) {
    let _ = write!(out, "<line class=\"{class}\" x1=\"");
    coordinate(out, x1);
    out.push_str("%\" x2=\"");
    coordinate(out, x2);
    let _ = write!(out, "%\" y1=\"{y1}\" y2=\"{y2}\"/>");
}

/// The further out the quantile, the smaller its dot.
fn radius(series: usize) -> f64 {
    [5.5, 4.5, 4.0, 3.5].get(series).copied().unwrap_or(3.0)
}
