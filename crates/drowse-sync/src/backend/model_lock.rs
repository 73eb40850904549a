//! Mutex and condition variable without poison, for the models: see `lock.rs`.

pub use super::world::sync::MutexGuard;
use super::world::sync::{Condvar as RawCondvar, Mutex as RawMutex};
use std::sync::TryLockError;
use std::time::Duration;

/// A mutex without poison.
#[derive(Debug)]
pub struct Mutex<T>(RawMutex<T>);

impl<T> Mutex<T> {
    /// Returns a new, unlocked mutex.
    pub fn new(value: T) -> Self {
        Self(RawMutex::new(value))
    }

    /// Locks, even if an earlier holder panicked.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Locks the mutex, unless it is locked.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        match self.0.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

/// Condition variable that goes with [`Mutex`].
#[derive(Debug)]
pub struct Condvar(RawCondvar);

impl Condvar {
    /// Returns a new condition variable, for which no thread waits.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(RawCondvar::new())
    }

    /// Unlocks, waits for a notification (or returns early), locks again.
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        self.0.wait(guard).unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Returns at once, since model checkers have no clock; on real systems it waits like
    /// [`wait`](Self::wait), but at most for this time.
    pub fn wait_for<'a, T>(&self, guard: MutexGuard<'a, T>, time: Duration) -> MutexGuard<'a, T> {
        let _ = time;
        guard
    }

    /// Wakes one waiter.
    pub fn notify_one(&self) {
        self.0.notify_one();
    }
}
