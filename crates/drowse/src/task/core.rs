//! Part that all tasks have in common, and operations on tasks of unknown type.

use super::state::{Cancel, Dropped, State};
use super::waiter::Waiter;
use crate::job::{JobHeader, JobRef};
use crate::unwind::{self, Payload};
use drowse_sync::Lifetime;
use drowse_sync::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::thread;

/// Part that all tasks have in common. The first field of each task.
#[repr(C)]
#[derive(Debug)]
pub(super) struct Core {
    header: JobHeader,
    pub(super) state: State,
    vtable: &'static Vtable,
    /// Belongs to the handle or to the thread that ends the task, as `state` says.
    waiter: UnsafeCell<Option<Waiter>>,
    pub(super) lifetime: Lifetime,
}

/// Functions that depend on the body.
///
/// Each function must be called with a task that has this vtable. In addition, the caller must
/// have: for `offer`, the reference; for `step`, the body; for `fail`, the body or the result; for
/// `drop_body`, a claimed body; for `take_result` and `drop_result`, the result; for `free`, the
/// last reference.
#[derive(Debug)]
pub(super) struct Vtable {
    pub(super) offer: unsafe fn(NonNull<Core>, JobRef),
    pub(super) drop_body: unsafe fn(NonNull<Core>),
    /// Runs a step. Returns `true` if it was the last: then its result is in the body's place.
    pub(super) step: unsafe fn(NonNull<Core>) -> bool,
    /// Drops the body or the result, and puts a panic there as the result.
    pub(super) fail: unsafe fn(NonNull<Core>, Payload),
    pub(super) take_result: unsafe fn(NonNull<Core>, *mut ()),
    pub(super) drop_result: unsafe fn(NonNull<Core>),
    pub(super) free: unsafe fn(NonNull<Core>),
    pub(super) begins_once: bool,
}

impl Core {
    pub(super) fn new(header: JobHeader, vtable: &'static Vtable) -> Self {
        let (state, waiter, lifetime) =
            (State::new(), UnsafeCell::new(None), Lifetime::that_must_end());
        Self { header, state, vtable, waiter, lifetime }
    }

    /// Turns the caller's reference into a [`JobRef`] for a queue.
    ///
    /// # Safety
    ///
    /// The caller must have a reference, which it gives away.
    pub(super) unsafe fn job(this: NonNull<Self>) -> JobRef {
        // SAFETY: the header comes first, and `execute` casts it back. The task is alive as long as
        // there are references.
        unsafe { JobRef::new(this.cast()) }
    }

    /// # Safety
    ///
    /// The caller must have a reference. If it `gives` it, it must not use it afterwards.
    pub(super) unsafe fn wake(this: NonNull<Self>, gives: bool) {
        // SAFETY: the caller's promise; and an offered task has a reference for the queue.
        unsafe {
            if this.as_ref().state.wake(gives) {
                Self::offer(this);
            } else if gives {
                Self::drop_reference(this);
            }
        }
    }

    /// # Safety
    ///
    /// The caller must have a reference, which it gives away.
    unsafe fn offer(this: NonNull<Self>) {
        // SAFETY: the caller's promise.
        unsafe { (this.as_ref().vtable.offer)(this, Self::job(this)) };
    }

    /// # Safety
    ///
    /// The caller must have the reference that is dropped.
    pub(super) unsafe fn drop_reference(this: NonNull<Self>) {
        // SAFETY: the caller's promise; the thread that drops the last reference frees the task.
        unsafe {
            this.as_ref().lifetime.used();
            match this.as_ref().state.drop_reference() {
                Dropped::NotLast => (),
                Dropped::Last => (this.as_ref().vtable.free)(this),
                Dropped::Offer => Self::offer(this),
            }
        }
    }

    /// Cancels the task. Returns `true` if this has, or will have, an effect.
    ///
    /// # Safety
    ///
    /// The caller must have a reference.
    pub(super) unsafe fn cancel(this: NonNull<Self>) -> bool {
        // SAFETY: the caller's promise; and a thread that claims a body has it.
        unsafe {
            let vtable = this.as_ref().vtable;
            match this.as_ref().state.cancel(vtable.begins_once) {
                Cancel::TooLate => return false,
                Cancel::Told => (),
                Cancel::Claimed => (vtable.drop_body)(this),
                Cancel::Offer => Self::offer(this),
            }
        }
        true
    }

    /// Puts a waiter into its place: the result of `next`, which gets the previous one. Returns
    /// `false` if the task is done.
    ///
    /// # Safety
    ///
    /// Only the handle may call this.
    pub(super) unsafe fn leave_waiter(&self, next: impl FnOnce(Option<Waiter>) -> Waiter) -> bool {
        if !self.state.take_place() {
            return false;
        }
        // SAFETY: the place is the handle's.
        let before = unsafe { self.waiter() };
        let waiter = next(before);
        // SAFETY: the place is still the handle's.
        self.waiter.with_mut(|place| unsafe { *place = Some(waiter) });
        let is_left = self.state.leave_waiter();
        if !is_left {
            // SAFETY: the place is still the handle's, as the task is done.
            drop(unsafe { self.waiter() });
        }
        is_left
    }

    /// Drops the waiter, if there is one, unless it belongs to the thread that has ended the task.
    ///
    /// # Safety
    ///
    /// Only the handle may call this.
    pub(super) unsafe fn drop_waiter(&self) {
        if self.state.take_place() {
            // SAFETY: the place is the handle's.
            unwind::drop_quietly(unsafe { self.waiter() });
        }
    }

    /// # Safety
    ///
    /// The place must be the caller's.
    pub(super) unsafe fn waiter(&self) -> Option<Waiter> {
        self.lifetime.used();
        // SAFETY: the caller's promise.
        self.waiter.with_mut(|place| unsafe { (*place).take() })
    }

    pub(super) fn begins_once(&self) -> bool {
        self.vtable.begins_once
    }

    /// Runs a step: see [`Vtable`].
    ///
    /// # Safety
    ///
    /// The caller must have the body.
    pub(super) unsafe fn step(this: NonNull<Self>) -> bool {
        // SAFETY: the caller's promise.
        unsafe { (this.as_ref().vtable.step)(this) }
    }

    /// Ends the task with a panic: see [`Vtable`].
    ///
    /// # Safety
    ///
    /// The caller must have the body, or the result.
    pub(super) unsafe fn fail(this: NonNull<Self>, payload: Payload) {
        // SAFETY: the caller's promise.
        unsafe { (this.as_ref().vtable.fail)(this, payload) };
    }

    /// # Safety
    ///
    /// Only the handle of a task that is done may call this, once, with the type of its result.
    pub(super) unsafe fn take_result<T>(this: NonNull<Self>) -> thread::Result<T> {
        let mut result = MaybeUninit::<thread::Result<T>>::uninit();
        // SAFETY: the caller's promise; `take_result` initializes the result.
        unsafe {
            (this.as_ref().vtable.take_result)(this, result.as_mut_ptr().cast());
            result.assume_init()
        }
    }

    /// # Safety
    ///
    /// Only the handle of a task that is done may call this, once.
    pub(super) unsafe fn drop_result(this: NonNull<Self>) {
        // SAFETY: the caller's promise.
        unsafe { (this.as_ref().vtable.drop_result)(this) };
    }
}
