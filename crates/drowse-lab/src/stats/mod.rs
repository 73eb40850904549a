//! What samples say: medians, their intervals, whether two sets differ, and figures with their
//! units.
//!
//! Nothing here drops a sample. What is not a number (a failed division, say) is left out of sums
//! and orders, because it has no place in them; [`Summary::count`] tells how many samples did
//! count.

mod bootstrap;
mod by_process;
mod differ;
mod few;
mod figure;
mod order;
mod random;

pub use bootstrap::{Interval, median_interval, ratio_interval};
pub use by_process::ByProcess;
pub use differ::{Difference, Limits, Verdict, differ, differ_within};
pub use figure::{Scale, figure, number, range, range_beside, ratio};
pub use order::{Summary, median, quantile};
pub use random::Random;
