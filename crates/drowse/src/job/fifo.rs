//! Queues that run jobs oldest first, on top of deques whose owners take the newest item first.

use super::{JobHeader, JobRef};
use crate::engine::WorkerThread;
use drowse_sync::Queue;
use std::ptr::NonNull;

/// Queue that is itself a job: the deque holds one reference to the queue for each job put in, and
/// the execution of a reference runs the *oldest* job of the queue. So the deque's order does not
/// matter.
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

    /// Puts a job in. Returns the reference to push to the deque instead of it.
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
        // SAFETY: each reference is taken out of the queue once, so it is executed once.
        unsafe { job.execute(worker) };
    }
}
