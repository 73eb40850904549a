//! The job that lives in no stack frame.

use super::{JobHeader, JobRef, Slabs};
use crate::engine::WorkerThread;
use crate::unwind;
use std::mem;
use std::ptr::NonNull;

/// A closure in a box that is freed when it runs, or in a slot of a worker's [slabs](Slabs) if it
/// is small. The closure must not panic: it catches what the user's code does and knows where to
/// send it.
///
/// A closure that captures nothing, or nothing but values without a size, needs no box: there is
/// nothing to keep in it but the header, which is the same for each job of its type.
#[repr(C)]
pub(crate) struct HeapJob<F> {
    header: JobHeader,
    func: F,
}

impl<F: FnOnce() + Send> HeapJob<F> {
    /// What references to jobs without a box point to.
    const UNBOXED: &'static JobHeader = &JobHeader::new(Self::execute_unboxed);

    /// Finds a place for `func`, and returns the one reference to it.
    ///
    /// # Safety
    ///
    /// What `func` borrows must live until it has run.
    pub(crate) unsafe fn new_ref(func: F) -> JobRef {
        if size_of::<F>() == 0 {
            // `execute_unboxed` has it again. Until then it is neither dropped nor anywhere.
            mem::forget(func);
            // SAFETY: a static stays put; `F` is `Send`; its function gets by with the header.
            return unsafe { JobRef::new(NonNull::from(Self::UNBOXED)) };
        }
        if let Some(slot) = Self::slot() {
            // SAFETY: the slot is new, has room, and stays put until `execute_in_slab` frees it;
            // `F` is `Send`; the header comes first.
            return unsafe {
                slot.write(Self { header: JobHeader::new(Self::execute_in_slab), func });
                JobRef::new(slot.cast())
            };
        }
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

    /// A slot for it, if it is small, and this thread has slots: it is a worker.
    #[inline]
    fn slot() -> Option<NonNull<Self>> {
        if !Slabs::have_room_for::<Self>() {
            return None;
        }
        WorkerThread::with_current(|worker| worker.map(|worker| worker.slabs().alloc().cast()))
    }

    /// # Safety
    ///
    /// `header` must come from `new_ref`, once.
    unsafe fn execute_in_slab(header: NonNull<JobHeader>) {
        // SAFETY: `new_ref` wrote it there, and this is the only time that it is read.
        let this = unsafe { header.cast::<Self>().read() };
        WorkerThread::with_current(|worker| {
            let worker = worker.expect("jobs are run by workers");
            // SAFETY: the slot that `new_ref` got, freed once. Nothing is left in it.
            unsafe { worker.slabs().free(header.cast()) };
        });
        unwind::or_abort(this.func);
    }

    /// # Safety
    ///
    /// A `func` without a size must have been given to `new_ref`: one call of this for each.
    unsafe fn execute_unboxed(_: NonNull<JobHeader>) {
        // SAFETY: a value without a size is read from any place that is aligned for it. The caller
        // stands for there being one, which `new_ref` has forgotten, so it is not there twice.
        let func = unsafe { NonNull::<F>::dangling().read() };
        unwind::or_abort(func);
    }
}

#[cfg(all(test, not(any(drowse_loom, drowse_shuttle))))]
mod tests {
    use super::*;
    use drowse_sync::atomic::{AtomicUsize, Ordering};

    fn new_ref(func: impl FnOnce() + Send + 'static) -> JobRef {
        // SAFETY: it borrows nothing.
        unsafe { HeapJob::new_ref(func) }
    }

    #[test]
    fn a_job_that_captures_nothing_has_no_box() {
        static RUNS: AtomicUsize = AtomicUsize::new(0);
        let job = || {
            new_ref(|| {
                RUNS.fetch_add(1, Ordering::Relaxed);
            })
        };
        let jobs = [job(), job()];
        assert_eq!(jobs[0], jobs[1], "two boxes have two addresses");
        for job in jobs {
            // SAFETY: once for each that was made.
            unsafe { job.execute() };
        }
        assert_eq!(RUNS.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn a_job_that_captures_a_value_has_a_box_of_its_own() {
        static SUM: AtomicUsize = AtomicUsize::new(0);
        let jobs = [1, 2].map(|value: usize| {
            new_ref(move || {
                SUM.fetch_add(value, Ordering::Relaxed);
            })
        });
        assert_ne!(jobs[0], jobs[1]);
        for job in jobs {
            // SAFETY: each once.
            unsafe { job.execute() };
        }
        assert_eq!(SUM.load(Ordering::Relaxed), 3);
    }

    /// Without a size, but aligned, and with something to do at its end.
    #[repr(align(64))]
    struct Token;

    static DROPS: AtomicUsize = AtomicUsize::new(0);

    impl Drop for Token {
        fn drop(&mut self) {
            assert!((&raw const *self).is_aligned());
            DROPS.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn what_has_no_size_is_dropped_once_when_its_job_has_run() {
        static DROPS_BEFORE_THE_END: AtomicUsize = AtomicUsize::new(9);
        let token = Token;
        let job = new_ref(move || {
            let _token = token;
            DROPS_BEFORE_THE_END.store(DROPS.load(Ordering::Relaxed), Ordering::Relaxed);
        });
        assert_eq!(DROPS.load(Ordering::Relaxed), 0, "not when the job is made");
        // SAFETY: once.
        unsafe { job.execute() };
        assert_eq!(DROPS_BEFORE_THE_END.load(Ordering::Relaxed), 0, "not while it runs");
        assert_eq!(DROPS.load(Ordering::Relaxed), 1);
    }
}
