//! Job that lives in no stack frame.

use super::{JobHeader, JobRef, Slabs};
use crate::engine::WorkerThread;
use std::alloc::{self, Layout};
use std::mem;
use std::ptr::NonNull;

/// Closure in a box that is freed when it runs, or in a slot of a worker's [slabs](Slabs) if it is
/// small. The closure must not panic: it catches the panics of the user's code, and passes them on.
///
/// A closure that captures nothing, or only values without a size, needs no box: it would only hold
/// the header, which is equal for all jobs of one type.
#[repr(C)]
pub(crate) struct HeapJob<F> {
    header: JobHeader,
    func: F,
}

impl<F: FnOnce(&WorkerThread) + Send> HeapJob<F> {
    /// Header that all references to jobs without a box point to.
    const UNBOXED: &'static JobHeader = &JobHeader::new(Self::execute);

    const HAS_BOX: bool = size_of::<F>() > 0;

    const IS_SMALL: bool = Slabs::have_room_for(Layout::new::<Self>());

    /// Stores `func` as a job, and returns the only reference to it.
    ///
    /// # Safety
    ///
    /// What `func` borrows must live until it has run.
    #[inline]
    pub(crate) unsafe fn new_ref(func: F) -> JobRef {
        if !Self::HAS_BOX {
            // `execute` makes it again out of nothing. Until then it is forgotten, and not dropped.
            mem::forget(func);
            // SAFETY: a static stays where it is; `F` is `Send`; for an `F` without a size
            // `execute` reads nothing behind the header.
            return unsafe { JobRef::new(NonNull::from(Self::UNBOXED)) };
        }
        let job = if Self::IS_SMALL { allocate_small() } else { allocate(Layout::new::<Self>()) };
        // SAFETY: the memory is new, and stays put until `execute` frees it; `F` is `Send`; the
        // header comes first.
        unsafe { job.header().cast().write(Self { header: JobHeader::new(Self::execute), func }) };
        job
    }

    /// # Safety
    ///
    /// `job` must come from `new_ref`, once.
    unsafe fn execute(job: JobRef, worker: &WorkerThread) {
        // SAFETY: with a box, `new_ref` wrote the job there; it is read once, here, and its memory
        // then freed by the counterpart of `allocate_small` or `allocate`, with the same layout.
        // Without a box, a value without a size can be read from any aligned address, and `new_ref`
        // has forgotten one for each reference.
        let func = unsafe {
            if Self::HAS_BOX {
                let this = job.header().cast::<Self>().read();
                match Self::IS_SMALL {
                    true => free_small(job, worker),
                    false => alloc::dealloc(job.header().as_ptr().cast(), Layout::new::<Self>()),
                }
                this.func
            } else {
                NonNull::<F>::dangling().read()
            }
        };
        func(worker);
    }
}

/// Allocates memory for a small job: a slot if this thread is a worker, else a box of that size.
/// The reference must not be executed before the job was written.
#[inline(never)]
fn allocate_small() -> JobRef {
    WorkerThread::with_current(|worker| match worker {
        // SAFETY: a new slot.
        Some(worker) => unsafe { JobRef::new(worker.slabs().alloc().cast()) }.in_slab(),
        None => allocate(Slabs::SMALL),
    })
}

/// Allocates a box for a job of this layout. The reference must not be executed before the job was
/// written.
#[inline(never)]
fn allocate(layout: Layout) -> JobRef {
    // SAFETY: the layout has a size, since it includes a header. The memory stays where it is, and
    // `new_ref` writes the job before the reference can be executed.
    unsafe {
        let Some(memory) = NonNull::new(alloc::alloc(layout)) else {
            alloc::handle_alloc_error(layout)
        };
        JobRef::new(memory.cast())
    }
}

/// Frees the memory of a small job that was read.
///
/// # Safety
///
/// It must come from [`allocate_small`], and be freed once.
#[inline(never)]
unsafe fn free_small(job: JobRef, worker: &WorkerThread) {
    let memory = job.header().cast();
    // SAFETY: the caller's promise. The bit tells if `allocate_small` took a slot or a box.
    unsafe {
        match job.is_in_slab() {
            true => worker.slabs().free(memory),
            false => alloc::dealloc(memory.as_ptr(), Slabs::SMALL),
        }
    }
}

#[cfg(all(test, not(any(drowse_loom, drowse_shuttle))))]
mod tests {
    use super::*;
    use drowse_sync::atomic::{AtomicUsize, Ordering};

    fn new_ref(func: impl FnOnce() + Send + 'static) -> JobRef {
        // SAFETY: it borrows nothing.
        unsafe { HeapJob::new_ref(move |_: &WorkerThread| func()) }
    }

    /// # Safety
    ///
    /// Only once for each reference.
    unsafe fn execute(job: JobRef) {
        let pool = crate::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        // SAFETY: the caller's promise.
        let execute = move |worker: Option<&WorkerThread>| unsafe { job.execute(worker.unwrap()) };
        pool.install(move || WorkerThread::with_current(execute));
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
            // SAFETY: once for each reference.
            unsafe { execute(job) };
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
            // SAFETY: once for each reference.
            unsafe { execute(job) };
        }
        assert_eq!(SUM.load(Ordering::Relaxed), 3);
    }

    /// Value without a size, but with an alignment and a destructor.
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
        unsafe { execute(job) };
        assert_eq!(DROPS_BEFORE_THE_END.load(Ordering::Relaxed), 0, "not while it runs");
        assert_eq!(DROPS.load(Ordering::Relaxed), 1);
    }
}
