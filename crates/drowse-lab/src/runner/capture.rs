//! What the workers of a pool do in a workload, for pictures.

use crate::contender::traced;
use crate::measure::Budget;
use crate::workload::{self, Workload};
use drowse::{SleepProtocol, Trace, TraceRecord};
use std::panic::{self, AssertUnwindSafe};
use std::time::{Duration, Instant};

/// What was recorded.
#[derive(Debug)]
pub struct Captured {
    /// What recorded it, and knows the workers' names.
    pub trace: Trace,
    /// All of it, in the order of time.
    pub records: Vec<TraceRecord>,
    /// Since when it was measured: the warm-up was before.
    pub warm: Duration,
}

/// Runs the workload for so long in a traced pool, here, and returns what was recorded.
///
/// # Errors
///
/// If there is no such workload, or it cannot be done, or its result was wrong.
pub fn capture(
    workload: &str,
    protocol: SleepProtocol,
    threads: usize,
    time: Duration,
) -> Result<Captured, String> {
    workload::visit(workload, Capture { protocol, threads, time })
        .unwrap_or_else(|| Err(format!("there is no workload {workload}")))
}

struct Capture {
    protocol: SleepProtocol,
    threads: usize,
    time: Duration,
}

impl workload::Visitor for Capture {
    type Output = Result<Captured, String>;

    fn visit<W: Workload>(self) -> Self::Output {
        let clock = Instant::now();
        let (pool, trace) = traced(self.threads, self.protocol)?;
        let run = AssertUnwindSafe(|| W::run(&pool, Budget::of(self.time)));
        panic::catch_unwind(run)
            .map_err(|_| "it panicked, or its result was wrong".to_owned())??;
        // A workload ends with what counts: rounds for so long at least, if they are not a great
        // many.
        let warm = clock.elapsed().saturating_sub(self.time);
        let records = trace.drain();
        Ok(Captured { trace, records, warm })
    }
}
