//! The allocation of a task.

use super::body::Body;
use super::handle::Handle;
use super::state::{Begin, Cancel, Dropped, Rest, State};
use super::waiter::Waiter;
use super::{Cancelled, waker};
use crate::job::{JobHeader, JobRef};
use crate::unwind::{self, Payload};
use drowse_sync::Lifetime;
use drowse_sync::cell::UnsafeCell;
use std::mem::{self, MaybeUninit};
use std::pin::Pin;
use std::ptr::{self, NonNull};
use std::task::{Context, Poll};
use std::thread;

/// Where a task is at home: in a pool, or in a scope.
pub(crate) trait Home: Send + Sync {
    /// Offers the task to the workers. `again`: its last step has run just now, and others should
    /// have their turn.
    ///
    /// # Safety
    ///
    /// The reference must not be in any queue. It keeps the home, until it is in one.
    unsafe fn offer(this: *const Self, job: JobRef, again: bool);

    /// Whether a body that has the next step before it should be dropped instead.
    fn is_off(&self) -> bool;

    /// Calls `step`, on a worker.
    fn run<R>(&self, step: impl FnOnce() -> R) -> R;

    /// The body is gone, and what it has borrowed may go too. The last use of the home, which may
    /// be gone when this returns. `in_run`: on a worker that has nothing else to do for it.
    ///
    /// # Safety
    ///
    /// To be called once.
    unsafe fn ended(&self, in_run: bool);
}

/// What all tasks have, whatever their bodies are. Comes first in each.
#[repr(C)]
#[derive(Debug)]
pub(super) struct Core {
    header: JobHeader,
    pub(super) state: State,
    vtable: &'static Vtable,
    /// Whose place this is, the state says.
    waiter: UnsafeCell<Option<Waiter>>,
    lifetime: Lifetime,
}

/// What depends on the body.
#[derive(Debug)]
struct Vtable {
    offer: unsafe fn(NonNull<Core>, JobRef),
    drop_body: unsafe fn(NonNull<Core>),
    take_result: unsafe fn(NonNull<Core>, *mut ()),
    drop_result: unsafe fn(NonNull<Core>),
    free: unsafe fn(NonNull<Core>),
    begins_once: bool,
}

#[repr(C)]
struct Cell<B: Body, H> {
    core: Core,
    home: H,
    stage: UnsafeCell<Stage<B>>,
}

enum Stage<B: Body> {
    Body(B),
    Result(thread::Result<B::Output>),
    Gone,
}

/// A new task, with its handle, and the reference that has to be offered to somebody.
///
/// # Safety
///
/// What the body borrows must be there until its home is told that it has [ended](Home::ended).
/// The body and its result must be able to cross to other threads.
pub(crate) unsafe fn new<B: Body, H: Home>(body: B, home: H) -> (Handle<B::Output>, JobRef) {
    let core = Core {
        header: JobHeader::new(Cell::<B, H>::execute),
        state: State::new(),
        vtable: &Cell::<B, H>::VTABLE,
        waiter: UnsafeCell::new(None),
        lifetime: Lifetime::new(),
    };
    let cell = Box::new(Cell { core, home, stage: UnsafeCell::new(Stage::Body(body)) });
    let core: NonNull<Core> = NonNull::from(Box::leak(cell)).cast();
    // SAFETY: the two references that the state begins with.
    unsafe { (Handle::new(core), Core::job(core)) }
}

impl Core {
    /// A reference, to be put into a queue.
    ///
    /// # Safety
    ///
    /// It must be the caller's.
    unsafe fn job(this: NonNull<Self>) -> JobRef {
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
    unsafe fn waiter(&self) -> Option<Waiter> {
        // SAFETY: the caller's promise.
        self.waiter.with_mut(|place| unsafe { (*place).take() })
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

impl<B: Body, H: Home> Cell<B, H> {
    const VTABLE: Vtable = Vtable {
        offer: Self::offer,
        drop_body: Self::drop_body,
        take_result: Self::take_result,
        drop_result: Self::drop_result,
        free: Self::free,
        begins_once: B::BEGINS_ONCE,
    };

    /// Runs the next step, on behalf of a queue.
    ///
    /// # Safety
    ///
    /// `header` must be that of a task, with a reference.
    unsafe fn execute(header: NonNull<JobHeader>) {
        let this = header.cast::<Self>();
        // SAFETY: the reference keeps it until it is given up, in here, as the last thing of all.
        unwind::or_abort(|| unsafe {
            let begin = this.as_ref().core.state.begin();
            if begin == Begin::Nothing {
                return Core::drop_reference(this.cast());
            }
            let may_step = begin == Begin::Step && !this.as_ref().home.is_off();
            if !may_step || !Self::step(this) {
                match if may_step { this.as_ref().core.state.rest() } else { Rest::Drop } {
                    Rest::Idle => return,
                    Rest::Again => {
                        return H::offer(&raw const (*this.as_ptr()).home, Core::job(this.cast()), true);
                    }
                    Rest::Drop => {
                        Self::run(this, || {
                            Self::put(this, cancelled());
                            true
                        });
                    }
                }
            }
            Self::end(this, true);
            Core::drop_reference(this.cast());
        });
    }

    /// Runs a step. Whether it was the last: then its result is in the body's place.
    ///
    /// # Safety
    ///
    /// The caller must have the body.
    unsafe fn step(this: NonNull<Self>) -> bool {
        // SAFETY: the caller's promise. The body stays where it is until it is dropped there.
        let step = || unsafe {
            let waker = waker::borrowed(this.cast());
            let mut context = Context::from_waker(&waker);
            let poll = this.as_ref().stage.with_mut(|stage| {
                let Stage::Body(body) = &mut *stage else {
                    unreachable!("a task that is not done has a body")
                };
                unwind::halt_unwinding(|| Pin::new_unchecked(body).step(&mut context))
            });
            match poll {
                Ok(Poll::Pending) => return false,
                Ok(Poll::Ready(result)) => Self::put(this, Ok(result)),
                Err(payload) => Self::put(this, Err(payload)),
            }
            true
        };
        // SAFETY: the same.
        unsafe { Self::run(this, step) }
    }

    /// Calls `f` as the home wants its tasks to be run, and returns what it says: whether there is
    /// a result. A panic of the home's is one.
    ///
    /// # Safety
    ///
    /// The caller must have the body.
    unsafe fn run(this: NonNull<Self>, f: impl FnOnce() -> bool) -> bool {
        // SAFETY: the caller's reference keeps it.
        let home = unsafe { &this.as_ref().home };
        unwind::halt_unwinding(|| home.run(f)).unwrap_or_else(|payload| {
            // SAFETY: the caller's promise. What is there, the body or its result, goes.
            unsafe { Self::put(this, Err(payload)) };
            true
        })
    }

    /// Drops what is in the body's place, and puts the result there.
    ///
    /// # Safety
    ///
    /// The caller must have the body, or the result.
    unsafe fn put(this: NonNull<Self>, result: thread::Result<B::Output>) {
        // SAFETY: the caller's promise.
        unsafe {
            this.as_ref().stage.with_mut(|stage| {
                let dropped = unwind::halt_unwinding(|| ptr::drop_in_place(stage));
                stage.write(Stage::Result(first_panic(result, dropped)));
            });
        }
    }

    /// The result is in its place: tells whoever waits.
    ///
    /// # Safety
    ///
    /// The caller must have the result, and a reference.
    unsafe fn end(this: NonNull<Self>, in_run: bool) {
        // SAFETY: the caller's promise: the result is ours until the state says that it is done;
        // then the waiter, if there is one, and the result, if there is no handle.
        unsafe {
            let task = this.as_ref();
            let end = task.core.state.end();
            if end.has_waiter {
                task.core.waiter().into_iter().for_each(Waiter::tell);
            }
            if !end.has_handle {
                Self::drop_result(this.cast());
            }
            task.home.ended(in_run);
        }
    }

    unsafe fn offer(this: NonNull<Core>, job: JobRef) {
        // SAFETY: the caller's promise: the reference keeps the task. Its body is there, so its
        // home is.
        unsafe { H::offer(&raw const (*this.cast::<Self>().as_ptr()).home, job, false) };
    }

    unsafe fn drop_body(this: NonNull<Core>) {
        // SAFETY: the caller's promise.
        unwind::or_abort(|| unsafe {
            Self::put(this.cast(), cancelled());
            Self::end(this.cast(), false);
        });
    }

    unsafe fn take_result(this: NonNull<Core>, to: *mut ()) {
        // SAFETY: the caller's promise: the result is ours, and of this type.
        unsafe {
            let stage =
                this.cast::<Self>().as_ref().stage.with_mut(|stage| mem::replace(&mut *stage, Stage::Gone));
            let Stage::Result(result) = stage else { unreachable!("a result is taken once") };
            to.cast::<thread::Result<B::Output>>().write(result);
        }
    }

    unsafe fn drop_result(this: NonNull<Core>) {
        // SAFETY: the caller's promise: the result is ours.
        let stage = unsafe {
            this.cast::<Self>().as_ref().stage.with_mut(|stage| mem::replace(&mut *stage, Stage::Gone))
        };
        unwind::drop_quietly(stage);
    }

    unsafe fn free(this: NonNull<Core>) {
        // SAFETY: the last reference is the caller's.
        unsafe { this.as_ref() }.lifetime.over();
        // SAFETY: leaked by `new`; and that was the last use.
        unwind::drop_quietly(unsafe { Box::from_raw(this.cast::<Self>().as_ptr()) });
    }
}

fn cancelled<T>() -> thread::Result<T> {
    Err(Box::new(Cancelled))
}

/// What becomes of a result if the body panics when it is dropped.
fn first_panic<T>(result: thread::Result<T>, dropped: Result<(), Payload>) -> thread::Result<T> {
    match (result, dropped) {
        (result, Ok(())) => result,
        (Ok(result), Err(payload)) => {
            unwind::drop_quietly(result);
            Err(payload)
        }
        (Err(first), Err(second)) => {
            mem::forget(second);
            Err(first)
        }
    }
}
