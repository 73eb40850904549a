//! What std alone is enough for.
#![allow(dead_code, unused_imports, unreachable_pub, reason = "each platform uses what it has not itself")]

mod bed;
mod cpu;
mod fences;

pub(crate) use bed::Bed;
pub use cpu::{CpuMask, ThreadId, current_cpu, has_several_cores};
pub use fences::{LightFences, Prepared, heavy_fences_executed, want_light_fences};
pub(crate) use fences::{heavy_fence, light_fence};

use crate::atomic::AtomicPtr;
use std::time::{Duration, Instant};

/// Whether a heavy fence takes long: here it is no more than a full one.
pub const HEAVY_FENCES_ARE_DEAR: bool = false;

/// The number of the one process that there is.
pub(crate) fn process_number() -> u64 {
    0
}

/// Nobody forks, or is told of it.
pub(crate) fn watch_forks() {}

/// The CPU time that the process has used so far: not known.
pub fn process_cpu_time() -> Option<Duration> {
    None
}

/// Gives back what memory these pointers take up: from now on, until somebody stores to it, a
/// pointer is null, or what it was. Not here.
pub fn give_back_pages<T>(_pointers: &[AtomicPtr<T>]) {}

/// The lowest address of the calling thread's stack, and its size: not known.
pub(crate) fn stack_bounds() -> Option<(usize, usize)> {
    None
}

/// What the system tells of a thread: nothing.
pub(crate) fn read_task(_thread: ThreadId, _file: &str) -> Option<String> {
    None
}

/// The name of a system call: not known.
pub(crate) fn system_call_name(_number: u32) -> Option<&'static str> {
    None
}

/// The command that shows the stacks of all threads: not known.
pub fn stacks_command(_threads: &[ThreadId]) -> Option<String> {
    None
}

/// Writes to the standard error. What is not written is lost.
pub(crate) fn write_to_stderr(line: &[u8]) {
    let _ = std::io::Write::write_all(&mut std::io::stderr(), line);
}

/// A point in time.
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
