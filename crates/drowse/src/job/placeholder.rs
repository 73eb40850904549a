//! Place of a job in a deque, from which its worker can take the job before its turn.

use super::{JobHeader, JobRef};
use crate::engine::WorkerThread;
use drowse_sync::atomic::{AtomicPtr, Ordering};
use drowse_sync::{Arc, faulty};
use std::ptr::{self, NonNull};

/// Stands for one job in the deque of the worker that has spawned it. Its execution runs the job,
/// unless the worker has taken the job out before: an empty placeholder does nothing.
///
/// The deque and the worker share it. It does not refer to the job's scope, so it may stay in the
/// deque after the scope has ended.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Placeholder {
    header: JobHeader,
    /// Null when the job was taken.
    job: AtomicPtr<JobHeader>,
}

impl Placeholder {
    /// # Safety
    ///
    /// The reference must not be in any queue. It is executed by the caller of [`take`](Self::take)
    /// that gets it, or with the reference that [`reference`](Self::reference) returns.
    pub(crate) unsafe fn new(job: JobRef) -> Arc<Self> {
        let job = AtomicPtr::new(job.into_word().as_ptr());
        Arc::new(Self { header: JobHeader::new(Self::execute), job })
    }

    /// Returns the reference to push to the deque. Called once for each placeholder.
    pub(crate) fn reference(this: &Arc<Self>) -> JobRef {
        let header = NonNull::new(Arc::into_raw(Arc::clone(this)).cast_mut());
        let header = header.expect("an Arc has an address").cast();
        // SAFETY: the reference owns a share of the `Arc`, which keeps the placeholder where it is
        // until `execute` drops the share. By the promise made to `new` the job may run anywhere.
        // The header comes first.
        unsafe { JobRef::new(header) }
    }

    /// Returns `true` if the job was taken.
    pub(crate) fn is_empty(&self) -> bool {
        // ORDERING: relaxed; a hint. `take` decides.
        self.job.load(Ordering::Relaxed).is_null()
    }

    /// Takes the job out. Returns `None` if another call was first.
    pub(crate) fn take(&self) -> Option<JobRef> {
        // ORDERING: relaxed; only one swap gets the job. The worker wrote the job itself, and a
        // thief acquired it with the reference, by `Stealer::steal_since`.
        let job = faulty!(
            "fifo/taken-twice",
            self.job.swap(ptr::null_mut(), Ordering::Relaxed),
            self.job.load(Ordering::Relaxed)
        );
        // SAFETY: by the promise made to `new` the word stands for one execution, and only one swap
        // gets it.
        NonNull::new(job).map(|job| unsafe { JobRef::from_word(job) })
    }

    /// Takes the job out by the reference from the deque, and consumes the reference.
    ///
    /// # Safety
    ///
    /// `reference` must come from [`reference`](Self::reference), once.
    pub(crate) unsafe fn take_by_reference(reference: JobRef) -> Option<JobRef> {
        // SAFETY: `reference` leaked this share of the `Arc`.
        let this = unsafe { Arc::from_raw(reference.header().cast::<Self>().as_ptr()) };
        this.take()
    }

    /// # Safety
    ///
    /// As for [`take_by_reference`](Self::take_by_reference).
    unsafe fn execute(reference: JobRef, worker: &WorkerThread) {
        // SAFETY: the caller's promise; the job was taken out just now, so no other thread has it.
        unsafe {
            Self::take_by_reference(reference).into_iter().for_each(|job| job.execute(worker));
        }
    }
}
