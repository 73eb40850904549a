//! Builder method for the context that jobs inherit.

use super::ThreadPoolBuilder;
use crate::engine::{Captured, Context};
use std::marker::PhantomData;

impl<S> ThreadPoolBuilder<S> {
    /// Sets what each job inherits from the code that sends it: a tracing span, a locale, a
    /// runtime's handle.
    ///
    /// The thread that sends a job calls `capture`. The worker that runs the job calls `enter` with
    /// the captured value and a closure `run`, which runs the job. `enter` must call `run` once,
    /// and must have undone its own changes when it returns. (If it does not call `run`, or panics
    /// before that, the job runs afterwards without the context. It never runs twice.) For a
    /// future, `enter` is called at each poll. Jobs are what `spawn` and its relatives send, the
    /// jobs of scopes and broadcasts, the closure of `install` if it goes to another thread, and
    /// the second half of a `join`.
    ///
    /// Both closures should be quick. A pool with a context is slower: each job needs one or two
    /// allocations more, and a `join` takes some tens of nanoseconds. A pool without one pays
    /// nothing.
    ///
    /// # Panics
    ///
    /// A panic of `capture` unwinds into the code that sends the job. A panic of `enter` is treated
    /// as the job's, or ends the process if no code can receive it. A panic of the job does not
    /// unwind through `enter`: it continues when `enter` has returned.
    ///
    /// # Example
    ///
    /// ```
    /// use std::cell::Cell;
    ///
    /// thread_local! {
    ///     static REQUEST: Cell<u32> = const { Cell::new(0) };
    /// }
    /// let pool = drowse::ThreadPoolBuilder::new()
    ///     .num_threads(2)
    ///     .context(|| REQUEST.get(), |request, run| {
    ///         let before = REQUEST.replace(*request);
    ///         run();
    ///         REQUEST.set(before);
    ///     })
    ///     .build()
    ///     .unwrap();
    /// REQUEST.set(42);
    /// assert_eq!(pool.install(|| drowse::join(|| REQUEST.get(), || REQUEST.get())), (42, 42));
    /// ```
    pub fn context<C, F, G>(mut self, capture: F, enter: G) -> Self
    where
        C: Send + Sync + 'static,
        F: Fn() -> C + Send + Sync + 'static,
        G: Fn(&C, &mut dyn FnMut()) + Send + Sync + 'static,
    {
        self.chosen.handlers.context =
            Some(Box::new(Hooks { capture, enter, captured: PhantomData }));
        self
    }
}

/// Closures of the user.
struct Hooks<C, F, G> {
    capture: F,
    enter: G,
    captured: PhantomData<fn() -> C>,
}

impl<C, F, G> Context for Hooks<C, F, G>
where
    C: Send + Sync + 'static,
    F: Fn() -> C + Send + Sync,
    G: Fn(&C, &mut dyn FnMut()) + Send + Sync,
{
    fn capture(&self) -> Captured {
        Box::new((self.capture)())
    }

    fn enter(&self, captured: &Captured, run: &mut dyn FnMut()) {
        let captured = captured.downcast_ref().expect("captured by the same hooks");
        (self.enter)(captured, run);
    }
}
