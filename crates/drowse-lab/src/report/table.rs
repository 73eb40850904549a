//! The table for the terminal.

use super::view::{Group, Measured, Row, View};
use crate::say::fitted;
use crate::schema::{NOT_MEASURED, Results};
use crate::stats::{figure, range_beside, ratio};
use std::fmt::Write as _;

/// A block for each workload, for a terminal of 80 columns: a row for each contender and number of
/// threads, or the reason why there are no figures. What nobody has run is named in a line.
#[must_use]
pub fn table(results: &Results) -> String {
    let view = View::of(results);
    let (left, done): (Vec<_>, Vec<_>) = view.groups.iter().partition(|group| is_left_out(group));
    let mut out = String::new();
    for group in &done {
        block(&mut out, group);
    }
    let rows = || done.iter().flat_map(|group| &group.rows);
    if rows().next().is_none() {
        return "Nothing was measured.\n".to_string();
    }
    if !left.is_empty() {
        let names: Vec<_> = left.iter().map(|group| group.workload.name.as_str()).collect();
        let _ = writeln!(out, "Not measured: {}.\n", names.join(", "));
    }
    if rows().any(|row| row.body.as_ref().is_ok_and(|m| m.to_rayon.is_some())) {
        out.push_str("+ better, - worse than rayon, beyond noise; no mark: no telling apart.\n");
    }
    if rows().any(|row| row.body.as_ref().is_ok_and(|m| m.noisy > 0)) {
        out.push_str("! 2/3: two of its three processes ran on a busy machine; they count as well.\n");
    }
    fitted(&out)
}

/// Whether the run was stopped before there was a figure of it.
fn is_left_out(group: &Group<'_>) -> bool {
    let is_left = |row: &Row<'_>| row.body.as_ref().is_err_and(|reason| *reason == NOT_MEASURED);
    group.rows.iter().all(|row| row.body.is_err()) && group.rows.iter().any(is_left)
}

fn block(out: &mut String, group: &Group<'_>) {
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
        let compared = group.rows.iter().any(|row| row.body.as_ref().is_ok_and(|m| m.to_rayon.is_some()));
        let head = ["", "median", "95 % interval", if compared { "to rayon" } else { "" }, "CPU", ""];
        lines.push(Line::Cells(head.map(str::to_owned)));
    }
    let mut left = Vec::new();
    for row in &group.rows {
        match &row.body {
            Ok(measured) => lines.push(Line::Cells(cells(name_of(row), row, measured, &group.main.unit))),
            Err(NOT_MEASURED) => left.push(name_of(row)),
            Err(reason) => lines.push(Line::Reason(name_of(row), reason)),
        }
    }
    lay_out(out, &lines);
    if !left.is_empty() {
        let _ = writeln!(out, "  not measured: {}", left.join(", "));
    }
    out.push('\n');
}

/// A line of a block.
enum Line<'a> {
    /// Name, median, interval, ratio, CPU, noise.
    Cells([String; 6]),
    /// Name, and why there are no figures.
    Reason(String, &'a str),
}

/// The least that each column takes, so that blocks are in line with each other.
const LEAST: [usize; 6] = [15, 8, 17, 9, 6, 0];

/// Writes the lines, each column as wide as what is in it.
fn lay_out(out: &mut String, lines: &[Line<'_>]) {
    let mut widths = LEAST;
    for line in lines {
        match line {
            Line::Cells(cells) => {
                for (width, cell) in widths.iter_mut().zip(cells) {
                    *width = cell.chars().count().max(*width);
                }
            }
            Line::Reason(name, _) => widths[0] = name.chars().count().max(widths[0]),
        }
    }
    let [name, median, interval, ratio, cpu, _] = widths;
    for line in lines {
        let _ = match line {
            Line::Reason(who, reason) => writeln!(out, "  {who:name$}  {reason}"),
            Line::Cells([who, a, b, c, d, noise]) => {
                let line =
                    format!("  {who:name$}  {a:>median$}  {b:interval$}  {c:>ratio$} {d:>cpu$}  {noise}");
                writeln!(out, "{}", line.trim_end())
            }
        };
    }
}

fn cells(name: String, row: &Row<'_>, measured: &Measured<'_>, unit: &str) -> [String; 6] {
    let main = &measured.main;
    let interval = if main.count > 1 {
        range_beside(main.median, main.interval.low, main.interval.high, unit)
    } else {
        "one sample".to_string()
    };
    let cpu = measured.cpu.map_or(String::new(), |cpu| figure(cpu, "%"));
    let noisy =
        (measured.noisy > 0).then(|| format!("! {}/{}", measured.noisy, measured.figures.processes()));
    let median = figure(main.median, unit);
    [name, median, interval, to_rayon(row, measured), cpu, noisy.unwrap_or_default()]
}

/// `0.62x +`. The mark is always there, if only as a space, so that the numbers are in line.
fn to_rayon(row: &Row<'_>, measured: &Measured<'_>) -> String {
    let Some(times) = measured.to_rayon.and_then(|d| d.ratio) else {
        return String::new();
    };
    let mark = match row.better() {
        Some(true) => "+",
        Some(false) => "-",
        None => " ",
    };
    format!("{} {mark}", ratio(times))
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
