//! Job of a caller that waits.

use super::{JobHeader, JobRef};
use crate::engine::WorkerThread;
use crate::latch::Latch;
use crate::unwind;
use drowse_sync::cell::UnsafeCell;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ptr::{self, NonNull};
use std::thread;

/// Closure in its caller's stack frame. The caller leaves the frame only after it has taken the job
/// back and run it in place, or after the latch was set because another thread has run the job.
#[repr(C)]
pub(crate) struct StackJob<L, F, R> {
    header: JobHeader,
    pub(crate) latch: L,
    /// Taken exactly once, by the thread that runs the job.
    func: UnsafeCell<ManuallyDrop<F>>,
    /// Written before the latch is set, read after.
    result: UnsafeCell<MaybeUninit<thread::Result<R>>>,
}

/// Closure of a [`StackJob`]. It gets the worker that runs it, and `true` if this is another thread
/// than the one that made the job. A trait, so that the second half of a join can also be called
/// without a worker.
pub(crate) trait Run<R> {
    fn run(self, worker: &WorkerThread, migrated: bool) -> R;
}

impl<R, F: FnOnce(&WorkerThread, bool) -> R> Run<R> for F {
    #[inline(always)]
    fn run(self, worker: &WorkerThread, migrated: bool) -> R {
        self(worker, migrated)
    }
}

impl<L: Latch, F: Run<R>, R> StackJob<L, F, R> {
    #[inline(always)]
    pub(crate) fn new(func: F, latch: L) -> Self {
        Self {
            header: JobHeader::new(Self::execute),
            latch,
            func: UnsafeCell::new(ManuallyDrop::new(func)),
            result: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    /// Returns a reference to put in a queue.
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

    /// Takes the closure out, for the caller to run in place.
    ///
    /// # Safety
    ///
    /// The job must not have run, and no reference to it may be left in any queue.
    #[inline(always)]
    pub(crate) unsafe fn take_func(&self) -> F {
        // SAFETY: by the caller's promise no other thread runs the job, so the closure is taken
        // once.
        unsafe { self.func.with_mut(|func| ManuallyDrop::take(&mut *func)) }
    }

    /// Returns the job's result, or its panic.
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
    /// `job` must come from `as_job_ref`, and must not have run.
    unsafe fn execute(job: JobRef, worker: &WorkerThread) {
        worker.begin_other_job();
        let this = job.header().cast::<Self>().as_ptr();
        // SAFETY: the frame's owner keeps the job alive until the latch is set, which is the last
        // thing done here; if anything here unwound, `JobRef::execute` would abort. A job runs
        // once, so no other thread touches `func` and `result`.
        unsafe {
            let func = (*this).func.with_mut(|func| ManuallyDrop::take(&mut *func));
            let migrated = (*this).latch.migrated(worker);
            let result = unwind::halt_unwinding(|| func.run(worker, migrated));
            (*this).result.with_mut(|slot| (*slot).write(result));
            L::set(ptr::addr_of!((*this).latch), worker);
        }
    }
}
