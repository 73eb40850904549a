//! Panics: caught where a job ends, carried to whoever waits, never let loose over shared stack frames.

use std::any::Any;
use std::panic::{self, AssertUnwindSafe};
use std::{process, thread};

/// What a panic carries.
pub(crate) type Payload = Box<dyn Any + Send>;

/// Calls `f` and returns its panic, if any, as a value.
#[inline(always)]
pub(crate) fn halt_unwinding<R>(f: impl FnOnce() -> R) -> thread::Result<R> {
    panic::catch_unwind(AssertUnwindSafe(f))
}

/// Goes on with a panic that was halted.
pub(crate) fn resume_unwinding(payload: Payload) -> ! {
    panic::resume_unwind(payload)
}

/// Ends the process if it is dropped: unwinding past this point would free what other threads still use.
/// Forget it once the danger is over.
pub(crate) struct AbortIfPanic;

impl Drop for AbortIfPanic {
    fn drop(&mut self) {
        eprintln!("drowse: a panic reached a place that must not unwind; aborting");
        process::abort();
    }
}
