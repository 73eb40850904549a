//! Busy work of a known length.

use std::hint::black_box;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// So much arithmetic as takes an undisturbed processor a given time.
///
/// It does not look at the clock: where two threads share a processor, it takes twice as long, as
/// real work would.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Work {
    steps: u64,
}

/// Steps of a calibration, and how often it is done.
const STEPS: u64 = if cfg!(debug_assertions) { 10_000 } else { 50_000 };
const TIMES: u32 = 60;

impl Work {
    /// The work of so much time. The first call measures how fast the processor is, which takes
    /// some milliseconds.
    pub fn of(time: Duration) -> Self {
        let steps = time.as_nanos() as f64 * steps_a_nanosecond();
        Self { steps: (steps as u64).max(1) }
    }

    /// The work of so many microseconds.
    pub fn micros(count: u64) -> Self {
        Self::of(Duration::from_micros(count))
    }

    /// Does it. The result depends on each step, and on nothing else than the seed.
    pub fn run(self, seed: u64) -> u64 {
        let mut state = black_box(seed) | 1;
        for _ in 0..self.steps {
            state = step(state);
        }
        black_box(state)
    }
}

/// One step of a xorshift, which no compiler shortens and no processor overlaps with the next.
#[inline(always)]
fn step(mut state: u64) -> u64 {
    state ^= state << 13;
    state ^= state >> 7;
    state ^ (state << 17)
}

/// Measured once per process. The fastest of many short stretches is the one that nobody disturbed.
fn steps_a_nanosecond() -> f64 {
    static RATE: OnceLock<f64> = OnceLock::new();
    *RATE.get_or_init(|| {
        let stretch = |seed| {
            let start = Instant::now();
            Work { steps: STEPS }.run(u64::from(seed));
            start.elapsed()
        };
        let fastest = (0..TIMES).map(stretch).min().unwrap_or_default();
        STEPS as f64 / (fastest.as_nanos() as f64).max(1.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_work_has_the_same_result() {
        let work = Work::micros(5);
        assert_eq!(work.run(1), work.run(1));
        assert_ne!(work.run(1), work.run(3));
    }

    #[test]
    fn longer_work_has_more_steps() {
        let (short, long) = (Work::micros(10), Work::micros(1_000));
        assert!(long.steps / short.steps >= 99, "{short:?} {long:?}");
        assert_eq!(Work::of(Duration::ZERO).steps, 1);
    }
}
