//! Tests that fork. They run in [a child of their own](super::child), which has fewer threads.

use super::{LONGEST, caught};
use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc::channel;

/// How a child ends whose body has returned.
const DONE: i32 = 7;

/// So many seconds later, a child that hangs is ended, if the watchdog has not ended its parent.
const ALARM: u32 = LONGEST.as_secs() as u32;

/// Forks. Returns `None` in the child, and in the parent, when the child has ended, how it has, in
/// the words of `waitpid`.
pub(crate) fn fork_and_wait() -> Option<i32> {
    // SAFETY: the child runs our own code, which is what this is about.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "there is a child");
    if child == 0 {
        // SAFETY: a number.
        unsafe { libc::alarm(ALARM) };
        return None;
    }
    let mut status = -1;
    // SAFETY: room for the answer.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    Some(status)
}

/// In a child: runs `body`, and ends the child, without anything that happens at the end of a
/// process.
pub(crate) fn end_child_after(body: impl FnOnce()) -> ! {
    let outcome = panic::catch_unwind(AssertUnwindSafe(body));
    // SAFETY: ends the child, and nothing else.
    unsafe { libc::_exit(if outcome.is_ok() { DONE } else { 1 }) }
}

/// Forks, runs `body` in the child, and returns how that ended, in the words of `waitpid`.
pub(crate) fn forked(body: impl FnOnce()) -> i32 {
    fork_and_wait().unwrap_or_else(|| end_child_after(body))
}

/// The child of the first half of a `join` waits for the other one, which is in the middle of it on
/// a thread that the child has not. How that ends.
pub(crate) fn wait_for_a_half_of_the_parent() -> i32 {
    let (begun, begins) = channel();
    let (hold, held) = channel::<()>();
    let (status, ()) = drowse::join(
        move || {
            begins.recv().unwrap();
            let status = fork_and_wait();
            if status.is_none() {
                // The thread of the other half may have its lock.
                std::mem::forget(hold);
            }
            status
        },
        move || {
            begun.send(()).unwrap();
            let _ = held.recv();
        },
    );
    status.expect("only the parent comes here")
}

/// The child got to its end.
#[track_caller]
pub(crate) fn assert_done(status: i32) {
    let done = libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == DONE;
    assert!(done, "the child did not get to its end: {status:#x}");
}

/// The child aborted. Neither did it hang.
#[track_caller]
pub(crate) fn assert_aborted(status: i32) {
    assert!(libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGABRT, "{status:#x}");
}

/// What is called panics, and says that the pool belongs to the parent.
#[track_caller]
pub(crate) fn assert_left_behind<R>(f: impl FnOnce() -> R) {
    let message = caught::<&str, _>(f);
    assert!(message.contains("made before fork()"), "{message}");
}
