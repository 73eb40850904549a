//! Programs that hang elsewhere: here they finish, fail, or are reported. docs/guide/hangs.md tells
//! the story of each.

#[path = "../common/mod.rs"]
mod common;

mod blocking;
mod corners;
mod depth;
mod isolation;
mod programs;
mod submitters;
