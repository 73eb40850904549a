//! Closure without its type, for which its caller waits.

use crate::engine::WorkerThread;
use std::marker::PhantomData;
use std::ptr::NonNull;

/// A closure in its caller's frame, on its way to a worker. The engine does not know its type, and
/// so is compiled once.
pub(crate) struct Call<'a> {
    closure: NonNull<()>,
    run: unsafe fn(NonNull<()>, &WorkerThread, bool),
    lent: PhantomData<&'a mut ()>,
}

// SAFETY: `new` takes closures that are `Send`.
unsafe impl Send for Call<'_> {}

impl<'a> Call<'a> {
    /// Lends the closure to a call. It gets the worker that it runs on, and `true` if this is
    /// another thread than the caller's.
    #[inline(always)]
    pub(crate) fn new<F: FnMut(&WorkerThread, bool) + Send>(closure: &'a mut F) -> Self {
        /// # Safety
        ///
        /// `closure` must point to an `F` that the caller has alone.
        unsafe fn run<F: FnMut(&WorkerThread, bool)>(
            closure: NonNull<()>,
            worker: &WorkerThread,
            migrated: bool,
        ) {
            // SAFETY: the caller's promise.
            (unsafe { closure.cast::<F>().as_mut() })(worker, migrated);
        }
        Self { closure: NonNull::from(closure).cast(), run: run::<F>, lent: PhantomData }
    }

    /// Returns the address of the function that calls the closure: usually a different one for each
    /// call site.
    pub(crate) fn function(&self) -> usize {
        self.run as usize
    }

    /// Calls the closure. Its panic unwinds into the caller.
    #[inline]
    pub(crate) fn run(&mut self, worker: &WorkerThread, migrated: bool) {
        // SAFETY: the closure is lent to this, and of the type that the function was made for.
        unsafe { (self.run)(self.closure, worker, migrated) }
    }
}

/// Passes `op` to `enter`, which calls it once, and returns what `op` has returned.
#[inline(always)]
pub(crate) fn call_once<OP, R>(op: OP, enter: impl FnOnce(Call<'_>)) -> R
where
    OP: FnOnce(&WorkerThread) -> R + Send,
    R: Send,
{
    let (mut op, mut result) = (Some(op), None);
    enter(Call::new(&mut |worker: &WorkerThread, _| result = op.take().map(|op| op(worker))));
    result.unwrap_or_else(|| was_not_called())
}

#[cold]
#[inline(never)]
pub(crate) fn was_not_called() -> ! {
    unreachable!("what enters a pool is called")
}
