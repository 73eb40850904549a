//! Building blocks of metrics: counts and times that no correctness depends on.

use crate::platform::Moment;
use crate::real::AtomicU64;
use std::fmt;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A count for people to read.
///
/// Correctness does not depend on it; at most the patience of a worker does. So it is a std atomic
/// in models too, and a model does not explore its interleavings.
///
/// ```
/// let jobs = drowse_sync::Counter::new();
/// jobs.add_mine(1);
/// jobs.add(2);
/// assert_eq!(jobs.get(), 3);
/// ```
#[derive(Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Returns a count of zero.
    pub const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Adds, from any thread.
    pub fn add(&self, amount: u64) {
        // ORDERING: relaxed; no other access depends on the value of a count.
        self.0.fetch_add(amount, Ordering::Relaxed);
    }

    /// Adds, from the only thread that writes: a load and a store, without a locked instruction.
    #[inline]
    pub fn add_mine(&self, amount: u64) {
        // ORDERING: relaxed; no access depends on a count. No other thread writes between the two.
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(amount), Ordering::Relaxed);
    }

    /// Sets the count, from the only thread that writes.
    #[inline]
    pub fn set_mine(&self, value: u64) {
        // ORDERING: relaxed; no other access depends on the value of a count.
        self.0.store(value, Ordering::Relaxed);
    }

    /// Subtracts, from any thread; not below zero.
    pub fn subtract(&self, amount: u64) {
        // ORDERING: relaxed; no other access depends on the value of a count.
        let less = |count: u64| Some(count.saturating_sub(amount));
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }

    /// Raises the count to `value` if it is less, from any thread. Returns the new count.
    pub fn raise(&self, value: u64) -> u64 {
        // ORDERING: relaxed; no other access depends on the value of a count.
        self.0.fetch_max(value, Ordering::Relaxed).max(value)
    }

    /// Returns the count so far.
    #[inline]
    pub fn get(&self) -> u64 {
        // ORDERING: relaxed; no other access depends on the value of a count.
        self.0.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.get())
    }
}

/// Measures how long something takes. Time stands still in a model.
///
/// ```
/// let watch = drowse_sync::Stopwatch::start();
/// let first = watch.elapsed();
/// assert!(watch.elapsed() >= first);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(Moment);

impl Stopwatch {
    /// Starts measuring.
    pub fn start() -> Self {
        Self(Moment::now())
    }

    /// Returns the time since the start: zero in a model, and where there is no clock.
    pub fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }

    /// Returns that time in nanoseconds. It overflows after 584 years.
    #[inline(never)]
    pub fn nanos(&self) -> u64 {
        let time = self.elapsed();
        time.as_secs() * 1_000_000_000 + u64::from(time.subsec_nanos())
    }
}
