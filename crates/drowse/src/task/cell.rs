//! The allocation of a task.

use super::body::Body;
use super::core::{Core, Vtable};
use super::handle::Handle;
use super::state::{Begin, Rest};
use super::waiter::Waiter;
use super::{Cancelled, waker};
use crate::job::{JobHeader, JobRef};
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

    /// The body is gone, and what it has borrowed may go too. On a worker, at the end of a run.
    fn ended(self);

    /// The task is about to be ended by somebody who has no reference from a queue. There may be
    /// one still: from now on the pool must not end before somebody has [met](Self::met) it.
    fn ends_early(&self);

    /// The body is gone, early. If the task was not in a queue any more, nobody will meet it.
    fn ended_early(self, is_queued: bool);

    /// A reference was taken from a queue whose task had ended early. On a worker.
    fn met();
}

#[repr(C)]
struct Cell<B: Body, H> {
    core: Core,
    /// There until the task has ended.
    home: ManuallyDrop<H>,
    stage: UnsafeCell<Stage<B>>,
}

enum Stage<B: Body> {
    Body(B),
    Result(thread::Result<B::Output>),
    Gone,
}

/// What is left of a task that has ended, for whoever has ended it.
struct Ended<H> {
    waiter: Option<Waiter>,
    home: H,
    /// There is a reference in a queue still.
    is_queued: bool,
}

impl<H> Ended<H> {
    /// Tells whoever waits. The home is to be told next.
    fn tell(self) -> H {
        self.waiter.into_iter().for_each(Waiter::tell);
        self.home
    }
}

/// A new task, with its handle, and the reference that has to be offered to somebody.
///
/// # Safety
///
/// What the body borrows must be there until its home is told that it has [ended](Home::ended).
/// The body and its result must be able to cross to other threads.
pub(crate) unsafe fn new<B: Body, H: Home>(body: B, home: H) -> (Handle<B::Output>, JobRef) {
    let core = Core::new(JobHeader::new(Cell::<B, H>::execute), &Cell::<B, H>::VTABLE);
    let home = ManuallyDrop::new(home);
    let cell = Box::new(Cell { core, home, stage: UnsafeCell::new(Stage::Body(body)) });
    let core: NonNull<Core> = NonNull::from(Box::leak(cell)).cast();
    // SAFETY: the two references that the state begins with.
    unsafe { (Handle::new(core), Core::job(core)) }
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
            if begin == Begin::Met {
                omittable!("task/met-says-nothing", H::met());
            }
            if matches!(begin, Begin::Met | Begin::Nothing) {
                return Core::drop_reference(this.cast());
            }
            let may_step = begin == Begin::Step && !this.as_ref().home.is_off();
            if !may_step || !Self::step(this) {
                match if may_step { this.as_ref().core.state.rest() } else { Rest::Drop } {
                    Rest::Idle => return,
                    Rest::Again => {
                        return H::offer(Self::home(this), Core::job(this.cast()), true);
                    }
                    Rest::Drop => {
                        Self::run(this, || {
                            Self::put(this, cancelled());
                            true
                        });
                    }
                }
            }
            let ended = Self::end(this);
            // Before anybody is told: then whoever waits frees the task, most likely where it was
            // made, and allocators are quick about that.
            omittable!("task/keeps-reference", Core::drop_reference(this.cast()));
            ended.tell().ended();
        });
    }

    /// # Safety
    ///
    /// There must be a task. What this points to is there until it has ended.
    unsafe fn home(this: NonNull<Self>) -> *const H {
        // SAFETY: the caller's promise. The wrapper is what it wraps.
        unsafe { (&raw const (*this.as_ptr()).home).cast() }
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

    /// The result is in its place. What there is to be told, and to whom.
    ///
    /// # Safety
    ///
    /// The caller must have the result, and a reference.
    unsafe fn end(this: NonNull<Self>) -> Ended<H> {
        // SAFETY: the caller's promise: the result is ours until the state says that it is done;
        // then the waiter, if there is one, and the result, if there is no handle. The home is
        // nobody's but ours since the body is gone.
        unsafe {
            let core = &this.as_ref().core;
            let end = core.state.end(B::BEGINS_ONCE);
            let waiter = if end.has_waiter { core.waiter() } else { None };
            if !end.has_handle {
                // Before the home is told: it may borrow what the body has borrowed.
                omittable!("task/result-left", Self::drop_result(this.cast()));
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

    unsafe fn drop_body(this: NonNull<Core>) {
        // SAFETY: the caller's promise.
        unwind::or_abort(|| unsafe {
            let (this, holds_late) = (this.cast::<Self>(), mutant::active("task/holds-late"));
            if !holds_late {
                (*Self::home(this)).ends_early();
            }
            Self::put(this, cancelled());
            let ended = Self::end(this);
            let is_queued = ended.is_queued;
            let home = ended.tell();
            if holds_late {
                home.ends_early();
            }
            home.ended_early(is_queued);
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
            unwind::drop_quietly(second);
            Err(first)
        }
    }
}

/// How many bytes a task takes.
#[cfg(all(test, target_pointer_width = "64", not(any(drowse_loom, drowse_shuttle))))]
pub(crate) const fn size<B: Body, H>() -> usize {
    size_of::<Cell<B, H>>()
}
