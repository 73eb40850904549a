//! Interface to the system: one file for each platform, chosen here and nowhere else.
//!
//! | where | file | what it implements itself |
//! |---|---|---|
//! | Linux, Android | `linux` | futexes, `membarrier`, masks of processors, `/proc`, forks |
//! | Windows | `windows` | `WaitOnAddress`, `FlushProcessWriteBuffers`, stacks, CPU time |
//! | other Unixes | `unix` | forks, by the process id |
//! | anything else, such as WebAssembly and Miri | `bare` | time, if there is a clock |
//! | models | `model` | fences that are no stronger than the real ones |
//!
//! All else comes from [`plain`], which needs only std. Each platform has all of these names:
//!
//! - `Bed`, which lets threads sleep on a word;
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

#[cfg(all(
    any(target_os = "linux", target_os = "android"),
    not(any(drowse_loom, drowse_shuttle, miri))
))]
#[path = "linux/mod.rs"]
mod this;

#[cfg(all(windows, not(any(drowse_loom, drowse_shuttle, miri))))]
#[path = "windows/mod.rs"]
mod this;

#[cfg(all(
    unix,
    not(any(target_os = "linux", target_os = "android")),
    not(any(drowse_loom, drowse_shuttle, miri))
))]
#[path = "unix.rs"]
mod this;

#[cfg(all(any(miri, not(any(unix, windows))), not(any(drowse_loom, drowse_shuttle))))]
#[path = "bare.rs"]
mod this;

pub use this::*;
