//! Metrics as a table for people to read.

use super::{LoanMetrics, Metrics, WorkerMetrics};
use drowse_sleep::Reason;
use std::fmt;
use std::time::Duration;

impl fmt::Display for Metrics {
    /// Writes one row per worker, and one for the sum. `wakes:` are the wake-ups by reason, for the
    /// reasons that occurred ([`Reason`] explains them); `fruitless` those after which the worker
    /// slept again without having found anything; `kept awake` those that came before it slept.
    /// Below, if there were any: [heavy fences](WorkerMetrics::heavy_fences),
    /// [sentries](crate::SleepMetrics::sentries), and where workers began that were woken by
    /// working ones.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = self.total();
        let mut reasons = Vec::new();
        for reason in Reason::ALL {
            if reason == Reason::Job || total.sleep.wakes(reason) > 0 {
                reasons.push(reason);
            }
        }
        let mut rows = vec![headings(&reasons)];
        for (index, worker) in self.workers.iter().enumerate() {
            rows.push(row(index.to_string(), worker, &reasons));
        }
        for (number, spare) in self.spares.iter().enumerate() {
            rows.push(row(format!("spare {number}"), spare, &reasons));
        }
        rows.push(row("all".to_owned(), &total, &reasons));
        let mut widths = vec![0; rows[0].len()];
        for row in &rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell.len().max(*width);
            }
        }
        let s = if self.workers.len() == 1 { "" } else { "s" };
        write!(f, "{} worker{s}, sleep protocol {}", self.workers.len(), self.protocol)?;
        for row in rows {
            writeln!(f)?;
            for (position, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let gap = if position == 0 { "" } else { "  " };
                write!(f, "{gap}{cell:>width$}")?;
            }
        }
        let fences = total.heavy_fences;
        if fences > 0 {
            write!(f, "\nheavy fences: {fences}")?;
        }
        let (posted, got_up) = (total.sleep.sentries, total.sleep.wakes(Reason::Sentry));
        if posted > 0 {
            write!(f, "\nsentries: {posted}, {got_up} of them woke by time-out")?;
        }
        self.fmt_places(f)?;
        self.fmt_loans(f)
    }
}

impl Metrics {
    /// Writes how often spares stood in for workers that blocked, if any worker blocked.
    fn fmt_loans(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LoanMetrics { made, refused, threads_started } = self.loans;
        if made + refused == 0 {
            return Ok(());
        }
        let s = if threads_started == 1 { "" } else { "s" };
        write!(
            f,
            "\nwhile workers blocked: {made} times a spare, {refused} times none; {threads_started} spare thread{s} started"
        )
    }

    /// Writes where workers began that were woken by working ones, if there were any.
    fn fmt_places(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sleep = self.total().sleep;
        let (steered, unsteered, behind) = (sleep.steered, sleep.unsteered, sleep.behind_waker);
        if steered + unsteered == 0 {
            return Ok(());
        }
        write!(f, "\nwoken by working ones: {steered} steered")?;
        if sleep.late > 0 {
            write!(f, ", {} of them late", sleep.late)?;
        }
        write!(f, ", {unsteered} left to the system")?;
        if unsteered > 0 { write!(f, ", {behind} of them behind their wakers") } else { Ok(()) }
    }
}

fn headings(reasons: &[Reason]) -> Vec<String> {
    let mut cells = Vec::new();
    for heading in ["worker", "searches", "steals", "injected", "sleeps"] {
        cells.push(heading.to_owned());
    }
    let mut lead = "wakes: ";
    for reason in reasons {
        cells.push(format!("{lead}{}", reason.name()));
        lead = "";
    }
    for heading in ["fruitless", "kept awake", "parked"] {
        cells.push(heading.to_owned());
    }
    cells
}

/// Returns the cells below the [`headings`] for a worker.
fn row(name: String, worker: &WorkerMetrics, reasons: &[Reason]) -> Vec<String> {
    let sleep = &worker.sleep;
    let mut counts = vec![worker.searches, worker.steals, worker.injected, sleep.sleeps];
    for reason in reasons {
        counts.push(sleep.wakes(*reason));
    }
    counts.extend_from_slice(&[sleep.fruitless, sleep.kept_awake]);
    let mut cells = vec![name];
    for count in counts {
        cells.push(count.to_string());
    }
    cells.push(short(sleep.parked));
    cells
}

/// Returns a time with about three digits.
fn short(time: Duration) -> String {
    let (seconds, nanos) = (time.as_secs(), u64::from(time.subsec_nanos()));
    // Tenths of a unit, rounded. For seconds, hundredths.
    let tenths = |unit: u64| (nanos + unit / 20) / (unit / 10);
    match nanos {
        _ if seconds > 0 => {
            let hundredths = seconds * 100 + (nanos + 5_000_000) / 10_000_000;
            format!("{}.{:02} s", hundredths / 100, hundredths % 100)
        }
        0 => "0".to_owned(),
        1_000_000.. => format!("{}.{} ms", tenths(1_000_000) / 10, tenths(1_000_000) % 10),
        _ => format!("{}.{} us", tenths(1_000) / 10, tenths(1_000) % 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(workers: Vec<WorkerMetrics>) -> Metrics {
        Metrics { protocol: "jec", workers, spares: Vec::new(), loans: Default::default() }
    }

    #[test]
    fn columns_line_up_and_rows_add_up() {
        let worker = WorkerMetrics {
            searches: 1_234_567,
            steals: 5,
            injected: 8,
            ..WorkerMetrics::default()
        };
        let table = of(vec![worker, worker]).to_string();
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines[0], "2 workers, sleep protocol jec");
        assert_eq!(lines.len(), 5, "{table}");
        assert!(lines[2..].iter().all(|line| line.len() == lines[1].len()), "{table}");
        assert!(
            lines[4].contains("all") && lines[4].contains("2469134") && lines[4].contains("16"),
            "{table}"
        );
    }

    #[test]
    fn where_workers_began_is_told_if_there_is_anything_to_tell() {
        let mut worker = WorkerMetrics::default();
        let shown = |worker| of(vec![worker]).to_string();
        assert!(!shown(worker).contains("steered"));
        worker.sleep.steered = 7;
        assert!(shown(worker).ends_with("woken by working ones: 7 steered, 0 left to the system"));
        (worker.sleep.unsteered, worker.sleep.behind_waker) = (3, 2);
        assert!(
            shown(worker)
                .ends_with("7 steered, 3 left to the system, 2 of them behind their wakers")
        );
        worker.sleep.late = 5;
        assert!(
            shown(worker).contains("7 steered, 5 of them late, 3 left to the system, 2 of them")
        );
    }

    #[test]
    fn spares_are_told_of_if_there_were_any() {
        let mut metrics = of(vec![WorkerMetrics::default()]);
        assert!(!metrics.to_string().contains("spare"));
        metrics.loans.made = 3;
        metrics.loans.threads_started = 1;
        metrics.spares = vec![WorkerMetrics { steals: 4, ..WorkerMetrics::default() }];
        let shown = metrics.to_string();
        assert!(
            shown.ends_with(
                "while workers blocked: 3 times a spare, 0 times none; 1 spare thread started"
            ),
            "{shown}"
        );
    }

    #[test]
    fn times_are_short() {
        let shown = [0, 40, 60, 1_500, 999_960, 2_500_000, 3_210_000_000, 5_999_000_000]
            .map(|nanos| short(Duration::from_nanos(nanos)));
        assert_eq!(
            shown,
            ["0", "0.0 us", "0.1 us", "1.5 us", "1000.0 us", "2.5 ms", "3.21 s", "6.00 s"]
        );
    }
}
