//! What the workers of a pool do in a workload, for pictures.

use crate::contender::DrowseTraced;
use crate::measure::Budget;
use crate::workload::{self, Workload};
use drowse::{SleepProtocol, TraceRecord};
use std::panic::{self, AssertUnwindSafe};
use std::time::Duration;

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
) -> Result<Vec<TraceRecord>, String> {
    workload::visit(workload, Capture { protocol, threads, time })
        .unwrap_or_else(|| Err(format!("there is no workload {workload}")))
}

struct Capture {
    protocol: SleepProtocol,
    threads: usize,
    time: Duration,
}

impl workload::Visitor for Capture {
    type Output = Result<Vec<TraceRecord>, String>;

    fn visit<W: Workload>(self) -> Self::Output {
        let pool = DrowseTraced::on(self.threads, self.protocol)?;
        let run = AssertUnwindSafe(|| W::run(&pool, Budget::of(self.time)));
        panic::catch_unwind(run).map_err(|_| "it panicked, or its result was wrong".to_owned())??;
        Ok(pool.trace().drain())
    }
}
