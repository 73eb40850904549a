//! Jobs that inherit values from the code that sends them.

use super::context::{Captured, Context, Inherited};
use super::registry::Registry;
use super::worker::WorkerThread;
use crate::job::{HeapJob, JobRef};
use crate::unwind::{self, Payload};

impl Registry {
    /// Returns `true` if the jobs of this pool inherit something.
    #[inline]
    pub(crate) fn has_context(&self) -> bool {
        self.handlers.context.is_some()
    }

    /// Captures what a job inherits that the calling thread sends now.
    #[inline]
    pub(crate) fn inherit(&self) -> Inherited {
        Inherited(if self.has_context() { self.capture() } else { None })
    }

    #[cold]
    #[inline(never)]
    fn capture(&self) -> Option<Captured> {
        self.handlers.context.as_ref().map(|context| context.capture())
    }

    /// Calls `f` exactly once, with `inherited` in effect. Resumes the panic of `f`; or else, after
    /// `f` has been called, the panic of the closure that enters the context.
    #[inline]
    pub(crate) fn run_in(&self, inherited: &Inherited, f: &mut dyn FnMut()) {
        match &inherited.0 {
            Some(captured) => self.run_in_context(captured, f),
            None => f(),
        }
    }

    #[cold]
    #[inline(never)]
    fn run_in_context(&self, captured: &Captured, f: &mut dyn FnMut()) {
        match &self.handlers.context {
            Some(context) => enter_context(&**context, captured, f),
            None => unreachable!("what was captured comes from a pool with a context"),
        }
    }

    /// Returns a job that executes `job` with `inherited` in effect, or without it if `is_off`
    /// returns `true`. It then calls `finally` with the panic that `execute` returns, or else with
    /// the panic of the closure that enters the context.
    ///
    /// # Safety
    ///
    /// `job` must not be in any queue, and must be executed only by `execute`, in the job that this
    /// returns. What `is_off` and `finally` borrow must live until then.
    pub(crate) unsafe fn job_in(
        inherited: Inherited,
        job: JobRef,
        execute: unsafe fn(&WorkerThread, JobRef) -> Option<Payload>,
        is_off: impl FnOnce() -> bool + Send,
        finally: impl FnOnce(&WorkerThread, Option<Payload>) + Send,
    ) -> JobRef {
        let run = move |worker: &WorkerThread| {
            // WAKE: `CountLatch::wait` may wait for the scope counts that we have in stock, and
            // `Context::enter`, which is called below, for the thread in it.
            worker.begin_other_job();
            let mut panic = None;
            // SAFETY: called once, here or by `run_in`; the caller promises that nothing else
            // executes `job`.
            let mut run = || panic = unsafe { execute(worker, job) };
            let entered = unwind::halt_unwinding(|| match is_off() {
                true => run(),
                false => worker.registry().run_in(&inherited, &mut run),
            });
            drop(inherited);
            match (panic, entered) {
                (panic, Ok(())) => finally(worker, panic),
                (None, Err(entered)) => finally(worker, Some(entered)),
                (panic, Err(entered)) => {
                    unwind::drop_panic(entered);
                    finally(worker, panic);
                }
            }
        };
        // SAFETY: the caller's promise.
        unsafe { HeapJob::new_ref(run) }
    }
}

fn enter_context(context: &dyn Context, captured: &Captured, f: &mut dyn FnMut()) {
    let mut result = None;
    let entered = unwind::halt_unwinding(|| {
        context.enter(captured, &mut || {
            // The panic is the job's, even if `enter` would catch it. And `f` runs only once.
            result.get_or_insert_with(|| unwind::halt_unwinding(&mut *f));
        });
    });
    // If `enter` did not call its closure, the job runs here and is not lost.
    let panic = result.map_or_else(|| unwind::halt_unwinding(f).err(), Result::err);
    match (panic, entered) {
        (None, Ok(())) => (),
        (None, Err(panic)) | (Some(panic), Ok(())) => unwind::resume_unwinding(panic),
        (Some(panic), Err(second)) => {
            unwind::drop_panic(second);
            unwind::resume_unwinding(panic)
        }
    }
}
