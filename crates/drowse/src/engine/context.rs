//! What jobs inherit from the code that sends them.

use super::registry::Registry;
use super::worker::WorkerThread;
use crate::job::{HeapJob, JobRef};
use crate::unwind::{self, Payload};
use std::any::Any;

/// How something is taken along to another thread, and put to use there.
pub(crate) trait Context: Send + Sync {
    /// On the thread that sends a job.
    fn capture(&self) -> Captured;

    /// On the thread that runs it: calls `run` once, with what was captured in effect.
    fn enter(&self, captured: &Captured, run: &mut dyn FnMut());
}

/// What was taken along, of whatever type.
pub(crate) type Captured = Box<dyn Any + Send + Sync>;

/// What one job has inherited. Nothing, in most pools.
pub(crate) struct Inherited(Option<Captured>);

impl Inherited {
    #[inline]
    pub(crate) fn is_something(&self) -> bool {
        self.0.is_some()
    }
}

impl Drop for Inherited {
    #[inline]
    fn drop(&mut self) {
        if let Some(captured) = self.0.take() {
            drop_captured(captured);
        }
    }
}

/// Drops a value of the user's, where its panic would go nowhere.
#[cold]
#[inline(never)]
fn drop_captured(captured: Captured) {
    unwind::drop_quietly(captured);
}

impl Registry {
    /// Whether jobs inherit anything.
    #[inline]
    pub(crate) fn has_context(&self) -> bool {
        self.handlers.context.is_some()
    }

    /// What a job inherits that is sent now, by the calling thread.
    #[inline]
    pub(crate) fn inherit(&self) -> Inherited {
        Inherited(if self.has_context() { self.capture() } else { None })
    }

    #[cold]
    #[inline(never)]
    fn capture(&self) -> Option<Captured> {
        self.handlers.context.as_ref().map(|context| context.capture())
    }

    /// Calls `f` exactly once, with `inherited` in effect. Panics as `f` does; if `f` does not
    /// panic, as the closure that enters the context does. `f` has been called by then.
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

    /// Returns a job that executes `job` with `inherited` in effect, or without if `is_off` says
    /// so, and then calls `finally` with the panic that `execute` returns, or else that of the
    /// closure that enters the context.
    ///
    /// # Safety
    ///
    /// `job` must not be in any queue, and be executed with what this returns only, by `execute`.
    /// What `is_off` and `finally` borrow must live until then.
    pub(crate) unsafe fn job_in(
        inherited: Inherited,
        job: JobRef,
        execute: unsafe fn(&WorkerThread, JobRef) -> Option<Payload>,
        is_off: impl FnOnce() -> bool + Send,
        finally: impl FnOnce(&WorkerThread, Option<Payload>) + Send,
    ) -> JobRef {
        let run = move |worker: &WorkerThread| {
            // WAKE: `CountLatch::wait` may wait for what is in stock, and `enter` for that.
            worker.begin_other_job();
            let mut panic = None;
            // SAFETY: called once, here or by `run_in`; and by the caller's promise nothing else
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
                    unwind::drop_quietly(entered);
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
            // The panic is the job's, also where `enter` would catch it. And it runs once.
            result.get_or_insert_with(|| unwind::halt_unwinding(&mut *f));
        });
    });
    // An `enter` that does not call it is no reason to lose a job.
    let panic = result.map_or_else(|| unwind::halt_unwinding(f).err(), Result::err);
    match (panic, entered) {
        (None, Ok(())) => (),
        (None, Err(panic)) | (Some(panic), Ok(())) => unwind::resume_unwinding(panic),
        (Some(panic), Err(second)) => {
            unwind::drop_quietly(second);
            unwind::resume_unwinding(panic)
        }
    }
}
