//! Waiters for the end of a task.

use crate::latch::CountLatch;
use crate::unwind;
use std::task::Waker;

/// Thread or task that is told once, when the task is done.
#[derive(Debug)]
pub(crate) enum Waiter {
    /// Task of any executor.
    Task(Waker),
    /// Latch of a thread that does not leave its wait before the latch is set.
    Thread(*const CountLatch),
}

// SAFETY: the latch lives until it is set, and may be set from any thread.
unsafe impl Send for Waiter {}

impl Waiter {
    pub(super) fn tell(self) {
        match self {
            // This calls foreign code: its panic has been reported by the panic hook, and ends
            // here.
            Self::Task(waker) => {
                if let Err(payload) = unwind::halt_unwinding(|| waker.wake()) {
                    unwind::drop_quietly(payload);
                }
            }
            // SAFETY: the waiting thread keeps the latch until it is set here.
            Self::Thread(latch) => unsafe { CountLatch::set(latch) },
        }
    }
}
