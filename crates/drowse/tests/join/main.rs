//! `join` and `join_context`: results, order, and that halves do run at the same time.

#[path = "../common/mod.rs"]
mod common;

mod basics;
mod context;
mod mutual_wait;
mod parallelism;
