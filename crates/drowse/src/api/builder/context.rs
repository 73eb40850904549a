//! What jobs inherit.

use super::ThreadPoolBuilder;
use crate::engine::{Captured, Context};
use std::marker::PhantomData;

impl<S> ThreadPoolBuilder<S> {
    /// What each job of the pool inherits from whoever sends it: a span of `tracing`, the handle of
    /// a tokio runtime, a locale.
    ///
    /// `capture` is called by the thread that sends a job, and `enter` by the worker that runs it,
    /// with what was captured and the rest: `enter` calls that once, and has undone whatever it did
    /// when it returns. (If it does not call it, or panics before, the job runs without it,
    /// afterwards; and never twice.) A future is entered for each of its steps. Jobs are what
    /// `spawn` and its relatives send, the jobs of scopes and broadcasts, the closure of `install`
    /// if it goes to another thread, and the second half of a `join`.
    ///
    /// Both should be quick. A pool that has this is slower: each job has one allocation more, or
    /// two, and a `join` takes some tens of nanoseconds. One that has not is as fast as if there
    /// were no such thing.
    ///
    /// # Panics
    ///
    /// A panic of `capture` is that of whoever sends the job. One of `enter` is that of the job,
    /// or ends the process if nobody is there to hear of it. A panic of the job does not unwind
    /// through `enter`: it goes on when `enter` has returned.
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
        self.chosen.handlers.context = Some(Box::new(Hooks { capture, enter, captured: PhantomData }));
        self
    }
}

/// What a user has given us.
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
