//! Measures the CPU time of children.

use std::time::Duration;

/// Returns the user and system time of all children that have been waited for, and of theirs.
#[cfg(unix)]
pub(crate) fn of_children() -> Duration {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: getrusage fills in this structure; if it fails, zeros are valid for it.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr());
        usage.assume_init()
    };
    duration(usage.ru_utime) + duration(usage.ru_stime)
}

/// Returns no time, where the system does not say.
#[cfg(not(unix))]
pub(crate) fn of_children() -> Duration {
    Duration::ZERO
}

#[cfg(unix)]
fn duration(time: libc::timeval) -> Duration {
    let seconds = Duration::from_secs(time.tv_sec.try_into().unwrap_or(0));
    seconds + Duration::from_micros(time.tv_usec.try_into().unwrap_or(0))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_child_that_counts_takes_time() {
        let before = of_children();
        let script = "i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done";
        assert!(Command::new("sh").args(["-c", script]).status().unwrap().success());
        assert!(of_children() > before + Duration::from_millis(5));
    }
}
