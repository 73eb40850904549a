//! Clocks and counters.

mod budget;
mod memory;
mod usage;
mod work;

pub use budget::Budget;
pub use memory::Memory;
pub use usage::{Usage, UsageMeter, thread_cpu};
pub use work::Work;
