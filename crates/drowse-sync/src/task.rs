//! Information from the system about a thread of this process.
//!
//! Available on Linux only, and only if `/proc` can be read. Elsewhere, and under the model
//! checkers, all functions return `None`.

use crate::ThreadId;
use crate::platform::{read_task, system_call_name};

/// Activity of a thread so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Motion {
    /// `true` if the thread waits for an event, such as a lock: it neither runs, nor is ready to
    /// run, nor waits for a disk. All of those end by themselves.
    pub waits: bool,
    /// Number of switches off a processor, of both kinds. Constant while the thread waits.
    pub switches: u64,
}

/// Current state of a thread, for people to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// State in the system's words: `S (sleeping)`.
    pub state: String,
    /// Kernel function in which the thread waits, if the system tells.
    pub wait_channel: Option<String>,
    /// Current system call, by name or number, if the system tells.
    pub system_call: Option<String>,
}

impl ThreadId {
    /// Returns the activity of that thread of this process; `None` if the system does not tell.
    ///
    /// ```
    /// if let Some(motion) = drowse_sync::ThreadId::current().motion() {
    ///     assert!(!motion.waits);
    /// }
    /// ```
    pub fn motion(self) -> Option<Motion> {
        motion_from(&read_task(self, "status")?)
    }

    /// Returns the state of that thread of this process; `None` if the system does not tell.
    ///
    /// ```
    /// if let Some(task) = drowse_sync::ThreadId::current().task() {
    ///     assert!(task.state.starts_with('R'));
    /// }
    /// ```
    pub fn task(self) -> Option<Task> {
        Some(Task {
            state: field(&read_task(self, "status")?, "State:")?.to_owned(),
            // 0 if the thread runs, or if this process may not read it.
            wait_channel: read_task(self, "wchan")
                .filter(|channel| !matches!(channel.trim_ascii(), "" | "0")),
            system_call: read_task(self, "syscall").as_deref().and_then(call_from),
        })
    }
}

/// Returns the value of a line that begins with `name`, which includes the colon.
#[inline(never)]
fn field<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = status;
    loop {
        let end = rest.bytes().position(|byte| byte == b'\n').unwrap_or(rest.len());
        let (line, others) = rest.split_at(end);
        if let Some(value) = line.strip_prefix(name) {
            return Some(value.trim_ascii());
        }
        rest = others.get(1..)?;
    }
}

fn motion_from(status: &str) -> Option<Motion> {
    let count = |name| number_from(field(status, name)?);
    Some(Motion {
        waits: field(status, "State:")?.starts_with('S'),
        switches: count("voluntary_ctxt_switches:")?
            .wrapping_add(count("nonvoluntary_ctxt_switches:")?),
    })
}

/// Returns the call that a line of `syscall` tells of: its number comes first.
fn call_from(line: &str) -> Option<String> {
    let number = number_from(line)?;
    let name = u32::try_from(number).ok().and_then(system_call_name);
    Some(name.map_or_else(|| format!("system call {number}"), str::to_owned))
}

/// Returns the number that the text begins with.
fn number_from(text: &str) -> Option<u64> {
    let mut number = None;
    for byte in text.bytes().take_while(u8::is_ascii_digit) {
        number = Some(number.unwrap_or(0_u64).wrapping_mul(10).wrapping_add((byte - b'0').into()));
    }
    number
}

#[cfg(all(test, not(any(drowse_loom, drowse_shuttle))))]
mod tests {
    use super::*;

    const STATUS: &str = "Name:\tdozer: 1\nState:\tS (sleeping)\nTgid:\t7\n\
                          voluntary_ctxt_switches:\t40\nnonvoluntary_ctxt_switches:\t2\n";

    #[test]
    fn a_status_tells_state_and_switches() {
        assert_eq!(motion_from(STATUS), Some(Motion { waits: true, switches: 42 }));
        assert_eq!(field(STATUS, "Name:"), Some("dozer: 1"));
        for busy in ["R (running)", "D (disk sleep)"] {
            assert!(!motion_from(&STATUS.replace("S (sleeping)", busy)).unwrap().waits, "{busy}");
        }
        assert_eq!(motion_from("State:\tS\n"), None, "no counts, no motion");
    }

    #[test]
    fn a_call_has_a_number_at_least() {
        assert_eq!(call_from("running\n"), None);
        assert_eq!(call_from("-1 0x7ffc 0x7f00\n"), None);
        assert_eq!(call_from("99999 0x1 0x2\n").as_deref(), Some("system call 99999"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_thread_that_waits_stands_still() {
        let (sender, ids) = std::sync::mpsc::channel();
        let (hold, held) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            sender.send(ThreadId::current()).unwrap();
            let _ = held.recv();
        });
        let id = ids.recv().unwrap();
        while !id.motion().unwrap().waits {
            std::hint::spin_loop();
        }
        assert!(id.task().unwrap().state.starts_with('S'));
        drop(hold);
        thread.join().unwrap();
        assert_eq!(call_from(&format!("{} 0x1", libc::SYS_futex)).as_deref(), Some("futex"));
    }
}
