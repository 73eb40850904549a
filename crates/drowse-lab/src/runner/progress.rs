//! How far it is: a bar on a terminal, lines elsewhere. On standard error, so that results can be
//! piped.

use crate::say::{self, tell};
use std::cell::Cell;
use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

/// Shows how far a run is.
#[derive(Debug)]
pub struct Progress {
    how: How,
    started: Cell<Instant>,
    /// How long it is to take, if that is known.
    total: Cell<Option<Duration>>,
    processes: Cell<(usize, usize)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    Bar,
    Lines,
    Hidden,
}

/// The length of the bar.
const BAR: usize = 16;

impl Progress {
    /// For people.
    pub fn shown() -> Self {
        Self::with(if io::stderr().is_terminal() { How::Bar } else { How::Lines })
    }

    /// For machines.
    pub fn hidden() -> Self {
        Self::with(How::Hidden)
    }

    fn with(how: How) -> Self {
        let (started, total) = (Cell::new(Instant::now()), Cell::new(None));
        Self { how, started, total, processes: Cell::new((0, 0)) }
    }

    /// It is to take so long, if that is known.
    pub(super) fn start(&self, total: Option<Duration>) {
        self.started.set(Instant::now());
        self.total.set(total);
    }

    /// A round begins; with it, so many processes are to be expected altogether.
    pub(super) fn round(
        &self,
        number: usize,
        of: usize,
        cells: usize,
        load: f64,
        processes: usize,
    ) {
        self.processes.set((self.processes.get().0, processes));
        if self.how == How::Lines {
            let cells = if cells == 1 { "1 cell".to_owned() } else { format!("{cells} cells") };
            tell(format!("round {number} of {of}: {cells} (load {load:.2})"));
        }
    }

    /// A process begins. The bar is drawn now and left alone while the process measures.
    pub(super) fn begin(&self, what: &str) {
        if self.how != How::Bar {
            return;
        }
        let (done, all) = self.processes.get();
        let elapsed = self.started.get().elapsed().as_secs_f64();
        let by_time = self.total.get().map(|total| elapsed / total.as_secs_f64());
        let part = by_time.unwrap_or(done as f64 / all.max(1) as f64).clamp(0.0, 1.0);
        let left = self.total.get().map(|total| total.as_secs_f64() - elapsed);
        let left = left.or((done > 0).then(|| elapsed / part * (1.0 - part)));
        let left =
            left.map_or(String::new(), |left| format!("about {:.0} s left  ", left.max(1.0)));
        say::draw(&format!("{} {left}{what}", bar(part)));
    }

    /// It has ended.
    pub(super) fn end(&self) {
        let (done, all) = self.processes.get();
        self.processes.set((done + 1, all));
    }

    /// All have, or there will be no more.
    pub(super) fn finish(&self) {
        if self.how == How::Bar {
            say::wipe();
        }
    }
}

/// `[=====>          ]`
fn bar(part: f64) -> String {
    let filled = (part * BAR as f64) as usize;
    let head = if filled < BAR { ">" } else { "" };
    format!("[{:BAR$}]", "=".repeat(filled) + head)
}

#[cfg(test)]
mod tests {
    use super::bar;

    #[test]
    fn a_bar_grows() {
        assert_eq!(bar(0.0), "[>               ]");
        assert_eq!(bar(0.5), "[========>       ]");
        assert_eq!(bar(1.0), "[================]");
    }
}
