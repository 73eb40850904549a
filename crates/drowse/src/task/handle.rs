//! The end of a task that its result comes out of.

use super::core::Core;
use super::waiter::Waiter;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::task::Waker;
use std::thread;

/// The one handle of a task, with a reference.
#[derive(Debug)]
pub(crate) struct Handle<T> {
    core: NonNull<Core>,
    result: PhantomData<fn() -> T>,
}

// SAFETY: what it shares with others is atomic, or changes hands as the state says; and the result,
// which is the handle's in the end, is `Send`.
unsafe impl<T: Send> Send for Handle<T> {}
// SAFETY: a shared one does no more than to look at the state, and to cancel.
unsafe impl<T: Send> Sync for Handle<T> {}

impl<T> Handle<T> {
    /// # Safety
    ///
    /// For a new task whose result is a `T`: once.
    pub(super) unsafe fn new(core: NonNull<Core>) -> Self {
        Self { core, result: PhantomData }
    }

    fn core(&self) -> &Core {
        // SAFETY: we have a reference.
        unsafe { self.core.as_ref() }
    }

    pub(crate) fn is_done(&self) -> bool {
        self.core().state.is_done()
    }

    /// Whether the waiter will be told. False if the task is done. Takes the place of the one
    /// before.
    pub(crate) fn is_awaited_by(&mut self, waiter: Waiter) -> bool {
        // SAFETY: we are the handle.
        unsafe { self.core().leave_waiter(|_| waiter) }
    }

    /// The same for a task that has been left a waiter before, maybe the same one.
    pub(crate) fn is_awaited_by_task(&mut self, waker: &Waker) -> bool {
        let next = |before| match before {
            Some(Waiter::Task(before)) if before.will_wake(waker) => Waiter::Task(before),
            _ => Waiter::Task(waker.clone()),
        };
        // SAFETY: as above.
        unsafe { self.core().leave_waiter(next) }
    }

    /// Whether that has, or will have, an effect.
    pub(crate) fn cancel(&self) -> bool {
        // SAFETY: we have a reference.
        unsafe { Core::cancel(self.core) }
    }

    /// # Safety
    ///
    /// The task must be [done](Self::is_done), and the result not taken before.
    pub(crate) unsafe fn take_result(&mut self) -> thread::Result<T> {
        // SAFETY: the caller's promise; we are the handle.
        unsafe { Core::take_result(self.core) }
    }
}

impl<T> Drop for Handle<T> {
    fn drop(&mut self) {
        // SAFETY: we are the handle, for the last time, and have a reference.
        unsafe {
            self.core().drop_waiter();
            if self.core().state.let_go() {
                Core::drop_result(self.core);
            }
            Core::drop_reference(self.core);
        }
    }
}
