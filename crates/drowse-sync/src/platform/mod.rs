//! What drowse asks of the system: one file a platform, chosen here and nowhere else.
//!
//! | where | file | what it has of its own |
//! |---|---|---|
//! | Linux, Android | `linux` | futexes, `membarrier`, masks of processors, `/proc`, forks |
//! | Windows | `windows` | `WaitOnAddress`, `FlushProcessWriteBuffers`, stacks, CPU time |
//! | other Unixes | `unix` | forks, by the number of the process |
//! | anything else, such as WebAssembly | `bare` | time, where there is some |
//! | models | `model` | fences that are no stronger than the real ones |
//!
//! What a platform has not, it takes from [`plain`], which std alone is enough for. Each has all of
//! these names:
//!
//! - `Bed`, where threads sleep on a word;
//! - `LightFences`, `Prepared`, `light_fence`, `heavy_fence`, `heavy_fences_executed`,
//!   `want_light_fences`, `HEAVY_FENCES_ARE_DEAR`;
//! - `ThreadId`, `CpuMask`, `current_cpu`, `has_several_cores`;
//! - `process_number`, `watch_forks`, `process_cpu_time`;
//! - `give_back_pages`, `stack_bounds`, `read_task`, `system_call_name`, `stacks_command`,
//!   `write_to_stderr`;
//! - `Moment`, a point in time.

mod plain;

#[cfg(drowse_loom)]
mod loom_fences;

#[cfg(any(drowse_loom, drowse_shuttle))]
#[path = "model.rs"]
mod this;

#[cfg(all(any(target_os = "linux", target_os = "android"), not(any(drowse_loom, drowse_shuttle))))]
#[path = "linux/mod.rs"]
mod this;

#[cfg(all(windows, not(any(drowse_loom, drowse_shuttle))))]
#[path = "windows/mod.rs"]
mod this;

#[cfg(all(
    unix,
    not(any(target_os = "linux", target_os = "android")),
    not(any(drowse_loom, drowse_shuttle))
))]
#[path = "unix.rs"]
mod this;

#[cfg(not(any(unix, windows, drowse_loom, drowse_shuttle)))]
#[path = "bare.rs"]
mod this;

pub use this::*;
