//! Panics reach the one who should hear of them, and pools go on.

#[path = "../common/mod.rs"]
mod common;

mod elsewhere;
mod join;
mod payload;
mod scope;
