//! The job of someone who waits.

use super::{JobHeader, JobRef};
use crate::engine::WorkerThread;
use crate::latch::Latch;
use crate::unwind;
use drowse_sync::cell::UnsafeCell;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ptr::{self, NonNull};
use std::thread;

/// A closure in its caller's stack frame. The caller does not leave the frame before either it has
/// got the job back and run it in place, or the latch tells that someone else has run it.
///
/// The closure is told whether it migrated: whether it runs on another thread than it was made on.
#[repr(C)]
pub(crate) struct StackJob<L, F, R> {
    header: JobHeader,
    pub(crate) latch: L,
    /// Taken exactly once, by whoever runs the job.
    func: UnsafeCell<ManuallyDrop<F>>,
    /// Written before the latch is set, read after.
    result: UnsafeCell<MaybeUninit<thread::Result<R>>>,
}

impl<L, F, R> StackJob<L, F, R>
where
    L: Latch,
    F: FnOnce(bool) -> R,
{
    #[inline(always)]
    pub(crate) fn new(func: F, latch: L) -> Self {
        Self {
            header: JobHeader::new(Self::execute),
            latch,
            func: UnsafeCell::new(ManuallyDrop::new(func)),
            result: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    /// A reference to put in a queue.
    ///
    /// # Safety
    ///
    /// The job must not be moved or freed before it has run; `F` and `R` must be able to cross to
    /// another thread and back.
    #[inline(always)]
    pub(crate) unsafe fn as_job_ref(&self) -> JobRef {
        // SAFETY: the header is the first field of a `repr(C)` struct, the pointer covers all of
        // it, and `execute` casts it back. The rest is the caller's promise.
        unsafe { JobRef::new(NonNull::from(self).cast()) }
    }

    /// Runs the closure here and now. A panic goes straight to the caller.
    ///
    /// # Safety
    ///
    /// The job must not have run, and no reference to it may be left in any queue.
    #[inline(always)]
    pub(crate) unsafe fn run_inline(&self, migrated: bool) -> R {
        // SAFETY: by the caller's promise nobody else runs the job, so this is the one time it is
        // taken.
        let func = unsafe { self.func.with_mut(|func| ManuallyDrop::take(&mut *func)) };
        func(migrated)
    }

    /// The closure, for somebody else to call.
    ///
    /// # Safety
    ///
    /// As for [`run_inline`](Self::run_inline).
    pub(crate) unsafe fn take_func(&self) -> F {
        // SAFETY: the caller's promise, as in `run_inline`.
        unsafe { self.func.with_mut(|func| ManuallyDrop::take(&mut *func)) }
    }

    /// What the job returned, or its panic.
    ///
    /// # Safety
    ///
    /// The latch must be set, and the result not taken before.
    pub(crate) unsafe fn take_result(&self) -> thread::Result<R> {
        // SAFETY: `execute` wrote the result before it set the latch, whose probe acquired it.
        self.result.with(|result| unsafe { (*result).assume_init_read() })
    }

    /// Runs the job on behalf of a queue.
    ///
    /// # Safety
    ///
    /// `header` must come from `as_job_ref`, and the job must not have run.
    unsafe fn execute(header: NonNull<JobHeader>) {
        // The frame's owner waits for our latch. If anything here unwound past us, it would wait
        // for ever.
        let this = header.cast::<Self>().as_ptr();
        // SAFETY: the owner keeps the job alive until the latch is set, which is the last thing we
        // do; and a job runs once, so nobody else touches `func` and `result`.
        unwind::or_abort(|| unsafe {
            WorkerThread::with_current(|worker| worker.into_iter().for_each(WorkerThread::begin_other_job));
            let func = (*this).func.with_mut(|func| ManuallyDrop::take(&mut *func));
            let migrated = (*this).latch.migrated();
            let result = unwind::halt_unwinding(|| func(migrated));
            (*this).result.with_mut(|slot| (*slot).write(result));
            L::set(ptr::addr_of!((*this).latch));
        });
    }
}
