//! Pools: how they are built, started, watched and ended.

#[path = "../common/mod.rs"]
mod common;

mod build_scoped;
mod builder;
mod guests;
mod handlers;
mod metrics;
mod nested;
mod outside_tokens;
mod shutdown;
mod spawn_handler;
mod thread_tokens;
mod trace;
mod traits;
mod use_current_thread;
