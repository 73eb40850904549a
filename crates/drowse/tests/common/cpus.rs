//! Where threads may run.

use std::collections::BTreeSet;
use std::mem;

/// Processors.
pub(crate) type Cpus = BTreeSet<usize>;

/// Where the thread may run; 0 is the calling one.
pub(crate) fn mask_of(thread: libc::pid_t) -> Cpus {
    // SAFETY: all zero is an empty set, which the system fills.
    unsafe {
        let mut set: libc::cpu_set_t = mem::zeroed();
        assert_eq!(libc::sched_getaffinity(thread, size_of::<libc::cpu_set_t>(), &raw mut set), 0);
        (0..libc::CPU_SETSIZE as usize).filter(|cpu| libc::CPU_ISSET(*cpu, &set)).collect()
    }
}

/// Where the calling thread may run.
pub(crate) fn mask() -> Cpus {
    mask_of(0)
}

/// Lets the calling thread run there alone, and those that it starts.
pub(crate) fn set_mask(cpus: &Cpus) {
    // SAFETY: all zero is an empty set; the system reads it.
    unsafe {
        let mut set: libc::cpu_set_t = mem::zeroed();
        cpus.iter().for_each(|cpu| libc::CPU_SET(*cpu, &mut set));
        assert_eq!(libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set), 0);
    }
}
