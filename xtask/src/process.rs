//! Child processes: output captured, time limited, ended as a whole group.

use std::env;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::process::{self, Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::progress;

pub(crate) use group::end_children_on_signal;

/// How often a running child is looked at.
const POLL: Duration = Duration::from_millis(15);

/// How long a group that was asked to end may take before it is made to.
const GRACE: Duration = Duration::from_secs(3);

/// A command with a time limit, not yet started.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) command: Command,
    /// When it is ended, with everything it has started.
    pub(crate) limit: Duration,
    /// Whether its output is passed on as it comes.
    pub(crate) echo: bool,
    /// Whether stdout is kept out of the common output. It is not echoed then.
    pub(crate) stdout_apart: bool,
}

/// A child that has ended.
#[derive(Debug)]
pub(crate) struct Finished {
    /// `None` if it was ended at its limit.
    pub(crate) status: Option<ExitStatus>,
    /// What it wrote: both streams in order, or stderr alone if stdout was kept apart.
    pub(crate) output: String,
    /// What it wrote to stdout, if that was kept apart.
    pub(crate) stdout: String,
    pub(crate) took: Duration,
}

impl Job {
    /// Quiet, and with both streams in one.
    pub(crate) fn new(command: Command, limit: Duration) -> Self {
        Self { command, limit, echo: false, stdout_apart: false }
    }

    /// Runs the command to its end, or to its limit. An error means that it could not be run.
    pub(crate) fn run(mut self) -> io::Result<Finished> {
        let (mut output, mut stdout) = (Capture::new()?, Capture::new()?);
        let first = if self.stdout_apart { &stdout } else { &output };
        self.command.stdin(Stdio::null()).stdout(first.stream()?).stderr(output.stream()?);
        group::lead_own(&mut self.command);

        let started = Instant::now();
        let mut child = self.command.spawn()?;
        let status = {
            let _registration = group::register(&child);
            loop {
                let status = child.try_wait()?;
                output.read_new(self.echo)?;
                if status.is_some() {
                    break status;
                }
                if started.elapsed() >= self.limit {
                    end_group(&mut child)?;
                    break None;
                }
                pause();
            }
        };
        output.read_new(self.echo)?;
        stdout.read_new(false)?;
        let took = started.elapsed();
        Ok(Finished { status, output: output.into_text(), stdout: stdout.into_text(), took })
    }
}

impl fmt::Display for Job {
    /// The command line, without the program's directory.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let program = Path::new(self.command.get_program());
        write!(f, "`{}", program.file_name().unwrap_or(program.as_os_str()).to_string_lossy())?;
        self.command.get_args().try_for_each(|arg| write!(f, " {}", arg.to_string_lossy()))?;
        f.write_str("`")
    }
}

impl Finished {
    /// Whether it ended by itself with exit code 0.
    pub(crate) fn succeeded(&self) -> bool {
        self.status.is_some_and(|status| status.success())
    }

    /// One phrase that says how it ended. After a time-out it names the last sign of life.
    pub(crate) fn how_it_ended(&self) -> String {
        match self.status {
            Some(status) => status.to_string(),
            None => format!(
                "HUNG: ended after {:.0?}; last output: {}",
                self.took,
                last_words(&self.output)
            ),
        }
    }
}

/// The line that best names what was running when the output stopped.
fn last_words(output: &str) -> &str {
    let mut lines = output.lines().rev().map(str::trim);
    // libtest names a test that is still running after a minute, and only then.
    let slow = lines.clone().find(|line| line.contains("has been running for over"));
    slow.or_else(|| lines.find(|line| !line.is_empty())).unwrap_or("(none)")
}

/// Asks the child's group to end, so that runners can end what they started, then makes it.
fn end_group(child: &mut Child) -> io::Result<()> {
    group::end(child, false);
    let asked = Instant::now();
    while child.try_wait()?.is_none() && asked.elapsed() < GRACE {
        pause();
    }
    group::end(child, true);
    child.wait().map(drop)
}

#[allow(clippy::disallowed_methods, reason = "std cannot wait for a child and a time at once")]
fn pause() {
    thread::sleep(POLL);
}

/// What one or more output streams have written so far. They write to a file, not to a pipe: a pipe
/// stays open for as long as a grandchild lives on.
#[derive(Debug)]
struct Capture {
    writer: File,
    reader: File,
    bytes: Vec<u8>,
}

impl Capture {
    /// An empty capture. Its file has already lost its name, so nothing is left behind.
    fn new() -> io::Result<Self> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = env::temp_dir().join(format!("xtask-{}-{number}.log", process::id()));
        let writer = File::options().append(true).create_new(true).open(&path)?;
        let reader = File::open(&path)?;
        fs::remove_file(&path)?;
        Ok(Self { writer, reader, bytes: Vec::new() })
    }

    /// A stream for a child to write to. Streams of one capture append to one another.
    fn stream(&self) -> io::Result<Stdio> {
        Ok(self.writer.try_clone()?.into())
    }

    /// Reads what was written since the last call. Passes it on to the progress line, and to the
    /// terminal if `echo` is set.
    fn read_new(&mut self, echo: bool) -> io::Result<()> {
        let seen = self.bytes.len();
        self.reader.read_to_end(&mut self.bytes)?;
        let new = &self.bytes[seen..];
        if !new.is_empty() {
            progress::read(new);
        }
        if echo {
            progress::clear();
            io::stdout().write_all(new)?;
            io::stdout().flush()?;
        }
        Ok(())
    }

    fn into_text(self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

/// A child leads a process group of its own, so that whatever it starts can be ended with it.
///
/// The price is that a terminal's Ctrl-C no longer reaches the children by itself, so it is passed
/// on.
#[cfg(unix)]
mod group {
    use std::os::unix::process::CommandExt as _;
    use std::process::{Child, Command};
    use std::sync::atomic::{AtomicI32, Ordering};

    /// The groups that are alive now; 0 is a free place. More than these are not passed signals.
    static ALIVE: [AtomicI32; 16] = [const { AtomicI32::new(0) }; 16];

    /// A child's place among the groups that are alive; given up on drop.
    pub(super) struct Registration(Option<&'static AtomicI32>);

    impl Drop for Registration {
        fn drop(&mut self) {
            if let Some(place) = self.0 {
                place.store(0, Ordering::SeqCst);
            }
        }
    }

    pub(super) fn lead_own(command: &mut Command) {
        command.process_group(0);
    }

    /// Has signals passed on to the child's group until the registration is dropped.
    pub(super) fn register(child: &Child) -> Registration {
        let is_free = |place: &&AtomicI32| {
            place.compare_exchange(0, id(child), Ordering::SeqCst, Ordering::SeqCst).is_ok()
        };
        Registration(ALIVE.iter().find(is_free))
    }

    /// Asks the child's group to end, or makes it.
    pub(super) fn end(child: &mut Child, by_force: bool) {
        send(id(child), if by_force { libc::SIGKILL } else { libc::SIGTERM });
    }

    /// From now on, a signal that ends this process first ends the groups of its children.
    pub(crate) fn end_children_on_signal() {
        let handler: extern "C" fn(i32) = pass_on;
        for number in [libc::SIGHUP, libc::SIGINT, libc::SIGTERM] {
            // SAFETY: the handler calls nothing that is not async-signal-safe.
            unsafe {
                // Whoever started us with a signal ignored, as nohup does, wants it so.
                if libc::signal(number, handler as libc::sighandler_t) == libc::SIG_IGN {
                    libc::signal(number, libc::SIG_IGN);
                }
            }
        }
    }

    /// The signal handler.
    extern "C" fn pass_on(number: i32) {
        for group in
            ALIVE.iter().map(|place| place.load(Ordering::SeqCst)).filter(|group| *group != 0)
        {
            send(group, libc::SIGTERM);
        }
        // SAFETY: both are async-signal-safe and touch no memory of ours.
        unsafe {
            libc::signal(number, libc::SIG_DFL);
            libc::raise(number);
        }
    }

    fn send(group: i32, signal: i32) {
        // SAFETY: kill touches no memory of ours. It fails if the group has ended, which is fine.
        unsafe { libc::kill(-group, signal) };
    }

    /// A group has its leader's number.
    fn id(child: &Child) -> i32 {
        child.id().try_into().expect("a process id fits pid_t")
    }
}

/// Where there are no process groups, only the child itself is ended.
#[cfg(not(unix))]
mod group {
    use std::process::{Child, Command};

    pub(super) fn lead_own(_: &mut Command) {}

    pub(super) fn register(_: &Child) {}

    pub(super) fn end(child: &mut Child, by_force: bool) {
        if by_force {
            // Failure means that it has ended already.
            drop(child.kill());
        }
    }

    pub(crate) fn end_children_on_signal() {}
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);
    const SHORT: Duration = Duration::from_millis(300);

    fn sh(script: &str, limit: Duration) -> Job {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Job::new(command, limit)
    }

    /// What becomes of a script that says something and then hangs, at a limit that is long enough
    /// for its words.
    fn hung(script: &str) -> Finished {
        let limits = (0..8).map(|doublings| SHORT * (1 << doublings));
        let mut ends = limits.map(|limit| sh(script, limit).run().unwrap());
        let done = ends.find(|done| !done.output.is_empty()).expect("it has said something");
        assert_eq!(done.status, None);
        done
    }

    #[test]
    fn both_streams_are_captured_in_order_or_apart() {
        let script = "echo one; echo two >&2; echo three";
        let done = sh(script, LONG).run().unwrap();
        assert!(done.succeeded());
        assert_eq!((done.output.as_str(), done.stdout.as_str()), ("one\ntwo\nthree\n", ""));
        let done = Job { stdout_apart: true, ..sh(script, LONG) }.run().unwrap();
        assert_eq!((done.output.as_str(), done.stdout.as_str()), ("two\n", "one\nthree\n"));
    }

    #[test]
    fn a_bad_end_is_no_success() {
        let done = sh("exit 3", LONG).run().unwrap();
        assert!(!done.succeeded() && done.how_it_ended() == "exit status: 3", "{done:?}");
        let done = sh("kill -ABRT $$", LONG).run().unwrap();
        assert!(!done.succeeded() && done.how_it_ended().contains("signal: 6"), "{done:?}");
    }

    #[test]
    fn a_hang_is_ended_with_grandchildren_and_names_the_last_output() {
        let done = hung("sh -c 'echo $$; exec sleep 60' & wait");
        let grandchild = done.output.trim();
        assert!(done.how_it_ended().ends_with(&format!("last output: {grandchild}")), "{done:?}");
        assert_ended(grandchild);
    }

    #[test]
    fn a_time_out_ends_those_who_will_not() {
        let done = hung("trap '' TERM; echo $$; sleep 60; sleep 60");
        assert_ended(done.output.trim());
    }

    #[test]
    fn a_grandchild_that_lives_on_is_not_waited_for() {
        let done = sh("sleep 90 & echo done", LONG).run().unwrap();
        assert!(done.succeeded(), "{done:?}");
        assert_eq!(done.output, "done\n");
    }

    #[test]
    fn the_last_words_prefer_the_slow_test() {
        let output =
            "test a ... ok\ntest b has been running for over 60 seconds\ntest c ... ok\n\n";
        assert_eq!(last_words(output), "test b has been running for over 60 seconds");
        assert_eq!(last_words("test a ... ok\n\n"), "test a ... ok");
        assert_eq!(last_words("\n"), "(none)");
    }

    /// Fails unless the process ends soon. It may stay in the table for a while, as a zombie.
    fn assert_ended(id: &str) {
        let alive = format!(
            "kill -0 {id} && case $(ps -o stat= -p {id} || echo unknown) in Z*) false;; esac"
        );
        for _ in 0..100 {
            if !sh(&alive, LONG).run().unwrap().succeeded() {
                return;
            }
            pause();
        }
        panic!("process {id} is still alive");
    }
}
