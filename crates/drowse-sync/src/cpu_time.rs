//! How much the process computes.

use std::time::Duration;

/// The CPU time that the process has used so far, all threads together; `None` where that is not
/// known, as under the model checkers.
#[cfg(all(target_os = "linux", not(any(drowse_loom, drowse_shuttle))))]
pub fn process_cpu_time() -> Option<Duration> {
    let mut time = std::mem::MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: room for the answer, which is read only if it came.
    unsafe {
        (libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, time.as_mut_ptr()) == 0).then(|| {
            let time = time.assume_init();
            Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0))
        })
    }
}

/// The CPU time that the process has used so far: not known.
#[cfg(not(all(target_os = "linux", not(any(drowse_loom, drowse_shuttle)))))]
pub fn process_cpu_time() -> Option<Duration> {
    None
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
