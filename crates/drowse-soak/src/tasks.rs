//! What Linux tells of this process's threads.

use std::fmt::Write as _;
use std::fs;

/// The numbers of all threads.
pub(crate) fn ids() -> Vec<libc::pid_t> {
    let entries = fs::read_dir("/proc/self/task").expect("/proc is there");
    let name = |entry: fs::DirEntry| entry.file_name().into_string().ok()?.parse().ok();
    entries.flatten().filter_map(name).collect()
}

/// The calling thread's number.
pub(crate) fn own_id() -> libc::pid_t {
    // SAFETY: it has no arguments and cannot fail.
    unsafe { libc::gettid() }
}

/// Sends a signal to a thread. It may have ended.
pub(crate) fn signal(thread: libc::pid_t, signal: libc::c_int) {
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

/// The names of the threads that begin like this.
pub(crate) fn named(prefix: &str) -> Vec<String> {
    let name = |id| fs::read_to_string(format!("/proc/self/task/{id}/comm")).unwrap_or_default();
    ids().into_iter().map(name).filter(|name| name.starts_with(prefix)).collect()
}

/// A line for each thread: number, name, state, where in the kernel it waits, system call.
pub(crate) fn table() -> String {
    let mut table = String::new();
    for id in ids() {
        let read =
            |file: &str| fs::read_to_string(format!("/proc/self/task/{id}/{file}")).unwrap_or_default();
        let stat = read("stat");
        // The state follows the name, which is in brackets and may itself hold brackets.
        let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next()).unwrap_or('?');
        let (name, place, call) = (read("comm"), read("wchan"), read("syscall"));
        let _ = writeln!(table, "  {id:>8} {:<16} {state} {place:<24} {}", name.trim(), call.trim());
    }
    table
}
