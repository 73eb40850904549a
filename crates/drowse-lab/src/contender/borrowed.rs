//! Jobs that borrow from the thread that waits for them.

/// A job of any kind, for those who keep jobs in a list of their own.
pub(super) type Job = Box<dyn FnOnce() + Send>;

/// The same job, as if it borrowed nothing.
///
/// # Safety
///
/// The caller neither returns nor unwinds before the job has run to its end or was dropped.
pub(super) unsafe fn forever<'a>(job: Box<dyn FnOnce() + Send + 'a>) -> Job {
    // SAFETY: the two types differ in nothing but the lifetime, and by the contract above the job
    // is gone before what it borrows.
    unsafe { std::mem::transmute::<Box<dyn FnOnce() + Send + 'a>, Job>(job) }
}
