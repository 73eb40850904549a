//! Process groups: a child leads its own, so that whatever it starts can be ended with it.
//!
//! The price is that a terminal's Ctrl-C no longer reaches the children by itself:
//! [`end_children_on_signal`] passes it on. Where there are no process groups only the child itself is ended.

#[cfg(not(unix))]
pub(crate) use fallback::{ask_to_end, end_children_on_signal, lead_own_group, make_end, register};
#[cfg(unix)]
pub(crate) use posix::{ask_to_end, end_children_on_signal, lead_own_group, make_end, register};

#[cfg(unix)]
mod posix {
    use std::os::unix::process::CommandExt as _;
    use std::process::{Child, Command};
    use std::sync::atomic::{AtomicI32, Ordering};

    const SIGHUP: i32 = 1;
    const SIGINT: i32 = 2;
    const SIGKILL: i32 = 9;
    const SIGTERM: i32 = 15;
    /// `SIG_DFL`: the signal's default action.
    const DEFAULT: usize = 0;
    /// `SIG_IGN`: the signal is ignored.
    const IGNORED: usize = 1;

    // Why `safe` is true: these are the signatures of POSIX's functions in the C library that std itself links, with
    // pid_t as i32 and the handler of `signal` as the address it is. None of them reads or writes our memory.
    unsafe extern "C" {
        safe fn kill(pid: i32, signal: i32) -> i32;
        safe fn raise(signal: i32) -> i32;
        safe fn signal(signal: i32, handler: usize) -> usize;
    }

    /// The groups that are alive now; 0 is a free place. More than these at once are not passed signals.
    static GROUPS: [AtomicI32; 16] = [const { AtomicI32::new(0) }; 16];

    /// A child's place among the groups that are alive; given up on drop.
    #[derive(Debug)]
    pub(crate) struct Registration(Option<&'static AtomicI32>);

    impl Drop for Registration {
        fn drop(&mut self) {
            if let Some(place) = self.0 {
                place.store(0, Ordering::SeqCst);
            }
        }
    }

    /// Makes the child the leader of a group of its own.
    pub(crate) fn lead_own_group(command: &mut Command) {
        command.process_group(0);
    }

    /// Has signals passed on to the child's group until the registration is dropped.
    pub(crate) fn register(child: &Child) -> Registration {
        let id = group_of(child);
        let free = GROUPS
            .iter()
            .find(|place| place.compare_exchange(0, id, Ordering::SeqCst, Ordering::SeqCst).is_ok());
        Registration(free)
    }

    /// Asks all of the child's group to end.
    pub(crate) fn ask_to_end(child: &mut Child) {
        kill(-group_of(child), SIGTERM);
    }

    /// Ends all of the child's group.
    pub(crate) fn make_end(child: &mut Child) {
        kill(-group_of(child), SIGKILL);
    }

    /// From now on, a signal that ends this process first ends the groups of its children.
    pub(crate) fn end_children_on_signal() {
        let handler: extern "C" fn(i32) = pass_on;
        for number in [SIGHUP, SIGINT, SIGTERM] {
            if signal(number, handler as usize) == IGNORED {
                // Who started us, nohup for one, wants it so.
                signal(number, IGNORED);
            }
        }
    }

    /// The signal handler. It does nothing but atomics and async-signal-safe calls.
    extern "C" fn pass_on(number: i32) {
        for place in &GROUPS {
            let group = place.load(Ordering::SeqCst);
            if group != 0 {
                kill(-group, SIGTERM);
            }
        }
        signal(number, DEFAULT);
        raise(number);
    }

    /// A group has its leader's number.
    fn group_of(child: &Child) -> i32 {
        i32::try_from(child.id()).expect("a process id fits pid_t")
    }
}

#[cfg(not(unix))]
mod fallback {
    use std::process::{Child, Command};

    /// Stands for the POSIX twin's registration.
    #[derive(Debug)]
    pub(crate) struct Registration;

    /// Does nothing: there are no groups.
    pub(crate) fn lead_own_group(_: &mut Command) {}

    /// Does nothing: there are no groups.
    pub(crate) fn register(_: &Child) -> Registration {
        Registration
    }

    /// Does nothing: there is no way to ask.
    pub(crate) fn ask_to_end(_: &mut Child) {}

    /// Ends the child alone. Failure means that it has ended already.
    pub(crate) fn make_end(child: &mut Child) {
        drop(child.kill());
    }

    /// Does nothing: children share the console and see its events themselves.
    pub(crate) fn end_children_on_signal() {}
}
