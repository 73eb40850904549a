//! Scopes of all kinds.

#[path = "../common/mod.rs"]
mod common;

mod basics;
mod broadcast;
mod captures;
mod drops;
mod order;
mod place;
mod spawn_all;
mod stocks;
