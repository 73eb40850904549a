//! Jobs: closures on their way to the worker that runs them.
//!
//! A queue holds one word per job, a [`JobRef`]: a pointer to a header whose only field says how to
//! run what follows it. Where the job itself lives depends on what waits for it:
//!
//! | | lives | run | for |
//! |---|---|---|---|
//! | [`StackJob`] | in the frame of its caller, which waits | once | `join`, `broadcast` |
//! | [`HeapJob`] | in a box or a [slab](slab) | once | `spawn`, `Scope::spawn`; around other jobs |
//! | [`JobFifo`] | with its worker or scope | once for each job put in | `spawn_fifo` |
//! | [`Placeholder`] | on the heap | once | `spawn_fifo` in isolation |
//! | a [task](crate::task) | on the heap | once for each step | `spawn_handle`, `spawn_future` |
//!
//! Each closure type gets one function, `execute`, which calls the closure at one place. (The
//! second half of a join is also called in place: see `join_at`.) Code that does not depend on the
//! type is compiled once: `execute` gets the worker as an argument, and [`JobRef::execute`] aborts
//! if it unwinds. A closure that its caller waits for, without a job of its own type, travels as a
//! [`Call`].

mod call;
mod fifo;
mod heap;
mod placeholder;
mod slab;
mod stack;

use crate::engine::WorkerThread;
use crate::unwind;
use std::ptr::NonNull;

pub(crate) use call::{Call, call_once, was_not_called};
pub(crate) use fifo::JobFifo;
pub(crate) use heap::HeapJob;
pub(crate) use placeholder::Placeholder;
pub(crate) use slab::Slabs;
pub(crate) use stack::{Run, StackJob};

/// The beginning of every job.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct JobHeader {
    execute: Execute,
}

/// Function that runs a job. Gets the job's reference, and the worker that the calling thread is.
pub(crate) type Execute = unsafe fn(JobRef, &WorkerThread);

impl JobHeader {
    #[inline(always)]
    pub(crate) const fn new(execute: Execute) -> Self {
        Self { execute }
    }
}

/// One word that stands for a job in a queue.
///
/// Each reference must be executed exactly once; the job stays where it is until then.
///
/// The two lowest bits are not part of the address: they say where the job lives, and how it is
/// run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct JobRef(NonNull<JobHeader>);

// SAFETY: the caller of `JobRef::new` promises that the job may run on another thread.
unsafe impl Send for JobRef {}

impl JobRef {
    /// Creates a reference to the job that begins at `header`.
    ///
    /// # Safety
    ///
    /// The job must stay where it is until the reference was executed, and may be executed on any
    /// thread. Its header's function must be the one for jobs of its type.
    #[inline(always)]
    pub(crate) unsafe fn new(header: NonNull<JobHeader>) -> Self {
        Self(header)
    }

    /// Returns this reference with the mark that the job is in a slot of a [slab](slab).
    #[inline]
    fn in_slab(self) -> Self {
        Self(self.0.map_addr(|address| address | IN_SLAB))
    }

    #[inline]
    fn is_in_slab(self) -> bool {
        self.0.addr().get() & IN_SLAB != 0
    }

    /// Returns this reference; if `isolated`, with the mark that the job is run in isolation.
    #[inline]
    pub(crate) fn in_isolation_if(self, isolated: bool) -> Self {
        Self(self.0.map_addr(|address| address | if isolated { ISOLATED } else { 0 }))
    }

    /// Returns the address of the job.
    #[inline(always)]
    pub(crate) fn header(self) -> NonNull<JobHeader> {
        let address = self.0.as_ptr().map_addr(|address| address & !(IN_SLAB | ISOLATED));
        // SAFETY: headers are aligned, so without the bits this is the address of the header, not
        // null.
        unsafe { NonNull::new_unchecked(address) }
    }

    /// Returns the address of the function that runs the job: equal for all jobs of one call site,
    /// and usually different for other call sites.
    pub(crate) fn function(self) -> usize {
        // SAFETY: the job is alive until it was executed, which needs the reference that the caller
        // has.
        unsafe { self.header().as_ref() }.execute as usize
    }

    /// Returns the reference as one word, for a deque.
    #[inline(always)]
    pub(crate) fn into_word(self) -> NonNull<JobHeader> {
        self.0
    }

    /// Restores the reference from a word of a deque.
    ///
    /// # Safety
    ///
    /// `word` must come from [`into_word`](Self::into_word), and stand for that execution.
    #[inline(always)]
    pub(crate) unsafe fn from_word(word: NonNull<JobHeader>) -> Self {
        Self(word)
    }

    /// Runs the job on this worker, which the calling thread must be. Does not unwind.
    ///
    /// # Safety
    ///
    /// At most once per reference.
    #[inline]
    pub(crate) unsafe fn execute(self, worker: &WorkerThread) {
        // If a job unwound, its latch would not be set, or its count not lowered: its waiter would
        // wait for ever. (A guard instead of a closure, which LLVM may leave out of line.)
        let abort = unwind::AbortIfPanic;
        if self.0.addr().get() & ISOLATED == 0 {
            // SAFETY: by the promise of `new` the job is alive; by ours it has not run yet.
            unsafe { (self.header().as_ref().execute)(self, worker) };
        } else {
            // SAFETY: the caller's promise.
            unsafe { self.execute_in_isolation(worker) };
        }
        std::mem::forget(abort);
    }

    /// # Safety
    ///
    /// As for [`execute`](Self::execute).
    #[cold]
    #[inline(never)]
    unsafe fn execute_in_isolation(self, worker: &WorkerThread) {
        let _region = worker.enter_region();
        // SAFETY: the caller's promise.
        unsafe { (self.header().as_ref().execute)(self, worker) };
    }
}

/// Bit of a reference: the job is in a slot of a slab.
const IN_SLAB: usize = 1;

/// Bit of a reference: the job is run in isolation.
const ISOLATED: usize = 2;

const _: () = assert!(align_of::<JobHeader>() > IN_SLAB | ISOLATED);
