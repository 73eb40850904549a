//! Runs the program and looks at what it says.

#![allow(dead_code)] // each test program uses its part

#[path = "../../../drowse/tests/common/patience.rs"]
pub(crate) mod patience;
#[cfg(target_os = "linux")]
pub(crate) mod running;
pub(crate) mod screen;
#[cfg(target_os = "linux")]
#[path = "../../../drowse/tests/common/stacks.rs"]
mod stacks;
#[cfg(target_os = "linux")]
#[path = "../../../drowse/tests/common/tasks.rs"]
mod tasks;
#[path = "../../../drowse/tests/common/watchdog.rs"]
pub(crate) mod watchdog;

use std::fs::File;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::{env, fs, process};

/// What came of a run.
pub(crate) struct Ran {
    args: Vec<String>,
    output: Output,
}

/// Runs `drowse-lab` with these arguments.
pub(crate) fn lab(args: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_drowse-lab"));
    let output = watchdog::output(&args.join(" "), command.args(args));
    Ran { args: args.iter().map(|arg| arg.to_string()).collect(), output }
}

/// Runs it with these as its standard output and standard error.
pub(crate) fn lab_heard_by(
    output: impl Into<Stdio>,
    errors: impl Into<Stdio>,
    args: &[&str],
) -> Option<i32> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_drowse-lab"));
    command.args(args).stdout(output).stderr(errors).status().unwrap().code()
}

/// Runs it with this file as its standard output.
pub(crate) fn lab_into(file: File, args: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_drowse-lab"));
    let child = command.args(args).stdout(file).stderr(Stdio::piped()).spawn().unwrap();
    let output = child.wait_with_output().unwrap();
    Ran { args: args.iter().map(|arg| arg.to_string()).collect(), output }
}

impl Ran {
    /// What it wrote to standard output.
    pub(crate) fn said(&self) -> String {
        String::from_utf8(self.output.stdout.clone()).unwrap()
    }

    /// What it said, after it ended with 0.
    pub(crate) fn went_well(self) -> String {
        let said = self.said();
        self.ended_with(0);
        said
    }

    /// What it complained of, after it ended with this code.
    pub(crate) fn ended_with(self, code: i32) -> String {
        let complaint = String::from_utf8(self.output.stderr.clone()).unwrap();
        let (args, ended) = (&self.args, self.output.status);
        assert_eq!(
            ended.code(),
            Some(code),
            "{args:?} said {} and complained of {complaint}",
            self.said()
        );
        complaint
    }
}

/// The text with its lines put together again.
pub(crate) fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A directory for one test, gone when the test has passed.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// An empty one.
    pub(crate) fn new(name: &str) -> Self {
        let path = env::temp_dir().join(format!("drowse-lab-{}-{name}", process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// The path of a file in it.
    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    /// Writes a file, and returns its path.
    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        fs::write(self.0.join(name), text).unwrap();
        self.path(name)
    }

    /// Reads a file.
    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}
