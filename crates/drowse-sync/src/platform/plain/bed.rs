//! Sleeping on a word, with a lock and a condition variable.

use crate::atomic::AtomicU32;
use crate::wait_word::holds;
use crate::{Condvar, Mutex, mutant};
use std::time::Duration;

/// Futex in user space, for one word.
#[derive(Debug)]
pub(crate) struct Bed {
    lock: Mutex<()>,
    changed: Condvar,
}

impl Bed {
    pub(crate) fn new() -> Self {
        Self { lock: Mutex::new(()), changed: Condvar::new() }
    }

    pub(crate) fn sleep_while(&self, word: &AtomicU32, value: u32) {
        let mut guard = self.lock.lock();
        while holds(word, value) {
            guard = self.changed.wait(guard);
        }
    }

    /// Sleeps for at most `time`. May return early, and does so at once under the model checkers.
    pub(crate) fn sleep_for(&self, word: &AtomicU32, value: u32, time: Duration) {
        let guard = self.lock.lock();
        if holds(word, value) {
            drop(self.changed.wait_for(guard, time));
        }
    }

    pub(crate) fn wake(&self, _word: &AtomicU32) {
        // WAKE: `sleep_while` and `sleep_for` hold the lock from their look at the word until they
        // wait. So while this thread holds it no sleeper is between the two, and a sleeper that saw
        // the old value gets the notification.
        let guard = (!mutant::active("wait-word/wake-unlocked")).then(|| self.lock.lock());
        self.changed.notify_one();
        drop(guard);
    }
}
