//! Systems with little support in std, such as WebAssembly.
//!
//! Without threads, the thread that uses a pool becomes its only worker, and never sleeps.

pub(crate) use super::plain::{
    Bed, core_count, heavy_fence, light_fence, process_number, read_task, stack_bounds,
    system_call_name, watch_forks, write_to_stderr,
};
pub use super::plain::{
    CpuMask, HEAVY_FENCES_ARE_DEAR, LightFences, Prepared, ThreadId, current_cpu, give_back_pages,
    has_several_cores, heavy_fences_executed, process_cpu_time, stacks_command, want_light_fences,
};
use std::time::{Duration, Instant};

/// Point in time, if there is a clock. Without a clock, time stands still.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment(Option<Instant>);

impl Moment {
    /// `false` for an unknown system: std has no clock there, and panics.
    pub(crate) const TIME_PASSES: bool = !cfg!(target_os = "unknown");

    pub(crate) fn now() -> Self {
        Self(Self::TIME_PASSES.then(Instant::now))
    }

    pub(crate) fn elapsed(self) -> Duration {
        self.0.map_or(Duration::ZERO, |since| since.elapsed())
    }
}
