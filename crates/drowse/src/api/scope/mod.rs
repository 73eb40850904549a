//! Scopes: any number of closures that may borrow, and a wait for all of them at the end.

mod base;
mod cancel;
mod fifo;
mod lifo;
mod tasks;
mod try_spawn;

pub(super) use fifo::in_place_scope_fifo_in;
pub use fifo::{ScopeFifo, in_place_scope_fifo, scope_fifo};
pub(super) use lifo::in_place_scope_in;
pub use lifo::{Scope, in_place_scope, scope};
