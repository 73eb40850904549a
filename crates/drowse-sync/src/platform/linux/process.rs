//! Which process this is, and how much it computes.

use crate::real::AtomicU64;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How many forks lead from the first process to this one, at least.
static FORKS: AtomicU64 = AtomicU64::new(0);

#[inline]
pub(crate) fn process_number() -> u64 {
    // ORDERING: relaxed; it changes when there is one thread.
    FORKS.load(Ordering::Relaxed)
}

/// Sees to it that [`in_child`] is called.
pub(crate) fn watch_forks() {
    static WATCHED: AtomicBool = AtomicBool::new(false);
    // ORDERING: relaxed, both. Nobody waits for another one to be done with it, who may be gone
    // in a child. If two do it, so much is counted twice.
    if !WATCHED.load(Ordering::Relaxed) {
        // SAFETY: the function does nothing but change atomics and look at a thread-local word.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
        WATCHED.store(true, Ordering::Relaxed);
    }
}

extern "C" fn in_child() {
    // ORDERING: relaxed; there is one thread.
    FORKS.fetch_add(1, Ordering::Relaxed);
    super::membarrier::after_fork();
}

/// The CPU time that the process has used so far, all threads together; `None` where that is not
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
