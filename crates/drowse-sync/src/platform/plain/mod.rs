//! Platform functions that need only std.
#![allow(
    dead_code,
    unused_imports,
    unreachable_pub,
    reason = "each platform uses what it has not itself"
)]

mod bed;
mod cpu;
mod fences;

pub(crate) use bed::Bed;
pub use cpu::{CpuMask, ThreadId, current_cpu, has_several_cores};
pub use fences::{LightFences, Prepared, heavy_fences_executed, want_light_fences};
pub(crate) use fences::{heavy_fence, light_fence};

use crate::atomic::AtomicPtr;
use std::time::{Duration, Instant};

/// `true` if a heavy fence takes long. Here it is only a full fence.
pub const HEAVY_FENCES_ARE_DEAR: bool = false;

/// Returns how many threads the process may run at once.
pub(crate) fn core_count() -> usize {
    std::thread::available_parallelism().map_or(1, |count| count.get())
}

/// Returns the number of the process: here there is only one.
pub(crate) fn process_number() -> u64 {
    0
}

/// Does nothing: no process forks here, or a fork is not reported.
pub(crate) fn watch_forks() {}

/// Returns the nanoseconds of CPU time that the process has used so far: not known here.
pub fn process_cpu_time() -> Option<u64> {
    None
}

/// Gives back the memory of these pointers: each of them is null or unchanged afterwards, until a
/// thread stores to it. Here nothing is given back.
pub fn give_back_pages<T>(_pointers: &[AtomicPtr<T>]) {}

/// Returns the lowest address of the calling thread's stack, and its size: not known here.
pub(crate) fn stack_bounds() -> Option<(usize, usize)> {
    None
}

/// Returns a file of the system about a thread: there is none here.
pub(crate) fn read_task(_thread: ThreadId, _file: &str) -> Option<String> {
    None
}

/// Returns the name of a system call: not known here.
pub(crate) fn system_call_name(_number: u32) -> Option<&'static str> {
    None
}

/// Returns the command that shows the stacks of all threads: not known here.
pub fn stacks_command(_threads: &[ThreadId]) -> Option<String> {
    None
}

/// Writes to the standard error. What cannot be written is lost.
pub(crate) fn write_to_stderr(line: &[u8]) {
    let _ = std::io::Write::write_all(&mut std::io::stderr(), line);
}

/// Point in time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment(Instant);

impl Moment {
    pub(crate) const TIME_PASSES: bool = true;

    pub(crate) fn now() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}
