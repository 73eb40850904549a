//! Values that jobs inherit from the code that sends them.

use crate::unwind;
use std::any::Any;

/// Hooks that take a value along to another thread, and put it into effect there.
pub(crate) trait Context: Send + Sync {
    /// Captures the value, on the thread that sends a job.
    fn capture(&self) -> Captured;

    /// Calls `run` once, with `captured` in effect, on the thread that runs the job.
    fn enter(&self, captured: &Captured, run: &mut dyn FnMut());
}

/// A captured value, of any type.
pub(crate) type Captured = Box<dyn Any + Send + Sync>;

/// A value that a job has inherited; none in most pools.
pub(crate) struct Inherited(pub(super) Option<Captured>);

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

/// Drops a value of the user's. A panic of its destructor ends here.
#[cold]
#[inline(never)]
fn drop_captured(captured: Captured) {
    unwind::drop_quietly(captured);
}
