//! Unix.

pub(crate) mod interrupt;

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

/// The processor that the calling thread runs on, where the system tells.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn current_cpu() -> Option<usize> {
    // SAFETY: takes nothing.
    usize::try_from(unsafe { libc::sched_getcpu() }).ok()
}

/// The processor that the calling thread runs on: this system does not tell.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) fn current_cpu() -> Option<usize> {
    None
}

/// CPU time of this process since it began, and context switches that its threads asked for, and
/// that they were made to do, if the system counts them.
pub(crate) fn process_usage() -> (Duration, Option<[i64; 2]>) {
    // SAFETY: a plain struct of numbers, which zero is a value of.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: it may write to the struct, and does.
    let result = unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut usage) };
    assert_eq!(result, 0, "getrusage of this very process cannot fail");
    let time = |time: libc::timeval| Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1_000);
    (
        time(usage.ru_utime) + time(usage.ru_stime),
        Some([usage.ru_nvcsw as i64, usage.ru_nivcsw as i64]),
    )
}

/// The CPU time of the calling thread, since it began.
pub(crate) fn thread_cpu() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it may write to the struct, and does.
    let result = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    assert_eq!(result, 0, "every thread has this clock");
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// How wide the terminal is that standard error is, if it is one.
pub(crate) fn terminal_columns() -> Option<usize> {
    let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: it may write to the struct, and does.
    let result = unsafe { libc::ioctl(libc::STDERR_FILENO, libc::TIOCGWINSZ, &mut size) };
    Some(usize::from(size.ws_col)).filter(|&width| result == 0 && width > 0)
}

/// This process leaves no memory behind if it crashes.
pub(crate) fn leave_no_core() {
    let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: it reads the struct.
    unsafe { libc::setrlimit(libc::RLIMIT_CORE, &none) };
}

/// The signal that has ended a process, if one has.
pub(crate) fn what_killed(status: ExitStatus) -> Option<String> {
    status.signal().map(|signal| match signal {
        libc::SIGABRT => "SIGABRT".to_owned(),
        libc::SIGSEGV => "SIGSEGV".to_owned(),
        number => format!("signal {number}"),
    })
}

/// Calls `in_child` in a forked child: whether it did so, and ended well.
pub(crate) fn fork_and_wait(in_child: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    // SAFETY: the child goes on with a copy of this thread alone. That is what its caller is about;
    // it ends without coming back here.
    let child = unsafe { libc::fork() };
    match child {
        -1 => Err(format!("no fork: {}", io::Error::last_os_error())),
        0 => {
            // SAFETY: a call with a number. Whatever becomes of those who would end it, it ends.
            unsafe { libc::alarm(60) };
            let code = i32::from(in_child().is_err());
            // SAFETY: ends the child, without what the parent wants done at its own end.
            unsafe { libc::_exit(code) }
        }
        child => {
            let mut status = 0;
            // SAFETY: it may write to the number, and does.
            let ended = unsafe { libc::waitpid(child, &mut status, 0) };
            if ended != child {
                return Err("the child was lost".to_owned());
            }
            if !libc::WIFEXITED(status) {
                return Err(format!("signal {} ended the child", libc::WTERMSIG(status)));
            }
            match libc::WEXITSTATUS(status) {
                0 => Ok(()),
                code => Err(format!("the child ended with code {code}")),
            }
        }
    }
}

/// The most of the address space that this process may use, from what it uses now.
pub(crate) fn leave_room_for(bytes: u64) -> Result<(), String> {
    let status = std::fs::read_to_string("/proc/self/statm")
        .map_err(|error| format!("no /proc: {error}"))?;
    let pages: Option<u64> = status.split_whitespace().next().and_then(|word| word.parse().ok());
    let pages = pages.ok_or("/proc makes no sense")?;
    // SAFETY: a call with a number.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as u64;
    let most = (pages * page + bytes) as libc::rlim_t;
    let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
    // SAFETY: it reads the struct.
    match unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) } {
        0 => Ok(()),
        _ => Err(format!("no limit can be set: {}", io::Error::last_os_error())),
    }
}
