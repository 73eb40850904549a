//! Deadlocks: when they are noticed, who is told what, and what the handler may do. And stalls.

#[path = "../common/mod.rs"]
mod common;

mod alarms;
mod handler;
mod marks;
mod obvious;
mod report;
mod stalls;
mod threads;
