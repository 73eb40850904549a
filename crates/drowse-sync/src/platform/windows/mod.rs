//! Windows 10 and later, as std requires.

mod bed;
mod fences;
mod process;

pub(crate) use bed::Bed;
pub use fences::{LightFences, Prepared, heavy_fences_executed, want_light_fences};
pub(crate) use fences::{heavy_fence, light_fence};
pub use process::process_cpu_time;
pub(crate) use process::stack_bounds;

pub use super::plain::{
    CpuMask, ThreadId, current_cpu, give_back_pages, has_several_cores, stacks_command,
};
pub(crate) use super::plain::{
    Moment, core_count, process_number, read_task, system_call_name, watch_forks, write_to_stderr,
};

/// `true`: a heavy fence interrupts other processors, and takes so long that a thief should first
/// ask the owner to share.
pub const HEAVY_FENCES_ARE_DEAR: bool = true;
