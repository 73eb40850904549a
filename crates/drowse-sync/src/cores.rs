//! Number of threads that can run at once.

use crate::platform;

/// Returns how many threads the process may run at once, as far as the system tells: CPU affinity
/// and, on Linux, the cgroup's quota count. At least 1. Reads files: some tens of microseconds.
pub fn core_count() -> usize {
    if cfg!(any(drowse_loom, drowse_shuttle)) {
        return 2;
    }
    platform::core_count()
}

#[cfg(test)]
mod tests {
    use super::core_count;
    use crate::has_several_cores;

    #[test]
    fn who_may_run_several_threads_has_several_cores() {
        assert!(core_count() == 1 || has_several_cores());
    }
}
