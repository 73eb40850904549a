//! Whoever waits for a task.

use crate::latch::CountLatch;
use crate::unwind;
use std::task::Waker;

/// Told once, when the task is done.
#[derive(Debug)]
pub(crate) enum Waiter {
    /// Another task, of whatever executor.
    Task(Waker),
    /// A thread that waits for this latch, until it is set, come what may.
    Thread(*const CountLatch),
}

// SAFETY: the latch is there until it is set, and may be set from anywhere.
unsafe impl Send for Waiter {}

impl Waiter {
    pub(super) fn tell(self) {
        match self {
            // Somebody else's code, in the middle of ours: its panic has been reported, and ends
            // here.
            Self::Task(waker) => {
                if let Err(payload) = unwind::halt_unwinding(|| waker.wake()) {
                    unwind::drop_quietly(payload);
                }
            }
            // SAFETY: whoever waits does so until this has set its latch.
            Self::Thread(latch) => unsafe { CountLatch::set(latch) },
        }
    }
}
