//! The job that lives in no stack frame.

use super::{JobHeader, JobRef};
use crate::unwind;
use std::ptr::NonNull;

/// A closure in a box that is freed when it runs. The closure must not panic: it catches what the
/// user's code does and knows where to send it.
#[repr(C)]
pub(crate) struct HeapJob<F> {
    header: JobHeader,
    func: F,
}

impl<F: FnOnce() + Send> HeapJob<F> {
    /// Boxes `func` and returns the one reference to it.
    ///
    /// # Safety
    ///
    /// What `func` borrows must live until it has run.
    pub(crate) unsafe fn new_ref(func: F) -> JobRef {
        let job = Box::new(Self { header: JobHeader::new(Self::execute), func });
        // SAFETY: the box stays put until `execute` takes it back; `F` is `Send`; the header comes
        // first.
        unsafe { JobRef::new(NonNull::from(Box::leak(job)).cast()) }
    }

    /// # Safety
    ///
    /// `header` must come from `new_ref`, once.
    unsafe fn execute(header: NonNull<JobHeader>) {
        // SAFETY: this is the box that `new_ref` leaked, and the only time that it is taken back.
        let this = unsafe { Box::from_raw(header.cast::<Self>().as_ptr()) };
        unwind::or_abort(this.func);
    }
}
