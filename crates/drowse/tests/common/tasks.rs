//! What Linux tells of this process's threads, and of the processes it has started.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Number of a thread or a process.
pub(crate) type Id = i32;

/// How many threads the process has.
pub(crate) fn count() -> usize {
    fs::read_dir("/proc/self/task").expect("/proc is there").count()
}

/// The threads of this process.
pub(crate) fn all() -> Vec<Task> {
    Process::own().tasks()
}

/// The threads whose name begins like this. Linux cuts names after 15 characters.
pub(crate) fn named(prefix: &str) -> Vec<Task> {
    all().into_iter().filter(|task| task.name().starts_with(prefix)).collect()
}

/// The calling thread's number. `None` where there is no `/proc`.
pub(crate) fn own_id() -> Option<Id> {
    fs::read_link("/proc/thread-self").ok()?.file_name()?.to_str()?.parse().ok()
}

/// This process, those that it has started, and so on.
pub(crate) fn processes() -> Vec<Process> {
    let mut all = vec![Process::own()];
    let mut looked_at = 0;
    while let Some(process) = all.get(looked_at) {
        let children = process.tasks().into_iter().filter_map(|task| task.read("children"));
        let children: String = children.collect();
        all.extend(children.split_whitespace().map(|id| Process(Path::new("/proc").join(id))));
        looked_at += 1;
    }
    all
}

/// A line for each thread of this process and those that it has started: number, name, state,
/// seconds on a processor, seconds in wait of one, turns on one, where in the kernel it waits, and
/// its system call. Below it, where a thread does not just sleep, the kernel's stack, if we may see
/// it.
pub(crate) fn table() -> String {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let mut table = format!("load: {}\n", load.trim());
    for process in processes() {
        let own = if process.0 == Process::own().0 { " (this one)" } else { "" };
        let command = process.read("cmdline").unwrap_or_default().replace('\0', " ");
        let id = process.read("stat").unwrap_or_default();
        let id = id.split(' ').next().unwrap_or_default();
        let used = process.cpu_time().unwrap_or_default().as_secs_f64();
        let _ =
            writeln!(table, "process {id}{own}, {used:.2} s of processor time: {}", command.trim());
        let _ = writeln!(
            table,
            "  {:>8} {:<16} S {:>8} {:>8} {:>8} {:<24} system call",
            "thread", "name", "ran s", "waited s", "turns", "place in the kernel"
        );
        process.tasks().iter().for_each(|task| task.describe(&mut table));
    }
    table
}

/// One process.
#[derive(Debug)]
pub(crate) struct Process(PathBuf);

impl Process {
    fn own() -> Self {
        Self("/proc/self".into())
    }

    /// Its threads; none if it has ended.
    pub(crate) fn tasks(&self) -> Vec<Task> {
        let entries = fs::read_dir(self.0.join("task")).into_iter().flatten();
        entries.flatten().map(|entry| Task(entry.path())).collect()
    }

    /// Processor time that it has used, with the processes that it has started and waited for.
    /// Nothing if it has ended. `None` if it cannot be seen.
    pub(crate) fn cpu_time(&self) -> Option<Duration> {
        let Some(stat) = self.read("stat") else {
            return (self.0 != Self::own().0).then_some(Duration::ZERO);
        };
        // The fields utime, stime, cutime and cstime: 14 to 17. The name is the second, in
        // brackets.
        let fields = stat.rsplit_once(") ")?.1.split(' ').skip(11).take(4);
        let ticks: u64 = fields.map_while(|field| field.parse::<u64>().ok()).sum();
        // The unit is what Linux says to programs, not what it counts in: a hundredth of a second.
        Some(Duration::from_millis(10 * ticks))
    }

    fn read(&self, file: &str) -> Option<String> {
        fs::read_to_string(self.0.join(file)).ok()
    }
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
    pub(crate) fn id(&self) -> Id {
        let name = self.0.file_name().and_then(|name| name.to_str());
        name.and_then(|name| name.parse().ok()).expect("a thread has a number")
    }

    /// Its name; empty if it has ended.
    pub(crate) fn name(&self) -> String {
        self.read("comm").unwrap_or_default().trim_end().to_owned()
    }

    /// Its state, by the letter that `ps` shows. `None` if it has ended.
    pub(crate) fn state(&self) -> Option<char> {
        // The state follows the name, which is in brackets and may itself hold brackets.
        self.read("stat")?.rsplit_once(") ")?.1.chars().next()
    }

    /// Whether it is blocked.
    pub(crate) fn is_asleep(&self) -> bool {
        self.state().expect("a thread has a state") == 'S'
    }

    /// Whether it has ended, and the system has not taken it off its list yet.
    pub(crate) fn is_exiting(&self) -> bool {
        const PF_EXITING: u32 = 4;
        let Some(stat) = self.read("stat") else { return true };
        let flags = stat
            .rsplit_once(") ")
            .and_then(|(_, rest)| rest.split(' ').nth(6)?.parse::<u32>().ok());
        flags.expect("a thread has flags") & PF_EXITING != 0
    }

    pub(crate) fn activity(&self) -> Activity {
        let status = self.read("status").expect("a thread has a status");
        let switches =
            status.lines().filter(|line| line.contains("ctxt_switches")).map(str::to_owned);
        // Not every kernel keeps the latter.
        Activity { switches: switches.collect(), schedstat: self.read("schedstat") }
    }

    fn describe(&self, table: &mut String) {
        let read = |file| self.read(file).unwrap_or_default();
        let (schedstat, place, call) = (read("schedstat"), read("wchan"), read("syscall"));
        let numbers: Vec<f64> = schedstat.split_whitespace().flat_map(str::parse).collect();
        let [ran, waited, turns] = numbers[..] else { return };
        let (ran, waited, state) = (ran / 1e9, waited / 1e9, self.state().unwrap_or('?'));
        let (id, name, call) = (self.id(), self.name(), call.trim());
        let _ = writeln!(
            table,
            "  {id:>8} {name:<16} {state} {ran:>8.3} {waited:>8.3} {turns:>8} {place:<24} {call}"
        );
        let stack = read("stack");
        stack
            .lines()
            .filter(|_| state != 'S')
            .for_each(|line| _ = writeln!(table, "           {line}"));
    }

    fn read(&self, file: &str) -> Option<String> {
        fs::read_to_string(self.0.join(file)).ok()
    }
}
