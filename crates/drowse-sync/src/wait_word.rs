//! A word that a thread can sleep on.

use crate::atomic::{AtomicU32, Ordering};
use crate::{Stopwatch, mutant};
use std::time::Duration;

/// A `u32` that one thread can sleep on until it changes.
///
/// On Linux this is a futex: four bytes, no lock, one system call to sleep and one to wake.
/// Elsewhere, and under the model checkers, a mutex and a condition variable stand behind it.
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
        // another thread may go on to look for what that thread published.
        let failure = mutant::weaken("wait-word/replace-relaxed", Ordering::Acquire);
        self.word.compare_exchange(current, new, ordering, failure).is_ok()
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
    /// still hold it. The model checkers know no time: there it may be over at once.
    pub fn wait_while_for(&self, value: u32, time: Duration) -> bool {
        let since = Stopwatch::start();
        while holds(&self.word, value) {
            let Some(left) = time.checked_sub(since.elapsed()).filter(|left| !left.is_zero()) else {
                return true;
            };
            self.bed.sleep_for(&self.word, value, left);
            if cfg!(any(drowse_loom, drowse_shuttle)) {
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

fn holds(word: &AtomicU32, value: u32) -> bool {
    now(word) == value
}

#[cfg(all(target_os = "linux", not(any(drowse_loom, drowse_shuttle))))]
use futex::Bed;
#[cfg(not(all(target_os = "linux", not(any(drowse_loom, drowse_shuttle)))))]
use locked::Bed;

#[cfg(all(target_os = "linux", not(any(drowse_loom, drowse_shuttle))))]
mod futex {
    use super::{AtomicU32, holds};
    use std::ptr;
    use std::time::Duration;

    /// Blocks if the word holds `value`, until somebody wakes the thread, or it is time.
    fn wait(word: &AtomicU32, value: u32, timeout: Option<&libc::timespec>) {
        // SAFETY: `word` is a live, aligned four-byte location for the length of the call, and
        // FUTEX_WAIT only reads it, and the timeout, where null means none. Errors (the value
        // differs, a signal came, time is up) need no handling: the caller looks again.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                ptr::from_ref(word),
                libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
                value,
                timeout.map_or(ptr::null(), ptr::from_ref),
            );
        }
    }

    /// The kernel keeps the sleepers.
    #[derive(Debug)]
    pub(super) struct Bed;

    impl Bed {
        pub(super) const fn new() -> Self {
            Bed
        }

        pub(super) fn sleep_while(&self, word: &AtomicU32, value: u32) {
            while holds(word, value) {
                wait(word, value, None);
            }
        }

        /// May return early.
        pub(super) fn sleep_for(&self, word: &AtomicU32, value: u32, time: Duration) {
            let seconds = time.as_secs().try_into().unwrap_or(libc::time_t::MAX);
            // Below a billion, so it fits whatever the field's type is.
            let timeout = libc::timespec { tv_sec: seconds, tv_nsec: time.subsec_nanos() as _ };
            wait(word, value, Some(&timeout));
        }

        pub(super) fn wake(&self, word: &AtomicU32) {
            // SAFETY: FUTEX_WAKE takes the address as a key and never reads or writes through it.
            unsafe {
                libc::syscall(
                    libc::SYS_futex,
                    ptr::from_ref(word),
                    libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
                    1,
                );
            }
        }
    }
}

#[cfg(not(all(target_os = "linux", not(any(drowse_loom, drowse_shuttle)))))]
mod locked {
    use super::{AtomicU32, holds};
    use crate::{Condvar, Mutex, mutant};
    use std::time::Duration;

    /// What a futex does, in user space.
    #[derive(Debug)]
    pub(super) struct Bed {
        lock: Mutex<()>,
        changed: Condvar,
    }

    impl Bed {
        pub(super) fn new() -> Self {
            Self { lock: Mutex::new(()), changed: Condvar::new() }
        }

        pub(super) fn sleep_while(&self, word: &AtomicU32, value: u32) {
            let mut guard = self.lock.lock();
            while holds(word, value) {
                guard = self.changed.wait(guard);
            }
        }

        /// May return early, and does so at once under the model checkers.
        pub(super) fn sleep_for(&self, word: &AtomicU32, value: u32, time: Duration) {
            let guard = self.lock.lock();
            if holds(word, value) {
                drop(self.changed.wait_for(guard, time));
            }
        }

        pub(super) fn wake(&self, _word: &AtomicU32) {
            // WAKE: with the lock held no sleeper is between its look at the word and its wait, so
            // the notification reaches everyone who saw the old value.
            let guard = (!mutant::active("wait-word/wake-unlocked")).then(|| self.lock.lock());
            self.changed.notify_one();
            drop(guard);
        }
    }
}
