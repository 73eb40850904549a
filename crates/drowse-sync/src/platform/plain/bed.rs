//! A lock and a condition variable keep those who sleep on a word.

use crate::atomic::AtomicU32;
use crate::wait_word::holds;
use crate::{Condvar, Mutex, mutant};
use std::time::Duration;

/// What a futex does, in user space.
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

    /// May return early, and does so at once under the model checkers.
    pub(crate) fn sleep_for(&self, word: &AtomicU32, value: u32, time: Duration) {
        let guard = self.lock.lock();
        if holds(word, value) {
            drop(self.changed.wait_for(guard, time));
        }
    }

    pub(crate) fn wake(&self, _word: &AtomicU32) {
        // WAKE: with the lock held no sleeper is between its look at the word and its wait, so
        // the notification reaches everyone who saw the old value.
        let guard = (!mutant::active("wait-word/wake-unlocked")).then(|| self.lock.lock());
        self.changed.notify_one();
        drop(guard);
    }
}
