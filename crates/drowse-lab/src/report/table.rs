//! The table for the terminal.

use super::view::{Group, Measured, Row, View};
use crate::schema::Results;
use crate::stats::{figure, range_beside, ratio};
use std::fmt::Write as _;

/// The columns to fit into.
const WIDTH: usize = 100;

/// A block for each workload, for a terminal of 100 columns: a row for each contender and number of threads, or the reason why
/// there are no figures.
#[must_use]
pub fn table(results: &Results) -> String {
    let view = View::of(results);
    let mut out = String::new();
    for group in &view.groups {
        block(&mut out, group);
    }
    let rows = || view.groups.iter().flat_map(|group| &group.rows);
    if rows().next().is_none() {
        return "Nothing was measured.\n".to_string();
    }
    if rows().any(|row| row.body.as_ref().is_ok_and(|m| m.to_rayon.is_some())) {
        out.push_str("+ better than rayon, - worse than rayon, beyond noise; no mark: no telling apart.\n");
    }
    if rows().any(|row| row.body.as_ref().is_ok_and(|m| m.noisy > 0)) {
        out.push_str(
            "! so many of its processes ran while the machine was busy with other things; they count as well.\n",
        );
    }
    out
}

fn block(out: &mut String, group: &Group<'_>) {
    let better = if group.main.less_is_better { "less is better" } else { "more is better" };
    let (name, label) = (&group.workload.name, &group.main.label);
    wrapped(out, &format!("{name}: {label} ({better}){}", group.threads_text()), 0);
    wrapped(out, &group.workload.about, 2);
    let name_of = |row: &Row<'_>| match group.own_threads(row) {
        None => row.contender.to_string(),
        Some(count) => format!("{} ({count})", row.contender),
    };
    let widest = group.rows.iter().map(|row| name_of(row).chars().count()).max().unwrap_or(0).max(9);
    if group.rows.iter().any(|row| row.body.is_ok()) {
        let head = format!(
            "  {:widest$}  {:>13}  {:<22}  {:>10}  {:>6}",
            "", "median", "95 % interval", "to rayon", "CPU"
        );
        let _ = writeln!(out, "{}", head.trim_end());
    }
    for row in &group.rows {
        let name = name_of(row);
        match &row.body {
            Ok(measured) => {
                let line = format!("  {name:widest$}  {}", cells(row, measured, &group.main.unit));
                let _ = writeln!(out, "{}", line.trim_end());
            }
            Err(reason) => reason_lines(out, &name, widest, reason),
        }
    }
    out.push('\n');
}

fn cells(row: &Row<'_>, measured: &Measured<'_>, unit: &str) -> String {
    let main = &measured.main;
    let interval = if main.count > 1 {
        range_beside(main.median, main.interval.low, main.interval.high, unit)
    } else {
        "one sample".to_string()
    };
    let cpu = measured.cpu.map_or(String::new(), |cpu| figure(cpu, "%"));
    let noise = measured.noise().map_or(String::new(), |noise| format!("! {}", noise.replace(" runs", "")));
    format!(
        "{:>13}  {interval:<22}  {:>10}  {cpu:>6}  {noise}",
        figure(main.median, unit),
        to_rayon(row, measured)
    )
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

fn reason_lines(out: &mut String, name: &str, widest: usize, reason: &str) {
    let indent = 2 + widest + 2;
    let mut text = String::new();
    wrapped(&mut text, reason, indent);
    let _ = writeln!(out, "  {name:widest$}  {}", text.trim());
}

/// `1 thread`, `4 threads`.
pub(super) fn threads(count: usize) -> String {
    if count == 1 { "1 thread".to_string() } else { format!("{count} threads") }
}

/// Words in lines of at most [`WIDTH`], each with this indent.
fn wrapped(out: &mut String, text: &str, indent: usize) {
    let mut used = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > WIDTH {
            out.push('\n');
            used = 0;
        }
        let space = if used == 0 { indent } else { 1 };
        let _ = write!(out, "{:space$}{word}", "");
        used += space + length;
    }
    if used > 0 {
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::{threads, wrapped};

    #[test]
    fn long_text_is_wrapped() {
        let mut out = String::new();
        wrapped(&mut out, &"word ".repeat(60), 4);
        assert_eq!(out.lines().count(), 4);
        assert!(out.lines().all(|line| line.len() <= 100 && line.starts_with("    word")));
    }

    #[test]
    fn one_thread_is_one() {
        assert_eq!((threads(1).as_str(), threads(2).as_str()), ("1 thread", "2 threads"));
    }
}
