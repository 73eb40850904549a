//! The table for the terminal.

use super::view::{Group, Measured, Row, View};
use crate::say::fitted;
use crate::schema::Measure;
use crate::schema::{NOT_MEASURED, Results};
use crate::stats::{figure, range_beside};
use std::fmt::Write as _;

/// A block for each workload, for a terminal of 80 columns: a row for each contender and number of
/// threads. Those without figures are named in a line, with a mark for the reason, and each reason
/// is given once, at the end. What nobody has run is named in a line.
#[must_use]
pub fn table(results: &Results) -> String {
    let view = View::of(results);
    let (left, done): (Vec<_>, Vec<_>) = view.groups.iter().partition(|group| is_left_out(group));
    let mut out = String::new();
    let mut reasons = Reasons::default();
    for group in &done {
        block(&mut out, group, &mut reasons);
    }
    let rows = || done.iter().flat_map(|group| &group.rows);
    if rows().next().is_none() {
        return "Nothing was measured.\n".to_string();
    }
    if !left.is_empty() {
        let names: Vec<_> = left.iter().map(|group| group.workload.name.as_str()).collect();
        let _ = writeln!(out, "Not measured: {}.\n", names.join(", "));
    }
    reasons.write(&mut out);
    if rows().any(|row| row.body.as_ref().is_ok_and(|m| m.to_rayon().is_some())) {
        out.push_str("+ better, - worse than rayon, beyond noise; no mark: no telling apart.\n");
        out.push_str("serial and bare are limits, not rivals: they have no marks.\n");
    }
    if let Some(busy) = view.busy() {
        let _ = writeln!(out, "\n{busy} ! 2/3: two of three processes.");
    }
    fitted(&out)
}

/// Whether the run was stopped before there was a figure of it.
fn is_left_out(group: &Group<'_>) -> bool {
    let is_left = |row: &Row<'_>| row.body.as_ref().is_err_and(|reason| *reason == NOT_MEASURED);
    group.rows.iter().all(|row| row.body.is_err()) && group.rows.iter().any(is_left)
}

/// Why there are no figures, each reason with those who have it, in the order of their marks.
#[derive(Default)]
struct Reasons<'a>(Vec<(&'a str, Vec<&'a str>)>);

impl<'a> Reasons<'a> {
    /// Notes the reason of a contender, and returns its mark.
    fn mark(&mut self, reason: &'a str, contender: &'a str) -> String {
        let known = self.0.iter().position(|(other, _)| *other == reason);
        let index = known.unwrap_or_else(|| {
            self.0.push((reason, Vec::new()));
            self.0.len() - 1
        });
        let contenders = &mut self.0[index].1;
        if !contenders.contains(&contender) {
            contenders.push(contender);
        }
        format!("[{}]", index + 1)
    }

    fn write(&self, out: &mut String) {
        if self.0.is_empty() {
            return;
        }
        out.push_str("No figures:\n");
        for (index, (reason, contenders)) in self.0.iter().enumerate() {
            let _ = writeln!(out, "  [{}] {}: {reason}", index + 1, contenders.join(", "));
        }
        out.push('\n');
    }
}

fn block<'a>(out: &mut String, group: &Group<'a>, reasons: &mut Reasons<'a>) {
    let better = if group.main.less_is_better { "less is better" } else { "more is better" };
    let (name, label) = (&group.workload.name, &group.main.label);
    let _ = writeln!(out, "{name}: {label} ({better}){}", group.threads_text());
    let _ = writeln!(out, "  {}", group.workload.about);
    let name_of = |row: &Row<'_>| match group.own_threads(row) {
        None => row.contender.to_string(),
        Some(count) => format!("{} ({count})", row.contender),
    };
    let mut lines = Vec::new();
    if group.rows.iter().any(|row| row.body.is_ok()) {
        let compared =
            group.rows.iter().any(|row| row.body.as_ref().is_ok_and(|m| m.to_rayon().is_some()));
        let head =
            ["", "median", "95 % interval", if compared { "to rayon" } else { "" }, "CPU", ""];
        lines.push(head.map(str::to_owned));
    }
    let (mut without, mut left) = (Vec::new(), Vec::new());
    for row in &group.rows {
        match &row.body {
            Ok(measured) => lines.push(cells(name_of(row), row, measured, group.main)),
            Err(NOT_MEASURED) => left.push(name_of(row)),
            Err(reason) => {
                without.push(format!("{} {}", name_of(row), reasons.mark(reason, row.contender)))
            }
        }
    }
    lay_out(out, &lines);
    for (what, names) in [("no figures", without), ("not measured", left)] {
        if !names.is_empty() {
            let _ = writeln!(out, "  {what}: {}", names.join(", "));
        }
    }
    out.push('\n');
}

/// Name, median, interval, ratio, CPU, noise.
type Cells = [String; 6];

/// The least that each column takes, so that blocks are in line with each other.
const LEAST: [usize; 6] = [15, 8, 17, 9, 6, 0];

/// Writes the lines, each column as wide as what is in it.
fn lay_out(out: &mut String, lines: &[Cells]) {
    let mut widths = LEAST;
    for line in lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = cell.chars().count().max(*width);
        }
    }
    let [name, median, interval, ratio, cpu, _] = widths;
    for [who, a, b, c, d, noise] in lines {
        let line =
            format!("  {who:name$}  {a:>median$}  {b:interval$}  {c:>ratio$} {d:>cpu$}  {noise}");
        let _ = writeln!(out, "{}", line.trim_end());
    }
}

fn cells(name: String, row: &Row<'_>, measured: &Measured<'_>, measure: &Measure) -> Cells {
    let (main, unit) = (&measured.main, &measure.unit);
    let interval = if main.count > 1 {
        range_beside(main.median, main.interval.low, main.interval.high, unit)
    } else {
        "one sample".to_string()
    };
    let cpu = measured.cpu.map_or(String::new(), |cpu| figure(cpu, "%"));
    let noisy = (measured.noisy > 0)
        .then(|| format!("! {}/{}", measured.noisy, measured.figures.processes()));
    let median = measure.figure(main.median);
    [name, median, interval, to_rayon(row, measured), cpu, noisy.unwrap_or_default()]
}

/// `0.62x +`. The mark is always there, if only as a space, so that the numbers are in line.
fn to_rayon(row: &Row<'_>, measured: &Measured<'_>) -> String {
    let Some(comparison) = measured.to_rayon() else {
        return String::new();
    };
    let mark = match row.better() {
        Some(true) => "+",
        Some(false) => "-",
        None => " ",
    };
    format!("{} {mark}", comparison.ratio_text())
}

/// `1 thread`, `4 threads`.
pub(super) fn threads(count: usize) -> String {
    if count == 1 { "1 thread".to_string() } else { format!("{count} threads") }
}

#[cfg(test)]
mod tests {
    use super::threads;

    #[test]
    fn one_thread_is_one() {
        assert_eq!((threads(1).as_str(), threads(2).as_str()), ("1 thread", "2 threads"));
    }
}
