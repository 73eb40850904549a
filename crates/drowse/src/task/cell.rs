//! The allocation of a task.

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

/// Where a task is at home: in a pool, or in a scope.
pub(crate) trait Home: Send + Sync {
    /// What runs the steps: a worker; in a model, nothing.
    type Worker;

    /// Runs the next step, as [`execute`] does.
    const EXECUTE: Execute;

    /// Offers the task to the workers. `again`: its last step has run just now, and others should
    /// have their turn.
    ///
    /// # Safety
    ///
    /// The reference must not be in any queue. It keeps the home, until it is in one.
    unsafe fn offer(this: *const Self, job: JobRef, again: bool);

    /// Whether a body that has the next step before it should be dropped instead.
    fn is_off(&self) -> bool;

    /// Calls `step` once.
    fn run(&self, worker: &Self::Worker, step: &mut dyn FnMut());

    /// The body is gone, and what it has borrowed may go too. At the end of a run.
    fn ended(self, worker: &Self::Worker);

    /// The task is about to be ended by a thread that has no reference from a queue. There may be
    /// one still: from now on the pool must not end before a worker has [met](Self::met) it.
    fn ends_early(&self);

    /// The body is gone, early. If the task was not in a queue any more, no worker will meet it.
    fn ended_early(self, is_queued: bool);

    /// A reference was taken from a queue whose task had ended early.
    fn met(worker: &Self::Worker);
}

/// What does not depend on the body, but on the home.
#[repr(C)]
struct Front<H> {
    core: Core,
    /// There until the task has ended.
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

/// What is left of a task that has ended, for the thread that has ended it.
struct Ended<H> {
    waiter: Option<Waiter>,
    home: H,
    /// There is a reference in a queue still.
    is_queued: bool,
}

impl<H> Ended<H> {
    /// Tells the waiter. Returns the home, for the caller to tell.
    fn tell(self) -> H {
        self.waiter.into_iter().for_each(Waiter::tell);
        self.home
    }
}

/// A new task, with its handle, and the reference that has to be offered to the workers.
///
/// # Safety
///
/// What the body borrows must be there until its home is told that it has [ended](Home::ended).
/// The body and its result must be able to cross to other threads.
pub(crate) unsafe fn new<B: Body, H: Home>(body: B, home: H) -> (Handle<B::Output>, JobRef) {
    let core = Core::new(JobHeader::new(H::EXECUTE), &Cell::<B, H>::VTABLE);
    let front = Front { core, home: ManuallyDrop::new(home) };
    let cell = Box::new(Cell { front, stage: UnsafeCell::new(Stage::Body(body)) });
    let core: NonNull<Core> = NonNull::from(Box::leak(cell)).cast();
    // SAFETY: the two references that the state begins with.
    unsafe { (Handle::new(core), Core::job(core)) }
}

/// Runs the next step, on behalf of a queue.
///
/// # Safety
///
/// `job` must be a reference to a task with this home, taken from a queue. Must not unwind into a
/// caller that goes on.
pub(crate) unsafe fn execute<H: Home>(job: JobRef, worker: &H::Worker) {
    let this = job.header().cast::<Front<H>>();
    // SAFETY: the reference keeps the task until it is given up here, to the state, to a queue, or
    // by `drop_reference`. After that only `ended` is used, which owns the waiter and the home.
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
        // Before the waiter is told: then that one frees the task, most likely where it was made,
        // and allocators are quick about that.
        omittable!("task/keeps-reference", Core::drop_reference(this.cast()));
        ended.tell().ended(worker);
    }
}

impl<H: Home> Front<H> {
    /// # Safety
    ///
    /// There must be a task. What this points to is there until it has ended.
    unsafe fn home(this: NonNull<Self>) -> *const H {
        // SAFETY: the caller's promise; `ManuallyDrop` is `repr(transparent)`.
        unsafe { (&raw const (*this.as_ptr()).home).cast() }
    }

    /// Calls `f` as the home wants its tasks to be run, and returns what it says: whether there is
    /// a result. A panic of the home's is one.
    ///
    /// # Safety
    ///
    /// The caller must have the body, and `f` be sound for a caller that has it.
    unsafe fn run(this: NonNull<Self>, worker: &H::Worker, f: unsafe fn(NonNull<Core>) -> bool) -> bool {
        let mut has_result = false;
        // SAFETY: the caller's reference keeps it, and the caller has the body.
        let entered = unwind::halt_unwinding(|| unsafe {
            this.as_ref().home.run(worker, &mut || has_result = f(this.cast()));
        });
        if let Err(payload) = entered {
            // SAFETY: the caller's promise. What is there, the body or its result, goes.
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
        // SAFETY: the caller's promise: the result is ours until the state says that it is done;
        // then the waiter, if there is one, and the result, if there is no handle. The home is ours
        // alone since the body is gone.
        unsafe {
            let core = &this.as_ref().core;
            let end = core.state.end(core.begins_once());
            let waiter = if end.has_waiter { core.waiter() } else { None };
            if !end.has_handle {
                // Before the home is told: it may borrow what the body has borrowed.
                omittable!("task/result-left", Core::drop_result(this.cast()));
            }
            core.lifetime.used();
            Ended { waiter, home: Self::home(this).read(), is_queued: end.is_queued }
        }
    }

    unsafe fn offer(this: NonNull<Core>, job: JobRef) {
        // SAFETY: the caller's promise: the reference keeps the task. Its body is there, so its
        // home is.
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
        // SAFETY: the caller's promise: it has the body, and the body stays where it is until it is
        // dropped there.
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

    /// Drops what is in the body's place, and puts the result there.
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

fn cancelled() -> Payload {
    Box::new(Cancelled)
}

/// What becomes of a result if the body panics when it is dropped.
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

/// How many bytes a task takes.
#[cfg(all(test, target_pointer_width = "64", not(any(drowse_loom, drowse_shuttle))))]
pub(crate) const fn size<B: Body, H>() -> usize {
    size_of::<Cell<B, H>>()
}
