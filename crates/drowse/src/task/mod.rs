//! Tasks: closures and futures that run on a pool, and whose results can be waited for.
//!
//! A task is one allocation: the body, then its result, in one place; one word for its
//! [state](state); and the waiter. The word also counts the references: of the queue that the task
//! is in or of the running step, of the [handle](Handle), and of the [wakers](waker).
//!
//! Wake-ups:
//!
//! ```text
//!   something happens ----- Waker::wake -----> the task is offered to its pool
//!   a worker runs a step: polls the future, or calls the closure
//!   the task is done ------ Waiter::tell ----> another task is woken, or a thread
//! ```
//!
//! A closure is treated as a future that is ready the first time. It differs in two ways: after it
//! has begun it cannot be cancelled, and before that it can be dropped by the cancelling thread.
//!
//! The body is dropped before the task is done, on the pool. Only a closure that is cancelled
//! before it has begun is dropped by the cancelling thread.

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

/// Payload of a cancelled task, in place of a panic's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cancelled;
