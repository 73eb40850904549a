//! Windows: no signals, no fork, and nobody counts context switches.

#[path = "not_unix.rs"]
mod not_unix;

use std::ffi::c_void;
use std::time::Duration;

pub(crate) use not_unix::*;

/// So many tenths of a microsecond, in two halves.
#[repr(C)]
#[derive(Default)]
struct FileTime {
    low: u32,
    high: u32,
}

type Times = unsafe extern "system" fn(
    *mut c_void,
    *mut FileTime,
    *mut FileTime,
    *mut FileTime,
    *mut FileTime,
) -> i32;

#[link(name = "kernel32")]
unsafe extern "system" {
    safe fn GetCurrentProcess() -> *mut c_void;
    safe fn GetCurrentThread() -> *mut c_void;
    fn GetProcessTimes(
        process: *mut c_void,
        created: *mut FileTime,
        ended: *mut FileTime,
        kernel: *mut FileTime,
        user: *mut FileTime,
    ) -> i32;
    fn GetThreadTimes(
        thread: *mut c_void,
        created: *mut FileTime,
        ended: *mut FileTime,
        kernel: *mut FileTime,
        user: *mut FileTime,
    ) -> i32;
}

fn cpu(times: Times, of: *mut c_void) -> Duration {
    let [mut created, mut ended, mut kernel, mut user] = [(); 4].map(|()| FileTime::default());
    // SAFETY: the handle is good for whoever asks, and there is room for the answers.
    let answered =
        unsafe { times(of, &raw mut created, &raw mut ended, &raw mut kernel, &raw mut user) };
    assert_ne!(answered, 0, "every process, and every thread, has these times");
    [kernel, user]
        .iter()
        .map(|time| (u64::from(time.high) << 32 | u64::from(time.low)) * 100)
        .map(Duration::from_nanos)
        .sum()
}

/// CPU time of this process since it began. Context switches are not counted.
pub(crate) fn process_usage() -> (Duration, Option<[i64; 2]>) {
    (cpu(GetProcessTimes, GetCurrentProcess()), None)
}

/// The CPU time of the calling thread, since it began.
pub(crate) fn thread_cpu() -> Duration {
    cpu(GetThreadTimes, GetCurrentThread())
}
