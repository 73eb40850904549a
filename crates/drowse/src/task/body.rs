//! What a task runs.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Runs in steps, until there is a result.
pub(crate) trait Body {
    type Output;

    /// Whether its first step is its last.
    const BEGINS_ONCE: bool;

    /// The next step. Not called any more once there is a result.
    fn step(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output>;
}

/// A closure, until it is called.
#[derive(Debug)]
pub(crate) struct Closure<F>(pub(crate) Option<F>);

impl<F: FnOnce() -> T, T> Body for Closure<F> {
    type Output = T;

    const BEGINS_ONCE: bool = true;

    #[inline]
    fn step(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<T> {
        // SAFETY: nobody was promised that the closure stays where it is: it is moved out here.
        let closure = unsafe { self.get_unchecked_mut() }.0.take();
        Poll::Ready(closure.expect("a closure is called once")())
    }
}

/// A future.
#[derive(Debug)]
pub(crate) struct Polled<F>(pub(crate) F);

impl<F: Future> Body for Polled<F> {
    type Output = F::Output;

    const BEGINS_ONCE: bool = false;

    #[inline]
    fn step(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: the future stays where it is as long as this does.
        unsafe { self.map_unchecked_mut(|this| &mut this.0) }.poll(context)
    }
}
