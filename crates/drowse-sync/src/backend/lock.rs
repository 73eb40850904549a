//! Mutex and condition variable without poison: all data that drowse guards with a lock is
//! consistent at every step, and a panic of one job must not take the pool down.
//!
//! The value is beside std's mutex, not in it. So std's code for locking and unlocking, poison
//! included, is in a program once for all types.

use std::cell::UnsafeCell;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::{
    Condvar as StdCondvar, Mutex as StdMutex, MutexGuard as StdGuard, PoisonError, TryLockError,
};
use std::time::Duration;

/// A mutex without poison.
pub struct Mutex<T> {
    lock: StdMutex<()>,
    value: UnsafeCell<T>,
}

impl<T> Mutex<T> {
    /// Returns a new, unlocked mutex.
    pub const fn new(value: T) -> Self {
        Self { lock: StdMutex::new(()), value: UnsafeCell::new(value) }
    }

    /// Locks, even if an earlier holder panicked.
    #[inline]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        MutexGuard { lock: ManuallyDrop::new(lock(&self.lock)), value: &self.value }
    }

    /// Locks the mutex, unless it is locked.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        let lock = ManuallyDrop::new(try_lock(&self.lock)?);
        Some(MutexGuard { lock, value: &self.value })
    }
}

#[inline(never)]
fn lock(mutex: &StdMutex<()>) -> StdGuard<'_, ()> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[inline(never)]
fn try_lock(mutex: &StdMutex<()>) -> Option<StdGuard<'_, ()>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

#[inline(never)]
fn unlock(guard: StdGuard<'_, ()>) {
    drop(guard);
}

// SAFETY: only a `MutexGuard` gives access to the value, and the lock lets one exist at a time.
unsafe impl<T: Send> Sync for Mutex<T> {}

// Data guarded by drowse's locks is consistent, or is not used after a panic.
impl<T> UnwindSafe for Mutex<T> {}
impl<T> RefUnwindSafe for Mutex<T> {}

impl<T> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Mutex")
    }
}

/// Access to the value of a [`Mutex`], which is locked as long as this lives.
pub struct MutexGuard<'a, T> {
    lock: ManuallyDrop<StdGuard<'a, ()>>,
    value: &'a UnsafeCell<T>,
}

impl<'a, T> MutexGuard<'a, T> {
    /// Unlocks and locks again, by `wait`.
    fn with_lock(self, wait: impl FnOnce(StdGuard<'a, ()>) -> StdGuard<'a, ()>) -> Self {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: `this` is not dropped and its lock not used again. If `wait` panics, it has
        // unlocked.
        let lock = unsafe { ManuallyDrop::take(&mut this.lock) };
        Self { lock: ManuallyDrop::new(wait(lock)), value: this.value }
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: this guard holds the lock, and is borrowed.
        unsafe { &*self.value.get() }
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this guard holds the lock, and is borrowed exclusively.
        unsafe { &mut *self.value.get() }
    }
}

impl<T> Drop for MutexGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the lock is taken out only here and in `with_lock`, which forgets the guard.
        unlock(unsafe { ManuallyDrop::take(&mut self.lock) });
    }
}

// SAFETY: a shared guard gives shared access to the value only.
unsafe impl<T: Sync> Sync for MutexGuard<'_, T> {}

impl<T> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MutexGuard")
    }
}

/// Condition variable that goes with [`Mutex`].
#[derive(Debug)]
pub struct Condvar(StdCondvar);

impl Condvar {
    /// Returns a new condition variable, for which no thread waits.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(StdCondvar::new())
    }

    /// Unlocks, waits for a notification (or returns early), locks again.
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        guard.with_lock(|lock| self.0.wait(lock).unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits like [`wait`](Self::wait), but at most for this time. Model checkers have no clock:
    /// there it returns at once.
    pub fn wait_for<'a, T>(&self, guard: MutexGuard<'a, T>, time: Duration) -> MutexGuard<'a, T> {
        guard.with_lock(|lock| {
            self.0.wait_timeout(lock, time).unwrap_or_else(PoisonError::into_inner).0
        })
    }

    /// Wakes one waiter.
    pub fn notify_one(&self) {
        self.0.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::{Condvar, Mutex};
    use std::panic::{self, AssertUnwindSafe};
    use std::thread;
    use std::time::Duration;

    #[test]
    fn one_thread_at_a_time_has_the_value() {
        let count = Mutex::new(0);
        let add = || (0..1000).for_each(|_| *count.lock() += 1);
        thread::scope(|scope| {
            [(); 4].map(|()| scope.spawn(add)).map(|thread| thread.join().unwrap())
        });
        assert_eq!(*count.lock(), 4000);
    }

    #[test]
    fn a_panic_unlocks_and_does_no_more() {
        let value = Mutex::new(1);
        let panicked = panic::catch_unwind(AssertUnwindSafe(|| {
            let _guard = value.lock();
            assert!(value.try_lock().is_none());
            panic!("while it is locked");
        }));
        assert!(panicked.is_err());
        assert_eq!(*value.lock(), 1);
        assert!(value.try_lock().is_some());
    }

    #[test]
    fn who_waits_lets_others_lock() {
        let (value, changed) = (Mutex::new(0), Condvar::new());
        thread::scope(|scope| {
            let mut guard = value.lock();
            scope.spawn(|| {
                *value.lock() = 1;
                changed.notify_one();
            });
            while *guard == 0 {
                guard = changed.wait(guard);
            }
        });
        assert_eq!(*changed.wait_for(value.lock(), Duration::ZERO), 1);
        assert!(value.try_lock().is_some());
    }
}
