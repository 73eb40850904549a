//! Jobs: closures on their way to whichever worker runs them.
//!
//! A queue holds one word per job, a [`JobRef`]: a pointer to a header whose only field says how to
//! run what follows it. Where the job itself lives depends on who waits for it:
//!
//! | | lives | run | for |
//! |---|---|---|---|
//! | [`StackJob`] | in the frame of the caller, who waits | once | `join`, `install`, `broadcast` |
//! | [`HeapJob`] | in a box or a [slab](slab) | once | `spawn`, `Scope::spawn`, `spawn_broadcast` |
//! | [`JobFifo`] | with its worker or scope | once for each job put in | `spawn_fifo` |

mod fifo;
mod heap;
mod slab;
mod stack;

use std::ptr::NonNull;

pub(crate) use fifo::JobFifo;
pub(crate) use heap::HeapJob;
pub(crate) use slab::Slabs;
pub(crate) use stack::StackJob;

/// The beginning of every job.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct JobHeader {
    execute: unsafe fn(NonNull<JobHeader>),
}

impl JobHeader {
    #[inline(always)]
    pub(crate) const fn new(execute: unsafe fn(NonNull<JobHeader>)) -> Self {
        Self { execute }
    }
}

/// One word that stands for a job in a queue.
///
/// Each reference must be executed exactly once; the job stays where it is until then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct JobRef(NonNull<JobHeader>);

// SAFETY: whoever makes a reference (see `JobRef::new`) promises that the job may run on another
// thread.
unsafe impl Send for JobRef {}

impl JobRef {
    /// A reference to the job that begins at `header`.
    ///
    /// # Safety
    ///
    /// The job must stay where it is until the reference was executed, may be executed on any
    /// thread, and its header's function must know how.
    #[inline(always)]
    pub(crate) unsafe fn new(header: NonNull<JobHeader>) -> Self {
        Self(header)
    }

    /// Where the function is that runs the job: the same for all jobs of one place in the program,
    /// and like as not another for those of others.
    pub(crate) fn function(self) -> usize {
        // SAFETY: the job is alive until it was executed, which the holder of the reference has not
        // done.
        unsafe { self.0.as_ref() }.execute as usize
    }

    /// The word itself, for a deque.
    #[inline(always)]
    pub(crate) fn into_word(self) -> NonNull<JobHeader> {
        self.0
    }

    /// The reference back from a deque.
    ///
    /// # Safety
    ///
    /// `word` must come from [`into_word`](Self::into_word), and stand for the same one execution.
    #[inline(always)]
    pub(crate) unsafe fn from_word(word: NonNull<JobHeader>) -> Self {
        Self(word)
    }

    /// Runs the job. Does not unwind.
    ///
    /// # Safety
    ///
    /// At most once per reference.
    #[inline]
    pub(crate) unsafe fn execute(self) {
        // SAFETY: by the promise of `new` the job is alive; by ours it has not run yet.
        unsafe { (self.0.as_ref().execute)(self.0) }
    }
}
