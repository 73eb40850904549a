//! What the process has cost.

use crate::platform::process_usage;
use std::time::{Duration, Instant};

/// CPU time and context switches of the whole process, since it began.
#[derive(Debug, Clone, Copy)]
pub struct UsageMeter {
    started: Instant,
    cpu: Duration,
    switches: Option<[i64; 2]>,
}

/// What it cost between two moments.
#[derive(Debug, Clone, Copy)]
pub struct Usage {
    /// Wall time.
    pub wall: Duration,
    /// CPU time, of all threads.
    pub cpu: Duration,
    /// Context switches that a thread asked for, and that it was made to do, if they are counted.
    pub switches: Option<[i64; 2]>,
}

impl UsageMeter {
    /// Begins to measure.
    pub fn start() -> Self {
        let (cpu, switches) = process_usage();
        Self { started: Instant::now(), cpu, switches }
    }

    /// What it cost since.
    pub fn read(&self) -> Usage {
        let (cpu, switches) = process_usage();
        Usage {
            wall: self.started.elapsed(),
            cpu: cpu.saturating_sub(self.cpu),
            switches: switches
                .zip(self.switches)
                .map(|(now, before)| [now[0] - before[0], now[1] - before[1]]),
        }
    }
}

impl Usage {
    /// CPU time over wall time: 100 is one processor kept busy.
    pub fn cpu_percent(&self) -> f64 {
        self.cpu.as_secs_f64() / self.wall.as_secs_f64() * 100.0
    }

    /// Context switches per second, if anybody counts them.
    pub fn switches_a_second(&self) -> Option<[f64; 2]> {
        self.switches.map(|both| both.map(|count| count as f64 / self.wall.as_secs_f64()))
    }
}
