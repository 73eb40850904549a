//! Ctrl-C and similar signals. The first asks the program to stop, and keep what it has; one that
//! comes after the program has [said so](second_ends_at_once) ends it at once. Before that it is
//! the first one again: someone who signals a process and then its group does not mean it twice.
//!
//! A child has a process group of its own, so that a Ctrl-C on the terminal is not its concern but
//! ours: a signal ends the child, and the one that waits for the child goes on, and finds that it
//! was [`stopped`].

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

/// What asks the program to stop: Ctrl-C, `kill`, a terminal that is closed.
const SIGNALS: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// The first signal; 0 until then.
static SIGNAL: AtomicI32 = AtomicI32::new(0);

/// Whether the next signal ends the program at once.
static TOLD: AtomicBool = AtomicBool::new(false);

/// The process that we wait for, which is the leader of its group; 0 if there is none. It has not
/// been reaped: the number is its own.
static CHILD: AtomicI32 = AtomicI32::new(0);

/// The variable by which a child knows who started it.
const PARENT: &str = "DROWSE_LAB_PARENT";

/// The signal that asked the program to stop, if one did.
pub(crate) fn stopped() -> Option<i32> {
    // ORDERING: SeqCst, pairs with `on_signal`. Each side stores its own word and then loads the
    // other's; if both loads were early, the signal would find no child, and the child would be
    // started and waited for all the same.
    Some(SIGNAL.load(Ordering::SeqCst)).filter(|&signal| signal != 0)
}

/// The program is about to say that the next signal ends it at once.
pub(crate) fn second_ends_at_once() {
    // ORDERING: relaxed; pairs with the load in `on_signal`, which decides by this word alone.
    TOLD.store(true, Ordering::Relaxed);
}

/// What people call a signal.
pub(crate) fn name(signal: i32) -> &'static str {
    match signal {
        libc::SIGINT => "Ctrl-C",
        libc::SIGTERM => "SIGTERM",
        libc::SIGHUP => "SIGHUP",
        _ => "a signal",
    }
}

/// The exit code of a program that a signal has ended, as shells have it.
pub(crate) fn exit_code(signal: i32) -> u8 {
    128_u8.wrapping_add(signal as u8)
}

/// While it lives, a signal asks the program to stop. After it, a signal ends the program, as by
/// default.
#[derive(Debug)]
pub(crate) struct Watch(());

/// Begins to watch for signals. What the program was told to ignore, as `nohup` does, stays
/// ignored.
pub(crate) fn watch() -> Watch {
    for signal in SIGNALS {
        replace(
            signal,
            libc::SIG_DFL,
            on_signal as extern "C" fn(libc::c_int) as libc::sighandler_t,
        );
    }
    Watch(())
}

impl Drop for Watch {
    fn drop(&mut self) {
        for signal in SIGNALS {
            replace(
                signal,
                on_signal as extern "C" fn(libc::c_int) as libc::sighandler_t,
                libc::SIG_DFL,
            );
        }
    }
}

/// Handles a signal by `new`, if it was handled by `old`.
fn replace(signal: libc::c_int, old: libc::sighandler_t, new: libc::sighandler_t) {
    // SAFETY: a plain struct, which zero is a value of: no flags, and an empty mask.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: it may write to the struct, and does.
    if unsafe { libc::sigaction(signal, std::ptr::null(), &mut action) } != 0
        || action.sa_sigaction != old
    {
        return;
    }
    action.sa_sigaction = new;
    // What a signal interrupts goes on: what ends our waiting is the child's end.
    action.sa_flags = libc::SA_RESTART;
    // SAFETY: the handler is `on_signal`, which does only what a handler may, or the system's own.
    unsafe { libc::sigaction(signal, &action, std::ptr::null_mut()) };
}

extern "C" fn on_signal(signal: libc::c_int) {
    // ORDERING: SeqCst, pairs with `Ward::spawn`; see `stopped`.
    let first = SIGNAL.compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst).is_ok();
    end_child();
    // ORDERING: relaxed; nothing else is read because of it.
    if !first && TOLD.load(Ordering::Relaxed) {
        // SAFETY: it may be called from a handler, and does not return.
        unsafe { libc::_exit(exit_code(signal).into()) };
    }
}

/// Ends the child, if there is one, and all that it has started. May be called from a signal
/// handler.
fn end_child() {
    let child = CHILD.load(Ordering::SeqCst);
    if child != 0 {
        end_group(child);
    }
}

/// Ends all processes of the group that this child leads. May be called from a signal handler.
fn end_group(child: libc::pid_t) {
    // SAFETY: a call with numbers, which may be made from a handler. It leaves errno alone, since
    // it does not fail: the group is there until its leader is reaped, and `Ward` takes the number
    // away before.
    unsafe { libc::kill(-child, libc::SIGKILL) };
}

/// A child that a signal ends. There is one at a time.
#[derive(Debug)]
pub(crate) struct Ward {
    child: Child,
    reaped: bool,
}

impl Ward {
    /// Starts it.
    ///
    /// # Errors
    ///
    /// If it cannot be started.
    pub(crate) fn spawn(command: &mut Command) -> io::Result<Self> {
        let child = command.process_group(0).env(PARENT, std::process::id().to_string()).spawn()?;
        // ORDERING: SeqCst, pairs with `on_signal`; see `stopped`.
        CHILD.store(child.id() as i32, Ordering::SeqCst);
        if stopped().is_some() {
            end_child();
        }
        Ok(Self { child, reaped: false })
    }

    /// The child itself, for its pipes.
    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Waits until it has ended.
    ///
    /// # Errors
    ///
    /// If it is lost.
    pub(crate) fn wait(&mut self) -> io::Result<ExitStatus> {
        let id = self.child.id();
        // SAFETY: a plain struct, which zero is a value of.
        let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
        // It is not reaped yet: until its number is taken away, a signal may still use it.
        // SAFETY: it may write to the struct, and does.
        while unsafe {
            libc::waitid(libc::P_PID, id as libc::id_t, &mut info, libc::WEXITED | libc::WNOWAIT)
        } != 0
            && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
        {}
        let _ = CHILD.compare_exchange(id as i32, 0, Ordering::SeqCst, Ordering::SeqCst);
        self.reaped = true;
        self.child.wait()
    }
}

impl Drop for Ward {
    fn drop(&mut self) {
        if !self.reaped {
            // If it has ended by itself by now, there is nothing to end.
            end_group(self.child.id() as libc::pid_t);
            let _ = self.wait();
        }
    }
}

/// Ends this process with the lab that started it, if one did, however that ends. Where the system
/// cannot, it ends when it has measured.
pub(crate) fn end_with_parent() {
    let Some(parent) = std::env::var(PARENT).ok().and_then(|text| text.parse::<u32>().ok()) else {
        return;
    };
    #[cfg(target_os = "linux")]
    // SAFETY: a call with numbers, which changes only what happens when the parent ends.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL)
    };
    if std::os::unix::process::parent_id() != parent {
        // It has ended already, and nobody waits for an answer.
        std::process::exit(1);
    }
}
