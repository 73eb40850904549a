//! Panics: caught where a job ends, carried to the waiting thread, never unwinding through shared
//! stack frames.

use drowse_sync::say;
use std::any::Any;
use std::panic::{self, AssertUnwindSafe};
use std::{mem, process, thread};

/// Payload of a panic.
pub(crate) type Payload = Box<dyn Any + Send>;

/// Calls `f` and returns its panic, if any, as a value.
#[inline(always)]
pub(crate) fn halt_unwinding<R>(f: impl FnOnce() -> R) -> thread::Result<R> {
    panic::catch_unwind(AssertUnwindSafe(f))
}

/// Continues a panic that `halt_unwinding` has caught.
#[cold]
#[inline(never)]
pub(crate) fn resume_unwinding(payload: Payload) -> ! {
    panic::resume_unwind(payload)
}

/// Drops a value of the user's where its panic must not replace another panic, or must not unwind
/// at all. The panic hook has reported such a panic; it ends here. Its payload is dropped quietly,
/// too.
#[inline]
pub(crate) fn drop_quietly<T>(value: T) {
    if mem::needs_drop::<T>() {
        if let Err(payload) = halt_unwinding(|| drop(value)) {
            drop_panic(payload);
        }
    }
}

/// Drops a result of the user's code, as [`drop_quietly`] would. Small if `R` needs no drop.
#[inline]
pub(crate) fn drop_result<R>(result: thread::Result<R>) {
    match result {
        Ok(result) => drop_quietly(result),
        Err(payload) => drop_panic(payload),
    }
}

/// Drops the payload of a panic that ends here, quietly.
#[inline]
pub(crate) fn drop_panic(payload: Payload) {
    drop_payload(payload, MOST_PAYLOADS);
}

/// Number of payloads that are dropped in a row after the first: a payload may panic when it is
/// dropped, with a payload that panics too, and so on. The next one is leaked.
const MOST_PAYLOADS: u32 = 8;

/// Drops a payload, and then up to `more` of those that it panics with.
#[cold]
#[inline(never)]
fn drop_payload(payload: Payload, more: u32) {
    match halt_unwinding(|| drop(payload)) {
        Err(next) if more > 0 => drop_payload(next, more - 1),
        dropped => mem::forget(dropped),
    }
}

/// Calls `f`, and aborts the process if it unwinds: that would free what other threads still use,
/// or leave a thread waiting for ever. A function that lends a part of its frame does so in here.
#[inline(always)]
pub(crate) fn or_abort<R>(f: impl FnOnce() -> R) -> R {
    let abort = AbortIfPanic;
    let result = f();
    mem::forget(abort);
    result
}

/// Guard that aborts the process when it is dropped.
pub(crate) struct AbortIfPanic;

impl Drop for AbortIfPanic {
    /// Inlined, so that the compiler sees in each place that nothing unwinds past it.
    #[inline(always)]
    fn drop(&mut self) {
        abort();
    }
}

#[cold]
#[inline(never)]
fn abort() -> ! {
    say(format_args!("drowse: a panic reached a place that must not unwind; aborting"));
    process::abort();
}
