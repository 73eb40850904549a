//! Information from the system about a thread.

use super::ThreadId;
use super::futex::SYS_FUTEX;
use std::fmt::Write;

/// Returns the contents of a file in `/proc` about the thread.
pub(crate) fn read_task(thread: ThreadId, file: &str) -> Option<String> {
    std::fs::read_to_string(format!("/proc/self/task/{}/{file}", thread.to_bits())).ok()
}

/// Returns the name of a system call, for those common in waits. (Where time has only 64 bits, some
/// have other numbers.)
pub(crate) fn system_call_name(number: u32) -> Option<&'static str> {
    const NAMES: &[(libc::c_long, &str)] = &[
        (SYS_FUTEX, "futex"),
        (libc::SYS_read, "read"),
        (libc::SYS_write, "write"),
        (libc::SYS_readv, "readv"),
        (libc::SYS_recvfrom, "recvfrom"),
        (libc::SYS_recvmsg, "recvmsg"),
        (libc::SYS_accept4, "accept4"),
        (libc::SYS_connect, "connect"),
        #[cfg(not(target_arch = "riscv32"))]
        (libc::SYS_ppoll, "ppoll"),
        (libc::SYS_epoll_pwait, "epoll_pwait"),
        #[cfg(not(target_arch = "riscv32"))]
        (libc::SYS_nanosleep, "nanosleep"),
        #[cfg(not(target_arch = "riscv32"))]
        (libc::SYS_clock_nanosleep, "clock_nanosleep"),
        #[cfg(not(target_arch = "riscv32"))]
        (libc::SYS_wait4, "wait4"),
        (libc::SYS_fsync, "fsync"),
    ];
    NAMES.iter().find(|(known, _)| u32::try_from(*known) == Ok(number)).map(|(_, name)| *name)
}

/// Returns the command that shows the stacks of all threads of this process. It first shows the
/// debugger's numbers of the first few of `threads`.
pub fn stacks_command(threads: &[ThreadId]) -> Option<String> {
    let mut command = format!("gdb -p {} -batch", std::process::id());
    for thread in threads.iter().take(4) {
        // Writing to a string does not fail.
        let _ = write!(command, " -ex 'thread find LWP {}'", thread.to_bits());
    }
    command.push_str(" -ex 'thread apply all bt'");
    Some(command)
}
