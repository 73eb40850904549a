//! What all tasks have in common, and what can be done with one of unknown type.

use super::state::{Cancel, Dropped, State};
use super::waiter::Waiter;
use crate::job::{JobHeader, JobRef};
use crate::unwind::{self, Payload};
use drowse_sync::Lifetime;
use drowse_sync::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::thread;

/// What all tasks have, whatever their bodies are. Comes first in each.
#[repr(C)]
#[derive(Debug)]
pub(super) struct Core {
    header: JobHeader,
    pub(super) state: State,
    vtable: &'static Vtable,
    /// Whose place this is, the state says.
    waiter: UnsafeCell<Option<Waiter>>,
    pub(super) lifetime: Lifetime,
}

/// What depends on the body.
///
/// Each function must be given a task whose vtable this is. `offer`: the reference must be the
/// caller's. `step`: the caller must have the body. `fail`: the body or the result. `drop_body`: a
/// claimed body. `take_result`, `drop_result`: the result. `free`: the last reference.
#[derive(Debug)]
pub(super) struct Vtable {
    pub(super) offer: unsafe fn(NonNull<Core>, JobRef),
    pub(super) drop_body: unsafe fn(NonNull<Core>),
    /// Runs a step. Returns `true` if it was the last: then its result is in the body's place.
    pub(super) step: unsafe fn(NonNull<Core>) -> bool,
    /// Drops what is in the body's place, and puts a panic there as the result.
    pub(super) fail: unsafe fn(NonNull<Core>, Payload),
    pub(super) take_result: unsafe fn(NonNull<Core>, *mut ()),
    pub(super) drop_result: unsafe fn(NonNull<Core>),
    pub(super) free: unsafe fn(NonNull<Core>),
    pub(super) begins_once: bool,
}

impl Core {
    pub(super) fn new(header: JobHeader, vtable: &'static Vtable) -> Self {
        let (state, waiter, lifetime) = (State::new(), UnsafeCell::new(None), Lifetime::that_must_end());
        Self { header, state, vtable, waiter, lifetime }
    }

    /// A reference, to be put into a queue.
    ///
    /// # Safety
    ///
    /// It must be the caller's.
    pub(super) unsafe fn job(this: NonNull<Self>) -> JobRef {
        // SAFETY: the header comes first, and `execute` casts it back. The task is there as long as
        // there are references.
        unsafe { JobRef::new(this.cast()) }
    }

    /// # Safety
    ///
    /// The caller must have a reference. If it `gives` it, it is gone afterwards.
    pub(super) unsafe fn wake(this: NonNull<Self>, gives: bool) {
        // SAFETY: the caller's promise; and what is offered has a reference of its own then.
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
    /// The reference must be the caller's.
    unsafe fn offer(this: NonNull<Self>) {
        // SAFETY: the caller's promise.
        unsafe { (this.as_ref().vtable.offer)(this, Self::job(this)) };
    }

    /// # Safety
    ///
    /// It must be the caller's.
    pub(super) unsafe fn drop_reference(this: NonNull<Self>) {
        // SAFETY: the caller's promise; and the last one frees it.
        unsafe {
            this.as_ref().lifetime.used();
            match this.as_ref().state.drop_reference() {
                Dropped::NotLast => (),
                Dropped::Last => (this.as_ref().vtable.free)(this),
                Dropped::Offer => Self::offer(this),
            }
        }
    }

    /// Whether that has, or will have, an effect.
    ///
    /// # Safety
    ///
    /// The caller must have a reference.
    pub(super) unsafe fn cancel(this: NonNull<Self>) -> bool {
        // SAFETY: the caller's promise; and who claims a body has it.
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

    /// Puts a waiter into its place: what `next` makes of the one that was there. False if the task
    /// is done.
    ///
    /// # Safety
    ///
    /// For the handle.
    pub(super) unsafe fn leave_waiter(&self, next: impl FnOnce(Option<Waiter>) -> Waiter) -> bool {
        if !self.state.take_place() {
            return false;
        }
        // SAFETY: the place is the handle's.
        let before = unsafe { self.waiter() };
        let waiter = next(before);
        // SAFETY: it still is.
        self.waiter.with_mut(|place| unsafe { *place = Some(waiter) });
        let is_left = self.state.leave_waiter();
        if !is_left {
            // SAFETY: it still is.
            drop(unsafe { self.waiter() });
        }
        is_left
    }

    /// Drops the waiter, if there is one, unless it belongs to whoever has ended the task.
    ///
    /// # Safety
    ///
    /// For the handle.
    pub(super) unsafe fn drop_waiter(&self) {
        if self.state.take_place() {
            // SAFETY: the place is the handle's.
            unwind::drop_quietly(unsafe { self.waiter() });
        }
    }

    /// # Safety
    ///
    /// For the one whose place it is.
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
    /// For the handle of a task that is done. `T` must be that of its result, which is gone then.
    pub(super) unsafe fn take_result<T>(this: NonNull<Self>) -> thread::Result<T> {
        let mut result = MaybeUninit::<thread::Result<T>>::uninit();
        // SAFETY: the caller's promise; the function writes what it has read.
        unsafe {
            (this.as_ref().vtable.take_result)(this, result.as_mut_ptr().cast());
            result.assume_init()
        }
    }

    /// # Safety
    ///
    /// For the handle of a task that is done.
    pub(super) unsafe fn drop_result(this: NonNull<Self>) {
        // SAFETY: the caller's promise.
        unsafe { (this.as_ref().vtable.drop_result)(this) };
    }
}
