//! Information from the system about the process and its threads.

use std::ffi::c_void;

/// Time in tenths of a microsecond, in two halves.
#[repr(C)]
#[derive(Default)]
struct FileTime {
    low: u32,
    high: u32,
}

impl FileTime {
    fn nanos(&self) -> u64 {
        (u64::from(self.high) << 32 | u64::from(self.low)) * 100
    }
}

#[link(name = "kernel32")]
unsafe extern "system" {
    safe fn GetCurrentProcess() -> *mut c_void;
    fn GetProcessTimes(
        process: *mut c_void,
        created: *mut FileTime,
        ended: *mut FileTime,
        kernel: *mut FileTime,
        user: *mut FileTime,
    ) -> i32;
    fn GetCurrentThreadStackLimits(low: *mut usize, high: *mut usize);
}

/// Returns the nanoseconds of CPU time that the process has used so far, all threads together;
/// `None` if the system does not tell.
pub fn process_cpu_time() -> Option<u64> {
    let [mut created, mut ended, mut kernel, mut user] = [(); 4].map(|()| FileTime::default());
    // SAFETY: the handle is valid in the calling process, and there is room for the answers.
    let answered = unsafe {
        GetProcessTimes(
            GetCurrentProcess(),
            &raw mut created,
            &raw mut ended,
            &raw mut kernel,
            &raw mut user,
        )
    };
    (answered != 0).then(|| kernel.nanos() + user.nanos())
}

/// Returns the lowest address of the calling thread's stack, and its size.
pub(crate) fn stack_bounds() -> Option<(usize, usize)> {
    let (mut low, mut high) = (0, 0);
    // SAFETY: room for both answers. It never fails.
    unsafe { GetCurrentThreadStackLimits(&raw mut low, &raw mut high) };
    high.checked_sub(low).filter(|size| *size > 0).map(|size| (low, size))
}

#[cfg(test)]
mod tests {
    use super::process_cpu_time;

    #[test]
    fn who_computes_uses_time() {
        let before = process_cpu_time().unwrap();
        while process_cpu_time() == Some(before) {
            std::hint::spin_loop();
        }
        assert!(process_cpu_time() > Some(before));
    }
}
