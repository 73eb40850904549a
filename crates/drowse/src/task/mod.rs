//! Tasks: closures and futures that run on a pool, and that somebody may wait for, or not.
//!
//! A task is one allocation: the body, then its result, in the same place; one word for its
//! [state](state); and the waiter. References to it are counted, in that word: that of the queue it
//! is in or of the step that runs, that of its [handle](Handle), those of its [wakers](waker).
//!
//! Who wakes whom:
//!
//! ```text
//!   something happens ----- Waker::wake -----> the task is offered to its pool
//!   a worker runs a step: polls the future, or calls the closure
//!   the task is done ------ Waiter::tell ----> another task is woken, or a thread
//! ```
//!
//! A closure is a future that is ready the first time. What differs is that nobody stops one that
//! has begun, and that one that has not can be dropped by whoever cancels it.
//!
//! The body is dropped before the task is done, on the pool; but for a closure that was cancelled
//! before it began, which is dropped by whoever cancels it.

mod body;
mod cell;
mod core;
mod handle;
mod state;
mod waiter;
mod waker;

pub(crate) use body::{Body, Closure, Polled};
#[cfg(all(test, target_pointer_width = "64", not(any(drowse_loom, drowse_shuttle))))]
pub(crate) use cell::size;
pub(crate) use cell::{Home, execute, new};
pub(crate) use handle::Handle;
pub(crate) use waiter::Waiter;

/// What a task that was cancelled leaves in the place of a panic's payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cancelled;
