//! Sleeping on a word by futex: the kernel keeps the sleepers.

use crate::atomic::AtomicU32;
use crate::wait_word::holds;
use std::ptr;
use std::time::Duration;

/// Number of the system call. Architectures whose time always had 64 bits have only `futex_time64`.
#[cfg(not(target_arch = "riscv32"))]
pub(super) const SYS_FUTEX: libc::c_long = libc::SYS_futex;
#[cfg(target_arch = "riscv32")]
pub(super) const SYS_FUTEX: libc::c_long = 422; // futex_time64

/// Type of seconds and nanoseconds in that call: libc's `timespec` may be wider.
#[cfg(not(any(
    target_arch = "riscv32",
    all(target_arch = "x86_64", target_pointer_width = "32")
)))]
type Long = libc::c_long;
#[cfg(any(target_arch = "riscv32", all(target_arch = "x86_64", target_pointer_width = "32")))]
type Long = i64;

#[repr(C)]
struct Timeout {
    seconds: Long,
    nanoseconds: Long,
}

/// Blocks if the word holds `value`, until another thread calls [`Bed::wake`] or the time is over.
pub(super) fn wait(word: &AtomicU32, value: u32, timeout: Option<Duration>) {
    let timeout = timeout.map(|time| Timeout {
        // A limit of decades fits both types.
        seconds: time.as_secs().min(i32::MAX as u64) as Long,
        nanoseconds: time.subsec_nanos() as Long,
    });
    // SAFETY: `word` is a live, aligned four-byte location for the length of the call. FUTEX_WAIT
    // only reads it and the timeout, where null means none. Errors (the value differs, a signal
    // came, time is up) need no handling: the caller reads the word again.
    unsafe {
        libc::syscall(
            SYS_FUTEX,
            ptr::from_ref(word),
            libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
            value,
            timeout.as_ref().map_or(ptr::null(), ptr::from_ref),
        );
    }
}

/// Empty: the kernel keeps the sleepers.
#[derive(Debug)]
pub(crate) struct Bed;

impl Bed {
    pub(crate) const fn new() -> Self {
        Bed
    }

    pub(crate) fn sleep_while(&self, word: &AtomicU32, value: u32) {
        while holds(word, value) {
            wait(word, value, None);
        }
    }

    /// Sleeps for at most `time`. May return early.
    pub(crate) fn sleep_for(&self, word: &AtomicU32, value: u32, time: Duration) {
        wait(word, value, Some(time));
    }

    pub(crate) fn wake(&self, word: &AtomicU32) {
        // SAFETY: FUTEX_WAKE takes the address as a key and never reads or writes through it.
        unsafe {
            libc::syscall(
                SYS_FUTEX,
                ptr::from_ref(word),
                libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
                1,
            );
        }
    }
}
