//! Wakers of tasks.

use super::core::Core;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::task::{RawWaker, RawWakerVTable, Waker};

/// Each waker has a reference. They are all alike, whatever the task is.
static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, drop);

/// The waker of a task that runs, with that one's reference.
///
/// # Safety
///
/// The caller must have a reference for as long as it uses this.
pub(super) unsafe fn borrowed(task: NonNull<Core>) -> ManuallyDrop<Waker> {
    // SAFETY: the functions keep the contract of a waker: they may be called from anywhere, and
    // count references.
    ManuallyDrop::new(unsafe { Waker::from_raw(raw(task)) })
}

fn raw(task: NonNull<Core>) -> RawWaker {
    RawWaker::new(task.as_ptr().cast_const().cast(), &VTABLE)
}

/// # Safety
///
/// It must come from [`raw`].
unsafe fn core(data: *const ()) -> NonNull<Core> {
    // SAFETY: it was one.
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
    // SAFETY: the waker has a reference, and is gone.
    unsafe { Core::wake(core(data), true) };
}

unsafe fn wake_by_ref(data: *const ()) {
    // SAFETY: the waker has a reference, and keeps it.
    unsafe { Core::wake(core(data), false) };
}

unsafe fn drop(data: *const ()) {
    // SAFETY: the waker has a reference, and is gone.
    unsafe { Core::drop_reference(core(data)) };
}
