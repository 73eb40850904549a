//! Deadlocks: when they are noticed, who is told, and what the handler may do.

#[path = "../common/mod.rs"]
mod common;

mod alarms;
mod handler;
mod marks;
