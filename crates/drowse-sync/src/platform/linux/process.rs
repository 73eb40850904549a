//! Identity of the process, and its CPU time.

use crate::real::AtomicU64;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering};

/// Number of forks that lead from the first process to this one, or more.
static FORKS: AtomicU64 = AtomicU64::new(0);

#[inline]
pub(crate) fn process_number() -> u64 {
    // ORDERING: relaxed; it changes only in `in_child`, when the process has one thread.
    FORKS.load(Ordering::Relaxed)
}

/// Makes the C library call [`in_child`] after each fork.
pub(crate) fn watch_forks() {
    static WATCHED: AtomicBool = AtomicBool::new(false);
    // ORDERING: relaxed, both. No thread waits for another to finish this, since the other may be
    // gone in a forked child. If two threads register, each fork counts twice.
    if !WATCHED.load(Ordering::Relaxed) {
        // SAFETY: `in_child` only changes atomics and reads a thread-local word.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
        WATCHED.store(true, Ordering::Relaxed);
    }
}

extern "C" fn in_child() {
    // ORDERING: relaxed; a forked child has one thread.
    FORKS.fetch_add(1, Ordering::Relaxed);
    super::membarrier::after_fork();
}

/// Returns the nanoseconds of CPU time that the process has used so far, all threads together;
/// `None` if it is not known, as under the model checkers.
pub fn process_cpu_time() -> Option<u64> {
    read_clock(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// Returns the nanoseconds that a clock of the system shows. Signals and forked children may call
/// it.
pub(super) fn read_clock(clock: libc::clockid_t) -> Option<u64> {
    let mut time = MaybeUninit::<libc::timespec>::zeroed();
    // SAFETY: room for the answer. Zeros are a valid time, should none come.
    let (answered, time) =
        unsafe { (libc::clock_gettime(clock, time.as_mut_ptr()) == 0, time.assume_init()) };
    answered.then_some(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

#[cfg(test)]
mod tests {
    use super::process_cpu_time;

    #[test]
    fn who_computes_uses_time() {
        let Some(before) = process_cpu_time() else { return };
        while process_cpu_time() == Some(before) {
            std::hint::spin_loop();
        }
        assert!(process_cpu_time() > Some(before));
    }
}
