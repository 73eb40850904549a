//! Has each thread of this process write its stack, by a signal: no debugger is needed.

use super::tasks::{self, Id};
use std::backtrace::Backtrace;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Time that a thread has to write its stack. The first reads what the debugger would.
const OF_ONE: Duration = Duration::from_secs(5);

/// Time that all of them have: less than the test runner waits after the watchdog's limit.
const OF_ALL: Duration = Duration::from_secs(45);

/// Sends a signal to a thread. It may have ended.
pub(crate) fn signal(thread: Id, signal: libc::c_int) {
    // SAFETY: plain numbers; a thread of this process or none.
    unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), thread, signal) };
}

/// Has a function called for a signal. System calls that it interrupts are not begun again.
pub(crate) fn on_signal(signal: libc::c_int, handler: extern "C" fn(libc::c_int)) {
    // SAFETY: all zeros is a valid action without flags, hence without SA_RESTART; the handler is
    // a function of the right type.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as libc::sighandler_t;
        assert_eq!(libc::sigaction(signal, &raw const action, std::ptr::null_mut()), 0);
    }
}

static IS_DONE: AtomicBool = AtomicBool::new(false);

/// Writes the stack of each other thread to the standard error.
pub(crate) fn print_all() {
    // A signal handler should neither allocate nor lock, and this one does. But the test has failed
    // already, and a thread that hangs in drowse does not hang in malloc.
    extern "C" fn print(_signal: libc::c_int) {
        let name = thread::current().name().unwrap_or("?").to_owned();
        let trace = Backtrace::force_capture().to_string();
        let lines: Vec<&str> = trace.lines().collect();
        // Two lines for each frame: the function, and where that is in its file.
        let frames = lines.iter().filter(|line| !line.contains(" at /rustc/")).take(60);
        let text: String = frames.map(|line| format!("{line}\n")).collect();
        eprintln!("thread {} {name}:\n{text}", tasks::own_id().unwrap_or(0));
        IS_DONE.store(true, Ordering::Release);
    }
    on_signal(libc::SIGUSR2, print);
    let (own, begin) = (tasks::own_id(), Instant::now());
    for task in tasks::all().iter().filter(|task| Some(task.id()) != own) {
        if begin.elapsed() > OF_ALL {
            eprintln!("there are more threads, but no time is left");
            return;
        }
        IS_DONE.store(false, Ordering::Relaxed);
        signal(task.id(), libc::SIGUSR2);
        let since = Instant::now();
        while !IS_DONE.load(Ordering::Acquire) && since.elapsed() < OF_ONE {
            thread::park_timeout(Duration::from_millis(1));
        }
    }
}
