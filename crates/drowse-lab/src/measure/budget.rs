//! How long to go on.

use std::time::{Duration, Instant};

/// A time to spend on rounds.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    time: Duration,
}

/// Fewer rounds than this say nothing.
const FEWEST: usize = 5;
/// More are not worth their memory.
const MOST: usize = 2_000;

impl Budget {
    /// So much time.
    pub fn of(time: Duration) -> Self {
        Self { time }
    }

    /// The time there is.
    pub fn time(&self) -> Duration {
        self.time
    }

    /// Calls `round` until the time is over, some times in any case, and keeps what it returns. A
    /// first call, to warm up, does not count.
    pub fn rounds<T>(&self, mut round: impl FnMut() -> T) -> Vec<T> {
        drop(round());
        let (start, mut samples) = (Instant::now(), Vec::new());
        while samples.len() < FEWEST || (start.elapsed() < self.time && samples.len() < MOST) {
            samples.push(round());
        }
        samples
    }

    /// The seconds that `f` takes.
    pub fn seconds<R>(f: impl FnOnce() -> R) -> (f64, R) {
        let start = Instant::now();
        let result = f();
        (start.elapsed().as_secs_f64(), result)
    }
}
