//! Platform of the model checkers: one process, whose time stands still.

pub(crate) use super::plain::{
    Bed, core_count, process_number, read_task, stack_bounds, system_call_name, watch_forks,
    write_to_stderr,
};
pub use super::plain::{
    CpuMask, HEAVY_FENCES_ARE_DEAR, ThreadId, current_cpu, has_several_cores, process_cpu_time,
    stacks_command,
};
use crate::atomic::AtomicPtr;
use std::time::Duration;

#[cfg(drowse_loom)]
pub use super::loom_fences::{
    LightFences, Prepared, change_light_fences, changing_light_fences, heavy_fences_executed,
    want_light_fences, without_light_fences,
};
#[cfg(drowse_loom)]
pub(crate) use super::loom_fences::{heavy_fence, light_fence};
#[cfg(drowse_shuttle)]
pub use super::plain::{LightFences, Prepared, heavy_fences_executed, want_light_fences};
#[cfg(drowse_shuttle)]
pub(crate) use super::plain::{heavy_fence, light_fence};

/// Gives back the memory of these pointers: sets them to null, which other threads may notice late.
pub fn give_back_pages<T>(pointers: &[AtomicPtr<T>]) {
    for pointer in pointers {
        // ORDERING: relaxed; a real system promises no more.
        pointer.store(std::ptr::null_mut(), crate::atomic::Ordering::Relaxed);
    }
}

/// Point in time, equal to any other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment;

impl Moment {
    pub(crate) const TIME_PASSES: bool = false;

    pub(crate) fn now() -> Self {
        Self
    }

    pub(crate) fn elapsed(self) -> Duration {
        Duration::ZERO
    }
}
