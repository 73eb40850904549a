//! How many threads can run at once.

/// The number of threads the process may run at once, as far as the system tells: its CPU affinity
/// and, on Linux, its cgroup's quota count. At least 1. Reads files: some tens of microseconds.
pub fn core_count() -> usize {
    if cfg!(any(drowse_loom, drowse_shuttle)) {
        return 2;
    }
    std::thread::available_parallelism().map_or(1, |count| count.get())
}

/// Whether the calling thread may run on more than one processor. One system call.
#[cfg(all(target_os = "linux", not(any(drowse_loom, drowse_shuttle))))]
pub fn has_several_cores() -> bool {
    let mut set = std::mem::MaybeUninit::<libc::cpu_set_t>::zeroed();
    // SAFETY: room for the answer, of the size given, which is read only if it came. (All bits zero
    // is an empty set.)
    let answered = unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), set.as_mut_ptr()) == 0 };
    // A machine with more processors than fit has several.
    // SAFETY: zeroed, and perhaps filled by the system.
    !answered || unsafe { libc::CPU_COUNT(set.assume_init_ref()) } > 1
}

/// Whether the calling thread may run on more than one processor.
#[cfg(not(all(target_os = "linux", not(any(drowse_loom, drowse_shuttle)))))]
pub fn has_several_cores() -> bool {
    core_count() > 1
}

#[cfg(test)]
mod tests {
    use super::{core_count, has_several_cores};

    #[test]
    fn who_may_run_several_threads_has_several_cores() {
        assert!(core_count() == 1 || has_several_cores());
    }
}
