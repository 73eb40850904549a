//! Unixes other than Linux: macOS, the BSDs, and so on.
//!
//! Threads sleep by std's locks. (macOS has `os_sync_wait_on_address` since 14.4 only, and the
//! calls that std uses below that are private.)

pub(crate) use super::plain::{
    Bed, Moment, core_count, heavy_fence, light_fence, read_task, stack_bounds, system_call_name,
    write_to_stderr,
};
pub use super::plain::{
    CpuMask, HEAVY_FENCES_ARE_DEAR, LightFences, Prepared, ThreadId, current_cpu, give_back_pages,
    has_several_cores, heavy_fences_executed, process_cpu_time, want_light_fences,
};

/// Returns the process id, which differs in a forked child. The C library caches it, or it is a
/// system call that does nothing else.
pub(crate) fn process_number() -> u64 {
    std::process::id().into()
}

/// Does nothing: the process id needs no preparation.
pub(crate) fn watch_forks() {}

/// Returns the command that shows the stacks of all threads of this process.
pub fn stacks_command(_threads: &[ThreadId]) -> Option<String> {
    Some(format!("lldb -p {} --batch -o 'bt all'", std::process::id()))
}
