//! Linux and Android.

mod budget;
mod cores;
mod cpu;
mod futex;
mod membarrier;
mod memory;
mod process;
mod stack;
mod task;

pub(crate) use cores::core_count;
pub use cpu::{CpuMask, ThreadId, current_cpu, has_several_cores};
pub(crate) use futex::Bed;
pub use membarrier::{LightFences, Prepared, heavy_fences_executed, want_light_fences};
pub(crate) use membarrier::{heavy_fence, light_fence};
pub use memory::give_back_pages;
pub use process::process_cpu_time;
pub(crate) use process::{process_number, watch_forks};
pub(crate) use stack::stack_bounds;
pub use task::stacks_command;
pub(crate) use task::{read_task, system_call_name};

pub(crate) use super::plain::Moment;

/// `true`: a heavy fence is a system call that interrupts other processors, and takes so long that
/// a thief should first ask the owner to share.
pub const HEAVY_FENCES_ARE_DEAR: bool = true;

/// Writes to the standard error, without a lock. What cannot be written is lost.
pub(crate) fn write_to_stderr(line: &[u8]) {
    // SAFETY: reads `line.len()` bytes of `line`.
    unsafe { libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len()) };
}
