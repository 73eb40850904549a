//! What metrics are made of: counts and times that nothing important depends on.

use crate::platform::Moment;
use crate::real::AtomicU64;
use std::fmt;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A count for people to read.
///
/// What is right does not hang on it, at most how patient a worker is. So it is the same in a model
/// as in a program: a model does not explore it.
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
    /// Zero.
    pub const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Adds, from any thread.
    pub fn add(&self, amount: u64) {
        // ORDERING: relaxed; nothing is read on the strength of a count.
        self.0.fetch_add(amount, Ordering::Relaxed);
    }

    /// Adds, from the one thread that ever does: a load and a store, without a locked instruction.
    #[inline]
    pub fn add_mine(&self, amount: u64) {
        // ORDERING: relaxed, as above; nobody else writes between the two.
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(amount), Ordering::Relaxed);
    }

    /// Sets it, from the one thread that ever does.
    #[inline]
    pub fn set_mine(&self, value: u64) {
        // ORDERING: relaxed, as above.
        self.0.store(value, Ordering::Relaxed);
    }

    /// Takes away, from any thread; not below zero.
    pub fn subtract(&self, amount: u64) {
        // ORDERING: relaxed, as above.
        let less = |count: u64| Some(count.saturating_sub(amount));
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }

    /// Raises it to `value` if it is less, from any thread, and returns what it is then.
    pub fn raise(&self, value: u64) -> u64 {
        // ORDERING: relaxed; nothing is read on the strength of it.
        self.0.fetch_max(value, Ordering::Relaxed).max(value)
    }

    /// The count so far.
    #[inline]
    pub fn get(&self) -> u64 {
        // ORDERING: relaxed, as above.
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

    /// The time since the start. No time at all in a model, and where there is no clock.
    pub fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}
