//! Wakers of tasks.

use super::core::Core;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::task::{RawWaker, RawWakerVTable, Waker};

/// Functions of all wakers, for every type of task. Each waker has a reference.
static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, drop);

/// Returns a waker for the running task, with the caller's reference.
///
/// # Safety
///
/// The caller must have a reference for as long as it uses the waker.
pub(super) unsafe fn borrowed(task: NonNull<Core>) -> ManuallyDrop<Waker> {
    // SAFETY: the functions keep the contract of a waker: they may be called from any thread, and
    // count references.
    ManuallyDrop::new(unsafe { Waker::from_raw(raw(task)) })
}

fn raw(task: NonNull<Core>) -> RawWaker {
    RawWaker::new(task.as_ptr().cast_const().cast(), &VTABLE)
}

/// # Safety
///
/// `data` must come from [`raw`].
unsafe fn core(data: *const ()) -> NonNull<Core> {
    // SAFETY: `raw` got it from a `NonNull`.
    unsafe { NonNull::new_unchecked(data.cast_mut().cast()) }
}

unsafe fn clone(data: *const ()) -> RawWaker {
    // SAFETY: the waker that is cloned has a reference.
    unsafe {
        let task = core(data);
        task.as_ref().state.add_reference();
        raw(task)
    }
}

unsafe fn wake(data: *const ()) {
    // SAFETY: the waker has a reference, and is consumed.
    unsafe { Core::wake(core(data), true) };
}

unsafe fn wake_by_ref(data: *const ()) {
    // SAFETY: the waker has a reference, and keeps it.
    unsafe { Core::wake(core(data), false) };
}

unsafe fn drop(data: *const ()) {
    // SAFETY: the waker has a reference, and is consumed.
    unsafe { Core::drop_reference(core(data)) };
}
