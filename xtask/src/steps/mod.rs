//! The steps that are little more than a call of cargo.

mod counts;
mod examples;
mod lint;
mod tests;

pub(crate) use counts::{libtest_counts, nextest_summary};
pub(crate) use examples::examples;
pub(crate) use lint::{clippy, docs, fmt};
pub(crate) use tests::{TestRun, doctests, tests};
