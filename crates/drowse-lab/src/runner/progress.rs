//! How far it is: a bar on a terminal, lines elsewhere. On standard error, so that results can be piped.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::cell::Cell;
use std::io::{self, IsTerminal};
use std::time::Duration;

/// Shows how far a run is.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    lines: bool,
    /// How long it is to take, if that is known.
    total: Cell<Option<Duration>>,
    processes: Cell<(usize, usize)>,
}

/// The bar counts in thousandths.
const WHOLE: f64 = 1_000.0;

impl Progress {
    /// For people.
    pub fn shown() -> Self {
        let bar = ProgressBar::with_draw_target(Some(WHOLE as u64), ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {prefix}  {msg}") {
            bar.set_style(style.progress_chars("=> "));
        }
        Self::with(bar, !io::stderr().is_terminal())
    }

    /// For machines.
    pub fn hidden() -> Self {
        Self::with(ProgressBar::hidden(), false)
    }

    fn with(bar: ProgressBar, lines: bool) -> Self {
        Self { bar, lines, total: Cell::new(None), processes: Cell::new((0, 0)) }
    }

    /// It is to take so long, if that is known.
    pub(super) fn start(&self, total: Option<Duration>) {
        self.bar.reset_elapsed();
        self.total.set(total);
    }

    /// A round begins; with it, so many processes are to be expected, all told.
    pub(super) fn round(&self, number: usize, of: usize, cells: usize, load: f64, processes: usize) {
        self.processes.set((self.processes.get().0, processes));
        if self.lines {
            let cells = if cells == 1 { "1 cell".to_owned() } else { format!("{cells} cells") };
            eprintln!("round {number} of {of}: {cells} (load {load:.2})");
        }
    }

    /// A process begins. The bar is drawn now and left alone while the process measures.
    pub(super) fn begin(&self, what: &str) {
        let (done, all) = self.processes.get();
        let elapsed = self.bar.elapsed().as_secs_f64();
        let by_time = self.total.get().map(|total| elapsed / total.as_secs_f64());
        let part = by_time.unwrap_or(done as f64 / all.max(1) as f64).clamp(0.0, 1.0);
        let left = self.total.get().map(|total| total.as_secs_f64() - elapsed);
        let left = left.or((done > 0).then(|| elapsed / part * (1.0 - part)));
        self.bar.set_prefix(left.map_or(String::new(), |left| format!("about {:.0} s left", left.max(1.0))));
        self.bar.set_message(what.to_owned());
        self.bar.set_position((part * WHOLE) as u64);
        self.bar.tick();
    }

    /// It has ended.
    pub(super) fn end(&self) {
        let (done, all) = self.processes.get();
        self.processes.set((done + 1, all));
    }

    /// All have.
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
