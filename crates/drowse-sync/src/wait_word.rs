//! A word that a thread can sleep on.

use crate::atomic::{AtomicU32, Ordering};
use crate::platform::{Bed, Moment};
use crate::{Stopwatch, mutant};
use std::time::Duration;

/// A `u32` that one thread can sleep on until it changes.
///
/// On Linux this is a futex: four bytes, no lock, one system call to sleep and one to wake. Windows
/// has the like of it. Elsewhere, and under the model checkers, a mutex and a condition variable
/// stand behind it.
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
    /// A word with this value, nobody asleep on it.
    pub fn new(value: u32) -> Self {
        Self { word: AtomicU32::new(value), bed: Bed::new() }
    }

    /// Reads the word.
    #[inline]
    pub fn load(&self, ordering: Ordering) -> u32 {
        self.word.load(ordering)
    }

    /// Writes the word. Wakes nobody.
    #[inline]
    pub fn store(&self, value: u32, ordering: Ordering) {
        if cfg!(drowse_loom) {
            // Loom keeps no total order of the changes of a word. After a plain store that
            // overwrites another thread's exchange it would let us read what that exchange wrote,
            // which no machine does; a swap is told apart.
            self.word.swap(value, ordering);
            return;
        }
        self.word.store(value, ordering);
    }

    /// Writes the word and returns what it held. Wakes nobody.
    #[inline]
    pub fn swap(&self, value: u32, ordering: Ordering) -> u32 {
        self.word.swap(value, ordering)
    }

    /// Writes `new` if the word holds `current`; says whether it did. Wakes nobody.
    #[inline]
    #[must_use]
    pub fn replace(&self, current: u32, new: u32, ordering: Ordering) -> bool {
        // ORDERING: the caller's for success. A failure acquires: who finds the word changed by
        // another thread may go on to look for what that thread published. (No model shows what is
        // lost without: in each, who fails looks again, and acquires then.)
        self.word.compare_exchange(current, new, ordering, Ordering::Acquire).is_ok()
    }

    /// Sleeps as long as the word holds `value`. Never returns early.
    pub fn wait_while(&self, value: u32) {
        // WAKE: whoever changes the word calls `wake` afterwards. The system (or the lock)
        // re-checks the word in the same step in which it puts us to sleep, so a change before that
        // is never missed.
        self.bed.sleep_while(&self.word, value);
    }

    /// Sleeps as long as the word holds one of these values. It may change from one of them to
    /// another without a [`wake`](Self::wake).
    pub fn wait_while_any(&self, values: &[u32]) {
        loop {
            let now = now(&self.word);
            if !values.contains(&now) {
                return;
            }
            // WAKE: as for `wait_while`. One that is woken early finds out which of the values it
            // is now.
            self.bed.sleep_while(&self.word, now);
        }
    }

    /// Sleeps as long as the word holds `value`, but not much longer than `time`. Whether it does
    /// still hold it. Where there is no clock it may be over at once.
    pub fn wait_while_for(&self, value: u32, time: Duration) -> bool {
        let since = Stopwatch::start();
        while holds(&self.word, value) {
            let Some(left) = time.checked_sub(since.elapsed()).filter(|left| !left.is_zero()) else {
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

/// What the word holds, to one who sleeps as long as it does.
fn now(word: &AtomicU32) -> u32 {
    // ORDERING: acquire pairs with the waker's release: what it wrote before is seen after.
    word.load(mutant::weaken("wait-word/wait-relaxed", Ordering::Acquire))
}

pub(crate) fn holds(word: &AtomicU32, value: u32) -> bool {
    now(word) == value
}
