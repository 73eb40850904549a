//! Mutex and condition variable without poison: what drowse guards with a lock is consistent at
//! every step, and a panic of one job must not take the pool down. Those of the models.

pub use super::world::sync::MutexGuard;
use super::world::sync::{Condvar as RawCondvar, Mutex as RawMutex};
use std::sync::TryLockError;
use std::time::Duration;

/// A mutex that knows no poison.
#[derive(Debug)]
pub struct Mutex<T>(RawMutex<T>);

impl<T> Mutex<T> {
    /// A new, unlocked mutex.
    pub fn new(value: T) -> Self {
        Self(RawMutex::new(value))
    }

    /// Locks, whether or not a holder panicked before.
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

/// The condition variable that goes with [`Mutex`].
#[derive(Debug)]
pub struct Condvar(RawCondvar);

impl Condvar {
    /// A new condition variable, which no thread waits for.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(RawCondvar::new())
    }

    /// Unlocks, waits for a notification (or returns early), locks again.
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        self.0.wait(guard).unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// As [`wait`](Self::wait), but at most for this time. The model checkers know no time: there
    /// it is over at once.
    pub fn wait_for<'a, T>(&self, guard: MutexGuard<'a, T>, time: Duration) -> MutexGuard<'a, T> {
        let _ = time;
        guard
    }

    /// Wakes one waiter.
    pub fn notify_one(&self) {
        self.0.notify_one();
    }
}
