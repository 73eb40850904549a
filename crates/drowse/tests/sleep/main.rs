//! Who sleeps and who is woken, and where: beyond what every protocol owes (`conformance.rs`) and
//! whom each wakes (`wake_counts.rs`).

#[path = "../common/mod.rs"]
mod common;

mod defer;
mod idle;
mod outside_jobs;
mod relay;
mod starvation;
mod steering;
mod wake_baton;
mod wide_sleepy;
