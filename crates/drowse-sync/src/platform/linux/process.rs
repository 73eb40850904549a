//! Identity of the process, and its CPU time.

use crate::real::AtomicU64;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

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

/// Returns the CPU time that the process has used so far, all threads together; `None` if it is not
/// known, as under the model checkers.
pub fn process_cpu_time() -> Option<Duration> {
    let mut time = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: room for the answer, which is read only if it came.
    unsafe {
        (libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, time.as_mut_ptr()) == 0).then(|| {
            let time = time.assume_init();
            Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0))
        })
    }
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
