//! Child processes: output captured, time limited, ended as a whole group.

mod capture;
mod group;

use std::fmt;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use capture::Capture;
pub(crate) use group::end_children_on_signal;

/// How often a running child is looked at.
const POLL: Duration = Duration::from_millis(15);

/// How long a group that was asked to end may take before it is made to.
const GRACE: Duration = Duration::from_secs(3);

/// A command with a time limit, not yet started.
#[derive(Debug)]
pub(crate) struct Job {
    command: Command,
    limit: Duration,
    echo: bool,
    apart: bool,
}

/// How a child's run came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// It ended by itself.
    Exited(ExitStatus),
    /// It was ended, with everything it had started, after this limit.
    TimedOut(Duration),
}

/// A child that has ended.
#[derive(Debug)]
pub(crate) struct Finished {
    /// How it ended.
    pub(crate) ending: Ending,
    /// What it wrote: both streams in order, or stderr alone if stdout was kept apart.
    pub(crate) output: String,
    /// What it wrote to stdout, if that was kept apart.
    pub(crate) stdout: String,
    /// How long it ran.
    pub(crate) took: Duration,
}

impl Job {
    /// A job that ends `command` when it has run for `limit`.
    pub(crate) fn new(command: Command, limit: Duration) -> Self {
        Self { command, limit, echo: false, apart: false }
    }

    /// Also passes the output on as it comes.
    pub(crate) fn echo(mut self, echo: bool) -> Self {
        self.echo = echo;
        self
    }

    /// Keeps stdout out of the common output, in [`Finished::stdout`]. It is not echoed.
    pub(crate) fn stdout_apart(mut self) -> Self {
        self.apart = true;
        self
    }

    /// Runs the command to its end, or to its limit. An error means that it could not be run at all.
    pub(crate) fn run(mut self) -> io::Result<Finished> {
        let mut output = Capture::new()?;
        let mut stdout = Capture::new()?;
        let first = if self.apart { &stdout } else { &output };
        self.command.stdin(Stdio::null()).stdout(first.stdio()?).stderr(output.stdio()?);
        group::lead_own_group(&mut self.command);

        let started = Instant::now();
        let mut child = self.command.spawn()?;
        let registration = group::register(&child);
        let ending = loop {
            let status = child.try_wait()?;
            pass_on(&mut output, self.echo)?;
            if let Some(status) = status {
                break Ending::Exited(status);
            }
            if started.elapsed() >= self.limit {
                end_group(&mut child)?;
                break Ending::TimedOut(self.limit);
            }
            thread::sleep(POLL);
        };
        drop(registration);
        pass_on(&mut output, self.echo)?;
        stdout.read_new()?;
        Ok(Finished {
            ending,
            output: output.into_text(),
            stdout: stdout.into_text(),
            took: started.elapsed(),
        })
    }
}

impl fmt::Display for Job {
    /// The command line, without the program's directory.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let program = Path::new(self.command.get_program());
        let name = program.file_name().unwrap_or(program.as_os_str());
        write!(f, "`{}", name.to_string_lossy())?;
        for arg in self.command.get_args() {
            write!(f, " {}", arg.to_string_lossy())?;
        }
        f.write_str("`")
    }
}

impl Finished {
    /// Whether it ended by itself with exit code 0.
    pub(crate) fn succeeded(&self) -> bool {
        matches!(self.ending, Ending::Exited(status) if status.success())
    }

    /// One phrase that says how it ended. After a time-out it names the last sign of life.
    pub(crate) fn how_it_ended(&self) -> String {
        match self.ending {
            Ending::Exited(status) => status.to_string(),
            Ending::TimedOut(limit) => format!(
                "HUNG: ended after {} s; last output: {}",
                limit.as_secs_f64(),
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

/// Reads what the child has written since the last call, and shows it if asked to.
fn pass_on(output: &mut Capture, echo: bool) -> io::Result<()> {
    let new = output.read_new()?;
    if echo {
        let mut terminal = io::stdout().lock();
        terminal.write_all(new)?;
        terminal.flush()?;
    }
    Ok(())
}

/// Asks the child's group to end, so that runners can end what they started, then makes it.
fn end_group(child: &mut Child) -> io::Result<()> {
    group::ask_to_end(child);
    let asked = Instant::now();
    while child.try_wait()?.is_none() && asked.elapsed() < GRACE {
        thread::sleep(POLL);
    }
    group::make_end(child);
    child.wait()?;
    Ok(())
}

#[cfg(all(test, unix))]
mod tests;
