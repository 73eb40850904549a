//! Where there are no signals: Ctrl-C ends the lab and its children at once, with what they have.

use std::io;
use std::process::{Child, Command, ExitStatus};

/// The signal that asked the program to stop: none.
pub(crate) fn stopped() -> Option<i32> {
    None
}

/// There is no second one either.
pub(crate) fn second_ends_at_once() {}

/// What people call a signal.
pub(crate) fn name(_signal: i32) -> &'static str {
    "a signal"
}

/// The exit code of a program that a signal has ended.
pub(crate) fn exit_code(signal: i32) -> u8 {
    128_u8.wrapping_add(signal as u8)
}

/// While it lives, nothing is watched.
#[derive(Debug)]
pub(crate) struct Watch(());

/// Watches for nothing.
pub(crate) fn watch() -> Watch {
    Watch(())
}

/// A child that ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Ward {
    child: Child,
}

impl Ward {
    /// Starts it.
    ///
    /// # Errors
    ///
    /// If it cannot be started.
    pub(crate) fn spawn(command: &mut Command) -> io::Result<Self> {
        Ok(Self { child: command.spawn()? })
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
        self.child.wait()
    }
}

impl Drop for Ward {
    fn drop(&mut self) {
        // If it has ended by itself by now, there is nothing to end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A child that is left alone ends when it has measured.
pub(crate) fn end_with_parent() {}
