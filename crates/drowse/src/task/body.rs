//! Bodies of tasks: closures and futures.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Code that runs in steps, until it has a result.
pub(crate) trait Body {
    type Output;

    /// `true` if the first step is the last.
    const BEGINS_ONCE: bool;

    /// Runs the next step. Must not be called after a step has returned a result.
    fn step(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output>;
}

/// Closure, until it is called.
#[derive(Debug)]
pub(crate) struct Closure<F>(pub(crate) Option<F>);

impl<F: FnOnce() -> T, T> Body for Closure<F> {
    type Output = T;

    const BEGINS_ONCE: bool = true;

    #[inline]
    fn step(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<T> {
        // SAFETY: no code relies on the closure being pinned: it is moved out here.
        let closure = unsafe { self.get_unchecked_mut() }.0.take();
        Poll::Ready(closure.expect("a closure is called once")())
    }
}

/// Future that is polled with each step.
#[derive(Debug)]
pub(crate) struct Polled<F>(pub(crate) F);

impl<F: Future> Body for Polled<F> {
    type Output = F::Output;

    const BEGINS_ONCE: bool = false;

    #[inline]
    fn step(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: the future is pinned as long as this is: it is never moved out.
        unsafe { self.map_unchecked_mut(|this| &mut this.0) }.poll(context)
    }
}
