//! Clocks and counters.

mod budget;
mod memory;
mod usage;
mod work;

pub use budget::Budget;
pub use memory::Memory;
pub use usage::{Usage, UsageMeter};
pub use work::Work;
