//! What jobs inherit from whoever sends them.

use super::registry::Registry;
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
    pub(super) fn nothing() -> Self {
        Self(None)
    }
}

impl Registry {
    /// Whether jobs inherit anything.
    pub(crate) fn has_context(&self) -> bool {
        self.handlers.context.is_some()
    }

    /// What a job inherits that is sent now, by the calling thread.
    pub(crate) fn inherit(&self) -> Inherited {
        Inherited(self.handlers.context.as_ref().map(|context| context.capture()))
    }

    /// Calls `f` with that in effect.
    #[inline]
    pub(crate) fn run_in<R>(&self, inherited: &Inherited, f: impl FnOnce() -> R) -> R {
        match (&self.handlers.context, &inherited.0) {
            (Some(context), Some(captured)) => run_in(&**context, captured, f),
            _ => f(),
        }
    }
}

fn run_in<R>(context: &dyn Context, captured: &Captured, f: impl FnOnce() -> R) -> R {
    let (mut f, mut result) = (Some(f), None);
    context.enter(captured, &mut || {
        if let Some(f) = f.take() {
            result = Some(f());
        }
    });
    // One who does not call it is no reason to lose a job.
    result.or_else(|| f.take().map(|f| f())).expect("it is called here or there")
}
