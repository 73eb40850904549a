//! Handle of a task, which gets its result.

use super::core::Core;
use super::waiter::Waiter;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::task::Waker;
use std::thread;

/// The only handle of a task, with a reference.
#[derive(Debug)]
pub(crate) struct Handle<T> {
    core: NonNull<Core>,
    result: PhantomData<fn() -> T>,
}

// SAFETY: what it shares with other threads is atomic, or passes from one to another by `State`;
// and the result, which the handle gets in the end, is `Send`.
unsafe impl<T: Send> Send for Handle<T> {}
// SAFETY: a shared handle can only read the state, and cancel.
unsafe impl<T: Send> Sync for Handle<T> {}

impl<T> Handle<T> {
    /// # Safety
    ///
    /// Only once for a new task, whose result is a `T`.
    pub(super) unsafe fn new(core: NonNull<Core>) -> Self {
        Self { core, result: PhantomData }
    }

    fn core(&self) -> &Core {
        // SAFETY: the handle has a reference.
        unsafe { self.core.as_ref() }
    }

    pub(crate) fn is_done(&self) -> bool {
        self.core().state.is_done()
    }

    /// Sets the waiter, in place of the previous one. Returns `true` if it will be told, and
    /// `false` if the task is done.
    pub(crate) fn is_awaited_by(&mut self, waiter: Waiter) -> bool {
        // SAFETY: this is the handle.
        unsafe { self.core().leave_waiter(|_| waiter) }
    }

    /// Sets a waker as the waiter, unless the previous waiter already wakes that task. Returns
    /// `true` if it will be woken, and `false` if the task is done.
    pub(crate) fn is_awaited_by_task(&mut self, waker: &Waker) -> bool {
        let next = |before| match before {
            Some(Waiter::Task(before)) if before.will_wake(waker) => Waiter::Task(before),
            _ => Waiter::Task(waker.clone()),
        };
        // SAFETY: this is the handle.
        unsafe { self.core().leave_waiter(next) }
    }

    /// Cancels the task. Returns `true` if this has, or will have, an effect.
    pub(crate) fn cancel(&self) -> bool {
        // SAFETY: the handle has a reference.
        unsafe { Core::cancel(self.core) }
    }

    /// # Safety
    ///
    /// The task must be [done](Self::is_done), and the result not taken before.
    pub(crate) unsafe fn take_result(&mut self) -> thread::Result<T> {
        // SAFETY: the caller's promise; this is the handle.
        unsafe { Core::take_result(self.core) }
    }
}

impl<T> Drop for Handle<T> {
    fn drop(&mut self) {
        // SAFETY: this is the handle, which is not used after this, and has a reference.
        unsafe {
            self.core().drop_waiter();
            if self.core().state.let_go() {
                Core::drop_result(self.core);
            }
            Core::drop_reference(self.core);
        }
    }
}
