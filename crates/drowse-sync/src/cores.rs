//! How many threads can run at once.

use std::sync::OnceLock;

/// The number of threads the process may run at once, as far as the system tells: its CPU affinity and,
/// on Linux, its cgroup's quota count. At least 1.
pub fn core_count() -> usize {
    if cfg!(any(drowse_loom, drowse_shuttle)) {
        return 2;
    }
    std::thread::available_parallelism().map_or(1, |count| count.get())
}

/// Whether more than one thread of the process can run at once: [`core_count`], asked of the system the first time only.
pub fn has_several_cores() -> bool {
    static SEVERAL: OnceLock<bool> = OnceLock::new();
    *SEVERAL.get_or_init(|| core_count() > 1)
}
