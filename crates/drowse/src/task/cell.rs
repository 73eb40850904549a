//! Allocation of a task.

use super::body::Body;
use super::core::{Core, Vtable};
use super::handle::Handle;
use super::state::{Begin, Rest};
use super::waiter::Waiter;
use super::{Cancelled, waker};
use crate::job::{Execute, JobHeader, JobRef};
use crate::unwind::{self, Payload};
use drowse_sync::cell::UnsafeCell;
use drowse_sync::{mutant, omittable};
use std::mem::{self, ManuallyDrop};
use std::pin::Pin;
use std::ptr::{self, NonNull};
use std::task::{Context, Poll};
use std::thread;

/// Pool or scope that a task belongs to.
pub(crate) trait Home: Send + Sync {
    /// Worker that runs the steps; in a model, nothing.
    type Worker;

    /// Function that runs the next step: see [`execute`].
    const EXECUTE: Execute;

    /// Offers the task to the workers. `again`: a step has just ended, other jobs come first.
    ///
    /// # Safety
    ///
    /// The reference must not be in any queue. It keeps the home alive until it is in one.
    unsafe fn offer(this: *const Self, job: JobRef, again: bool);

    /// Returns `true` if a body must be dropped instead of running its next step.
    fn is_off(&self) -> bool;

    fn run(&self, worker: &Self::Worker, step: &mut dyn FnMut());

    /// Notes, at the end of a run, that the body is gone: what it has borrowed may go too.
    fn ended(self, worker: &Self::Worker);

    /// Announces that a thread will end the task without a reference from a queue. One may still be
    /// in a queue: from now on the pool must not end before a worker has [met](Self::met) it.
    fn ends_early(&self);

    /// Notes that the body was dropped early. Unless `is_queued`, no worker will meet the task.
    fn ended_early(self, is_queued: bool);

    /// Notes that a worker took a reference from a queue whose task had ended early.
    fn met(worker: &Self::Worker);
}

/// Part of the task that does not depend on the body, but on the home.
#[repr(C)]
struct Front<H> {
    core: Core,
    /// Present until the task has ended.
    home: ManuallyDrop<H>,
}

#[repr(C)]
struct Cell<B: Body, H> {
    front: Front<H>,
    stage: UnsafeCell<Stage<B>>,
}

enum Stage<B: Body> {
    Body(B),
    Result(thread::Result<B::Output>),
    Gone,
}

/// Remains of an ended task, for the thread that has ended it.
struct Ended<H> {
    waiter: Option<Waiter>,
    home: H,
    /// `true` if a reference is still in a queue.
    is_queued: bool,
}

impl<H> Ended<H> {
    /// Tells the waiter. Returns the home, which the caller must tell.
    fn tell(self) -> H {
        self.waiter.into_iter().for_each(Waiter::tell);
        self.home
    }
}

/// Creates a task. Returns its handle, and the reference that has to be offered to the workers.
///
/// # Safety
///
/// What the body borrows must live until its home is told that it has [ended](Home::ended). The
/// body and its result must be able to cross to other threads.
pub(crate) unsafe fn new<B: Body, H: Home>(body: B, home: H) -> (Handle<B::Output>, JobRef) {
    let core = Core::new(JobHeader::new(H::EXECUTE), &Cell::<B, H>::VTABLE);
    let front = Front { core, home: ManuallyDrop::new(home) };
    let cell = Box::new(Cell { front, stage: UnsafeCell::new(Stage::Body(body)) });
    let core: NonNull<Core> = NonNull::from(Box::leak(cell)).cast();
    // SAFETY: these are the two references that the state begins with.
    unsafe { (Handle::new(core), Core::job(core)) }
}

/// Runs the next step, on behalf of a queue.
///
/// # Safety
///
/// `job` must be a reference to a task with this home, taken from a queue. If this unwinds, the
/// caller must not continue.
pub(crate) unsafe fn execute<H: Home>(job: JobRef, worker: &H::Worker) {
    let this = job.header().cast::<Front<H>>();
    // SAFETY: the reference keeps the task until it is passed on here: to the state, to a queue, or
    // to `drop_reference`. After that only `ended` is used, which owns the waiter and the home.
    unsafe {
        let begin = this.as_ref().core.state.begin();
        if begin == Begin::Met {
            omittable!("task/met-says-nothing", H::met(worker));
        }
        if matches!(begin, Begin::Met | Begin::Nothing) {
            return Core::drop_reference(this.cast());
        }
        let may_step = begin == Begin::Step && !this.as_ref().home.is_off();
        if !may_step || !Front::run(this, worker, Core::step) {
            match if may_step { this.as_ref().core.state.rest() } else { Rest::Drop } {
                Rest::Idle => return,
                Rest::Again => {
                    return H::offer(Front::home(this), Core::job(this.cast()), true);
                }
                Rest::Drop => {
                    Front::run(this, worker, |core| {
                        Core::fail(core, cancelled());
                        true
                    });
                }
            }
        }
        let ended = Front::end(this);
        // Before the waiter is told: then the waiter frees the task, usually on the thread that has
        // allocated it, which is quick in most allocators.
        omittable!("task/keeps-reference", Core::drop_reference(this.cast()));
        ended.tell().ended(worker);
    }
}

impl<H: Home> Front<H> {
    /// # Safety
    ///
    /// The task must be alive. The pointer is valid until the task has ended.
    unsafe fn home(this: NonNull<Self>) -> *const H {
        // SAFETY: the caller's promise; `ManuallyDrop` is `repr(transparent)`.
        unsafe { (&raw const (*this.as_ptr()).home).cast() }
    }

    /// Calls `f` by the home's `run`. Returns the result of `f`: `true` if the task has a result. A
    /// panic of the home becomes the task's result.
    ///
    /// # Safety
    ///
    /// The caller must have the body, and `f` be sound for a caller that has it.
    unsafe fn run(
        this: NonNull<Self>,
        worker: &H::Worker,
        f: unsafe fn(NonNull<Core>) -> bool,
    ) -> bool {
        let mut has_result = false;
        // SAFETY: the caller's reference keeps the task, and the caller has the body.
        let entered = unwind::halt_unwinding(|| unsafe {
            this.as_ref().home.run(worker, &mut || has_result = f(this.cast()));
        });
        if let Err(payload) = entered {
            // SAFETY: the caller's promise. This drops the body, or a result that is there already.
            unsafe { Core::fail(this.cast(), payload) };
            has_result = true;
        }
        has_result
    }

    /// Ends a task whose result is in its place. Returns the waiter and the home, which the caller
    /// must tell.
    ///
    /// # Safety
    ///
    /// The caller must have the result, and a reference.
    unsafe fn end(this: NonNull<Self>) -> Ended<H> {
        // SAFETY: by the caller's promise the result is ours until `State::end`; after that the
        // waiter, if there is one, and the result, if there is no handle. The home is ours since
        // the body is gone.
        unsafe {
            let core = &this.as_ref().core;
            let end = core.state.end(core.begins_once());
            let waiter = if end.has_waiter { core.waiter() } else { None };
            if !end.has_handle {
                // Before the home is told: the result may borrow from where the body has borrowed.
                omittable!("task/result-left", Core::drop_result(this.cast()));
            }
            core.lifetime.used();
            Ended { waiter, home: Self::home(this).read(), is_queued: end.is_queued }
        }
    }

    unsafe fn offer(this: NonNull<Core>, job: JobRef) {
        // SAFETY: the caller's promise: the reference keeps the task. Its body is present, so its
        // home is too.
        unsafe { H::offer(Self::home(this.cast()), job, false) };
    }

    unsafe fn drop_body(core: NonNull<Core>) {
        let this = core.cast();
        // SAFETY: the caller's promise.
        unwind::or_abort(|| unsafe {
            let holds_late = mutant::active("task/holds-late");
            if !holds_late {
                (*Self::home(this)).ends_early();
            }
            Core::fail(core, cancelled());
            let ended = Self::end(this);
            let is_queued = ended.is_queued;
            let home = ended.tell();
            if holds_late {
                home.ends_early();
            }
            home.ended_early(is_queued);
        });
    }
}

impl<B: Body, H: Home> Cell<B, H> {
    const VTABLE: Vtable = Vtable {
        offer: Front::<H>::offer,
        drop_body: Front::<H>::drop_body,
        step: Self::step,
        fail: Self::fail,
        take_result: Self::take_result,
        drop_result: Self::drop_result,
        free: Self::free,
        begins_once: B::BEGINS_ONCE,
    };

    unsafe fn step(this: NonNull<Core>) -> bool {
        // SAFETY: by the caller's promise it has the body, and the body stays where it is until it
        // is dropped there.
        let poll = unsafe {
            let waker = waker::borrowed(this);
            let mut context = Context::from_waker(&waker);
            this.cast::<Self>().as_ref().stage.with_mut(|stage| {
                let Stage::Body(body) = &mut *stage else {
                    unreachable!("a task that is not done has a body")
                };
                unwind::halt_unwinding(|| Pin::new_unchecked(body).step(&mut context))
            })
        };
        let result = match poll {
            Ok(Poll::Pending) => return false,
            Ok(Poll::Ready(result)) => Ok(result),
            Err(payload) => Err(payload),
        };
        // SAFETY: the caller has the body, whose step has just ended.
        unsafe { Self::put(this, result) };
        true
    }

    unsafe fn fail(this: NonNull<Core>, payload: Payload) {
        // SAFETY: the caller's promise.
        unsafe { Self::put(this, Err(payload)) };
    }

    /// Drops the body in its place, or the result, and puts the new result there.
    ///
    /// # Safety
    ///
    /// The caller must have the body, or the result.
    unsafe fn put(this: NonNull<Core>, result: thread::Result<B::Output>) {
        // SAFETY: the caller's promise.
        unsafe {
            this.cast::<Self>().as_ref().stage.with_mut(|stage| {
                let dropped = unwind::halt_unwinding(|| ptr::drop_in_place(stage));
                stage.write(Stage::Result(match dropped {
                    Ok(()) => result,
                    Err(payload) => Err(first_panic(result, payload)),
                }));
            });
        }
    }

    unsafe fn take_result(this: NonNull<Core>, to: *mut ()) {
        // SAFETY: by the caller's promise the result is ours, and of this type.
        unsafe {
            let stage = this
                .cast::<Self>()
                .as_ref()
                .stage
                .with_mut(|stage| mem::replace(&mut *stage, Stage::Gone));
            let Stage::Result(result) = stage else { unreachable!("a result is taken once") };
            to.cast::<thread::Result<B::Output>>().write(result);
        }
    }

    unsafe fn drop_result(this: NonNull<Core>) {
        // SAFETY: by the caller's promise the result is ours.
        let stage = unsafe {
            this.cast::<Self>()
                .as_ref()
                .stage
                .with_mut(|stage| mem::replace(&mut *stage, Stage::Gone))
        };
        unwind::drop_quietly(stage);
    }

    unsafe fn free(this: NonNull<Core>) {
        // SAFETY: the caller has the last reference.
        unsafe { this.as_ref() }.lifetime.over();
        // SAFETY: leaked by `new`, and not used after this.
        unwind::drop_quietly(unsafe { Box::from_raw(this.cast::<Self>().as_ptr()) });
    }
}

fn cancelled() -> Payload {
    Box::new(Cancelled)
}

/// Returns the panic to keep if a body panics in its drop: an earlier one, if there was one.
#[cold]
fn first_panic<T>(result: thread::Result<T>, dropped: Payload) -> Payload {
    match result {
        Ok(result) => {
            unwind::drop_quietly(result);
            dropped
        }
        Err(first) => {
            unwind::drop_quietly(dropped);
            first
        }
    }
}

#[cfg(all(test, target_pointer_width = "64", not(any(drowse_loom, drowse_shuttle))))]
pub(crate) const fn size<B: Body, H>() -> usize {
    size_of::<Cell<B, H>>()
}
