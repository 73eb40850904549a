//! First in, first out, on top of deques that are last in, first out for their owner.

use super::{JobHeader, JobRef};
use crate::engine::WorkerThread;
use drowse_sync::Queue;
use std::ptr::NonNull;

/// A queue that is itself a job: what goes into the deque is a reference to the queue, once for
/// each job put in, and whoever executes one runs the *oldest* job of the queue. So the deque's
/// order does not matter.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct JobFifo {
    header: JobHeader,
    jobs: Queue<JobRef>,
}

impl JobFifo {
    pub(crate) fn new() -> Self {
        Self { header: JobHeader::new(Self::execute), jobs: Queue::new() }
    }

    /// Puts a job in and returns what to push to the deque instead of it.
    ///
    /// # Safety
    ///
    /// The fifo must stay where it is until that reference was executed.
    pub(crate) unsafe fn push(&self, job: JobRef) -> JobRef {
        self.jobs.push(job);
        // SAFETY: the header is the first field of a `repr(C)` struct; it stays put by the caller's
        // promise.
        unsafe { JobRef::new(NonNull::from(self).cast()) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// # Safety
    ///
    /// `reference` must come from `push`: one execution per push.
    unsafe fn execute(reference: JobRef, worker: &WorkerThread) {
        // SAFETY: the fifo is alive by the promise made to `push`. It may be freed as soon as the
        // job has run: it is not touched after the job was taken out.
        let job = unsafe { reference.header().cast::<Self>().as_ref() }.jobs.pop();
        let job = job.expect("a fifo holds a job for each reference to it");
        // SAFETY: taken out of the queue once, executed once.
        unsafe { job.execute(worker) };
    }
}
