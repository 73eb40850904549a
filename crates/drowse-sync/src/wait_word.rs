//! A word that a thread can sleep on.

use crate::atomic::{AtomicU32, Ordering};
use crate::platform::{Bed, Moment};
use crate::{Stopwatch, mutant};
use std::time::Duration;

/// A `u32` on which a thread can sleep until it changes. At most one thread at a time.
///
/// On Linux this is a futex: four bytes, no lock, one system call to sleep and one to wake. Windows
/// has an equivalent. Elsewhere, and in models, it is built on a mutex and a condition variable.
///
/// ```
/// use drowse_sync::{Arc, WaitWord, atomic::Ordering};
///
/// let word = Arc::new(WaitWord::new(0));
/// let waker = std::thread::spawn({
///     let word = Arc::clone(&word);
///     move || {
///         word.store(1, Ordering::Release);
///         word.wake();
///     }
/// });
/// word.wait_while(0);
/// assert_eq!(word.load(Ordering::Acquire), 1);
/// waker.join().unwrap();
/// ```
#[derive(Debug)]
pub struct WaitWord {
    word: AtomicU32,
    bed: Bed,
}

impl WaitWord {
    /// Returns a word with this value, on which no thread sleeps.
    pub fn new(value: u32) -> Self {
        Self { word: AtomicU32::new(value), bed: Bed::new() }
    }

    /// Reads the word.
    #[inline]
    pub fn load(&self, ordering: Ordering) -> u32 {
        self.word.load(ordering)
    }

    /// Writes the word. Wakes no thread.
    #[inline]
    pub fn store(&self, value: u32, ordering: Ordering) {
        if cfg!(drowse_loom) {
            // Loom keeps no total order of the changes of a word. After a plain store that
            // overwrites another thread's exchange, it would let this thread read what that
            // exchange wrote, which no machine does. A swap does not have this problem.
            self.word.swap(value, ordering);
            return;
        }
        self.word.store(value, ordering);
    }

    /// Writes the word and returns its old value. Wakes no thread.
    #[inline]
    pub fn swap(&self, value: u32, ordering: Ordering) -> u32 {
        self.word.swap(value, ordering)
    }

    /// Writes `new` if the word holds `current`; returns `true` if it did. Wakes no thread.
    #[inline]
    #[must_use]
    pub fn replace(&self, current: u32, new: u32, ordering: Ordering) -> bool {
        // ORDERING: success: the caller's. Failure acquires: a caller that finds the word changed
        // by another thread may go on to look for what that thread published. (No model shows what
        // is lost if it does not: in each model, a thread that fails looks again, and acquires
        // then.)
        self.word.compare_exchange(current, new, ordering, Ordering::Acquire).is_ok()
    }

    /// Sleeps as long as the word holds `value`. Never returns early.
    pub fn wait_while(&self, value: u32) {
        // WAKE: the thread that changes the word calls `wake` afterwards. The system (or the lock
        // of `Bed`) re-checks the word in the same step in which it puts this thread to sleep, so a
        // change before that is never missed.
        self.bed.sleep_while(&self.word, value);
    }

    /// Sleeps as long as the word holds one of these values. The word may change from one of them
    /// to another without a [`wake`](Self::wake).
    pub fn wait_while_any(&self, values: &[u32]) {
        loop {
            let now = now(&self.word);
            if !values.contains(&now) {
                return;
            }
            // WAKE: as for `wait_while`. After an early wake-up the loop reads the word again.
            self.bed.sleep_while(&self.word, now);
        }
    }

    /// Sleeps as long as the word holds `value`, but not much longer than `time`. Returns `true` if
    /// the word still holds it. Where there is no clock the wait may end at once.
    pub fn wait_while_for(&self, value: u32, time: Duration) -> bool {
        let since = Stopwatch::start();
        while holds(&self.word, value) {
            let Some(left) = time.checked_sub(since.elapsed()).filter(|left| !left.is_zero())
            else {
                return true;
            };
            self.bed.sleep_for(&self.word, value, left);
            if !Moment::TIME_PASSES {
                return holds(&self.word, value);
            }
        }
        false
    }

    /// Wakes the thread asleep on the word, if there is one. Call after changing the word.
    pub fn wake(&self) {
        self.bed.wake(&self.word);
    }
}

/// Reads the word for a thread that sleeps until it changes.
fn now(word: &AtomicU32) -> u32 {
    // ORDERING: acquire pairs with the release with which the waker changes the word (`store`,
    // `swap` or `replace`). Relaxed would let the woken thread miss what the waker wrote before.
    word.load(mutant::weaken("wait-word/wait-relaxed", Ordering::Acquire))
}

pub(crate) fn holds(word: &AtomicU32, value: u32) -> bool {
    now(word) == value
}
