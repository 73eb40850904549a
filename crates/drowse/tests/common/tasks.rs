//! What Linux tells of this process's threads.

use std::fs;
use std::path::{Path, PathBuf};

/// How many threads the process has.
pub(crate) fn count() -> usize {
    fs::read_dir("/proc/self/task").expect("/proc is there").count()
}

/// The threads whose name begins like this. Linux cuts names after 15 characters.
pub(crate) fn named(prefix: &str) -> Vec<Task> {
    fs::read_dir("/proc/self/task")
        .expect("/proc is there")
        .map(|entry| Task(entry.expect("an entry").path()))
        .filter(|task| task.read("comm").is_some_and(|name| name.starts_with(prefix)))
        .collect()
}

/// One thread.
#[derive(Debug)]
pub(crate) struct Task(PathBuf);

/// What a thread has done so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Activity {
    /// The system's counts of the times it went to sleep and was sent to sleep.
    switches: Vec<String>,
    /// Nanoseconds on a CPU, nanoseconds in wait of one, and turns on a CPU.
    schedstat: Option<String>,
}

impl Task {
    /// Its number.
    pub(crate) fn id(&self) -> libc::pid_t {
        let name = self.0.file_name().and_then(|name| name.to_str());
        name.and_then(|name| name.parse().ok()).expect("a thread has a number")
    }

    /// Whether it is blocked.
    pub(crate) fn is_asleep(&self) -> bool {
        // The state follows the name, which is in brackets and may itself hold brackets.
        let stat = self.read("stat").expect("a thread has a state");
        stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('S'))
    }

    pub(crate) fn activity(&self) -> Activity {
        let status = self.read("status").expect("a thread has a status");
        let switches = status.lines().filter(|line| line.contains("ctxt_switches")).map(str::to_owned);
        // Not every kernel keeps the latter.
        Activity { switches: switches.collect(), schedstat: self.read("schedstat") }
    }

    fn read(&self, file: &str) -> Option<String> {
        fs::read_to_string(Path::new(&self.0).join(file)).ok()
    }
}
