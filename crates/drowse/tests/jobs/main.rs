//! What nobody waits for, what everybody does, and what a worker knows of itself.

#[path = "../common/mod.rs"]
mod common;

mod broadcast;
mod current;
mod drops;
mod fairness;
mod handle;
mod spawn;
mod spawn_all;
mod spawn_broadcast;
mod yielding;
