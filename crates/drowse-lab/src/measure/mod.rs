//! Clocks and counters.

mod budget;
mod usage;
mod work;

pub use budget::Budget;
pub use usage::{Usage, UsageMeter, thread_cpu};
pub use work::Work;
