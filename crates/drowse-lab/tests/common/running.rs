//! Runs the program and does things to it while it runs.

use super::patience::Patience;
use super::watchdog::{report, until};
use std::cell::Cell;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

/// The program at work.
pub(crate) struct Running {
    child: Child,
    /// What it wrote to standard error, piece by piece.
    pieces: Receiver<String>,
    heard: String,
    /// The terminal's side that a person has.
    keyboard: Option<File>,
}

impl Running {
    /// With pipes.
    pub(crate) fn start(args: &[&str]) -> Self {
        let mut command = lab(args);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let pieces = pieces(child.stderr.take().unwrap());
        Self { child, pieces, heard: String::new(), keyboard: None }
    }

    /// With a terminal of 80 columns for its standard error, which Ctrl-C on it is for.
    pub(crate) fn on_a_terminal(args: &[&str]) -> Self {
        let (mut person, mut program) = (0, 0);
        let size = libc::winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
        let (name, settings) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: it may write to the two numbers, and does; it reads the size, and asks for
        // nothing else.
        let result = unsafe { libc::openpty(&mut person, &mut program, name, settings, &size) };
        assert_eq!(result, 0, "no terminal: {}", std::io::Error::last_os_error());
        // SAFETY: both are open, and nobody else has them.
        let (person, program) =
            unsafe { (File::from_raw_fd(person), OwnedFd::from_raw_fd(program)) };
        let mut command = lab(args);
        command.stderr(program).env("TERM", "xterm");
        let own_terminal = || {
            // SAFETY: two calls with numbers, which may be made between fork and exec.
            let result = unsafe { libc::setsid() | libc::ioctl(2, libc::TIOCSCTTY, 0) };
            if result < 0 { Err(std::io::Error::last_os_error()) } else { Ok(()) }
        };
        // SAFETY: it neither allocates nor locks.
        unsafe { command.pre_exec(own_terminal) };
        let child = command.spawn().unwrap();
        // The terminal ends when the program has: our own copy of its side goes with the command.
        drop(command);
        let pieces = pieces(person.try_clone().unwrap());
        Self { child, pieces, heard: String::new(), keyboard: Some(person) }
    }

    /// Waits until it has written this to standard error.
    pub(crate) fn until_it_says(&mut self, words: &str) {
        let mut patience = Patience::begin();
        while !self.heard.contains(words) {
            match patience.receive(&self.pieces) {
                Ok(piece) => self.heard.push_str(&piece),
                Err(error) => {
                    report(&format!("waiting for {words:?}"), &patience);
                    panic!("it did not say {words:?} ({error}: {patience}), but {:?}", self.heard);
                }
            }
        }
    }

    /// Waits until it has a child whose command line has this word, and returns the child's number.
    pub(crate) fn until_it_has_a_child(&self, word: &str) -> u32 {
        let found = Cell::new(None);
        until("it has a child with this word", || {
            found.set(child_of(self.child.id(), word));
            found.get().is_some()
        });
        found.get().expect("it was found")
    }

    /// Types Ctrl-C.
    pub(crate) fn type_ctrl_c(&mut self) {
        self.keyboard.as_mut().unwrap().write_all(b"\x03").unwrap();
    }

    /// Sends it a signal, and to nobody else.
    pub(crate) fn signal(&self, signal: i32) {
        // SAFETY: a call with numbers; the child has not been waited for.
        assert_eq!(unsafe { libc::kill(self.child.id() as i32, signal) }, 0);
    }

    /// Waits for its end, and returns its exit code and what it wrote to standard output and to
    /// standard error.
    pub(crate) fn ended(mut self) -> (Option<i32>, String, String) {
        let id = self.child.id();
        let said = read(self.child.stdout.take().unwrap());
        let (done, end) = channel();
        thread::spawn(move || done.send(self.child.wait()));
        let mut patience = Patience::begin();
        let Ok(status) = patience.receive(&end) else {
            report("waiting for its end", &patience);
            // SAFETY: a call with numbers; the thread still waits for the child.
            unsafe { libc::kill(id as i32, libc::SIGKILL) };
            panic!("it does not end: {patience}; it said {}", self.heard);
        };
        let said = patience.receive(&said).expect("its output ends with it");
        drop(self.keyboard.take());
        while let Ok(piece) = patience.receive(&self.pieces) {
            self.heard.push_str(&piece);
        }
        (status.unwrap().code(), said, self.heard)
    }
}

fn lab(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_drowse-lab"));
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped());
    command
}

/// What comes, as it comes. A terminal whose other side is closed is an error to read from: the
/// end, too.
fn pieces(from: impl Read + Send + 'static) -> Receiver<String> {
    let (send, receive) = channel();
    thread::spawn(move || {
        let mut reader = BufReader::new(from);
        while let Ok(bytes) = reader.fill_buf() {
            let length = bytes.len();
            if length == 0 || send.send(String::from_utf8_lossy(bytes).into_owned()).is_err() {
                break;
            }
            reader.consume(length);
        }
    });
    receive
}

fn read(mut from: ChildStdout) -> Receiver<String> {
    let (done, text) = channel();
    thread::spawn(move || {
        let mut said = String::new();
        let _ = from.read_to_string(&mut said);
        done.send(said)
    });
    text
}

fn child_of(parent: u32, word: &str) -> Option<u32> {
    let ids = fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let is_it = |id: &u32| {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        let after = stat.rsplit_once(')').map_or("", |(_, after)| after);
        let of_it = after.split_whitespace().nth(1) == Some(&parent.to_string());
        of_it
            && fs::read_to_string(format!("/proc/{id}/cmdline")).unwrap_or_default().contains(word)
    };
    ids.into_iter().find(is_it)
}

/// Whether there is a process of this number. One that has ended, and that nobody has asked for its
/// exit code, has no command line.
pub(crate) fn is_running(id: u32) -> bool {
    fs::read(format!("/proc/{id}/cmdline")).is_ok_and(|line| !line.is_empty())
}
