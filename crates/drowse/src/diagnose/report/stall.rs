//! Report of workers that do not come back from their jobs.

use super::WorkerReport;
use crate::WaitFor;
use crate::diagnose::Exact;
use drowse_sync::{ThreadId, stacks_command};
use std::fmt;
use std::time::Duration;

/// Report of workers that stay inside one job while other work waits. A [stall
/// handler](crate::ThreadPoolBuilder::stall_handler) is given this.
///
/// `Display` writes one line, and one more for each of these workers, for each worker that waits in
/// the middle of a job, and for each thread outside that waits. The last line is the
/// [command](Stall::stacks_command) that shows the stacks of all threads:
///
/// ```text
/// a worker of 2 (pool doze) has been inside one job for 5s, and a thread outside waits
///   worker 0 (doze-0): active, in a job from outside; thread 47 in S (sleeping), in read, for 5 s
///   worker 1 (doze-1): asleep, waits for the other half of a join, in a job stolen from 0
///   thread main, outside: has waited for a closure for 5.1 s; thread 46
///   stacks: gdb -p 46 -batch -ex 'thread find LWP 47' -ex 'thread apply all bt'
/// ```
///
/// # Example
///
/// ```
/// use std::sync::mpsc::channel;
/// use std::time::Duration;
///
/// let (alarm, alarms) = channel();
/// let builder = drowse::ThreadPoolBuilder::new().num_threads(1);
/// let builder = builder.stall_watch(Duration::from_millis(20));
/// let builder = builder.stall_handler(move |stall| alarm.send(stall.clone()).unwrap());
/// let pool = builder.build().unwrap();
///
/// let (answer, question) = channel();
/// pool.spawn(move || assert_eq!(question.recv(), Ok(42)));
/// pool.spawn(|| ()); // queued behind it
/// let stall = alarms.recv().unwrap();
/// assert!(stall.queued && stall.stalled.len() == 1);
/// answer.send(42).unwrap();
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stall {
    /// Number of workers of the pool.
    pub num_threads: usize,
    /// Common part of the names of its threads, if they have names.
    pub pool_name: Option<String>,
    /// Time that a worker may be inside one job.
    pub after: Duration,
    /// Workers that have been inside one job for longer than that.
    pub stalled: Vec<StalledWorker>,
    /// `true` if jobs are queued and no worker takes them.
    pub queued: bool,
    /// Workers that sleep in the middle of a job until something has happened.
    pub waiting: Vec<WorkerReport>,
    /// Threads outside the pool that have waited for it for longer than that.
    pub outside: Vec<WaitingThread>,
}

/// A thread that waits for a pool and is not one of its workers.
///
/// # Example
///
/// ```
/// use std::sync::mpsc::channel;
/// use std::thread;
/// use std::time::Duration;
///
/// let (alarm, alarms) = channel();
/// let builder = drowse::ThreadPoolBuilder::new().num_threads(2);
/// let builder = builder.stall_watch(Duration::from_millis(20));
/// let builder = builder.stall_handler(move |stall| alarm.send(stall.clone()).unwrap());
/// let pool = builder.build().unwrap();
///
/// let (answer, question) = channel();
/// thread::scope(|threads| {
///     let client = thread::Builder::new().name("client".to_owned());
///     let ask = || pool.install(move || assert_eq!(question.recv(), Ok(42)));
///     client.spawn_scoped(threads, ask).unwrap();
///     let stall = alarms.recv().unwrap();
///     assert_eq!(stall.outside[0].name.as_deref(), Some("client"));
///     answer.send(42).unwrap();
/// });
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WaitingThread {
    /// Name of the thread, if it has one.
    pub name: Option<String>,
    /// Number of the thread in the system, if known.
    pub thread: Option<u32>,
    /// Reason for the wait: [`WaitFor::Install`] is a closure in the pool.
    pub waits_for: WaitFor,
    /// Time that it has waited.
    pub since: Duration,
}

impl Stall {
    /// Returns the command that shows the stacks of all threads of this process and which of them
    /// are stalled, if the system has a usual debugger.
    ///
    /// ```
    /// use drowse::{Stall, ThreadPoolBuilder};
    ///
    /// fn log(stall: &Stall) {
    ///     eprintln!("to see where it stands: {}", stall.stacks_command().unwrap_or_default());
    /// }
    ///
    /// let builder = ThreadPoolBuilder::new().num_threads(1).stall_handler(log);
    /// let pool = builder.stall_watch(std::time::Duration::from_secs(5)).build().unwrap();
    /// assert_eq!(pool.install(|| 42), 42);
    /// ```
    pub fn stacks_command(&self) -> Option<String> {
        let mut threads = Vec::new();
        for stalled in &self.stalled {
            threads.extend(stalled.worker.thread.and_then(ThreadId::from_bits));
        }
        for waiting in &self.outside {
            threads.extend(waiting.thread.and_then(ThreadId::from_bits));
        }
        stacks_command(&threads)
    }
}

/// A worker that does not come back from its job.
///
/// # Example
///
/// ```
/// use drowse::Stall;
/// use std::time::Duration;
///
/// fn log(stall: &Stall) {
///     for stalled in &stall.stalled {
///         let call = stalled.system_call.as_deref().unwrap_or("no system call");
///         eprintln!("worker {} is in {call} since {:?}", stalled.worker.index, stalled.since);
///     }
/// }
///
/// let builder = drowse::ThreadPoolBuilder::new().num_threads(1);
/// let pool = builder.stall_watch(Duration::from_secs(5)).stall_handler(log).build().unwrap();
/// assert_eq!(pool.install(|| 42), 42);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StalledWorker {
    /// Report of the worker.
    pub worker: WorkerReport,
    /// Time that it has not moved.
    pub since: Duration,
    /// State of its thread in the system's words, such as `S (sleeping)`, if the system tells.
    pub thread_state: Option<String>,
    /// Function of the system that the thread waits in, if the system tells.
    pub wait_channel: Option<String>,
    /// System call that the thread is in, if the system tells.
    pub system_call: Option<String>,
}

impl fmt::Display for StalledWorker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{};", self.worker)?;
        if let Some(thread) = self.worker.thread {
            write!(f, " thread {thread}")?;
        }
        if let Some(state) = &self.thread_state {
            write!(f, " in {state},")?;
        }
        if let Some(call) = &self.system_call {
            write!(f, " in {call},")?;
        }
        if let Some(channel) = &self.wait_channel {
            write!(f, " at {channel},")?;
        }
        write!(f, " for {}", Tenths(self.since))
    }
}

impl fmt::Display for WaitingThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.waits_for {
            WaitFor::Install => "a closure",
            other => other.as_str(),
        };
        let name = self.name.as_deref().unwrap_or("without a name");
        write!(f, "thread {name}, outside: has waited for {what} for {}", Tenths(self.since))?;
        self.thread.map_or(Ok(()), |thread| write!(f, "; thread {thread}"))
    }
}

impl fmt::Display for Stall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let has = match self.stalled.len() {
            1 => {
                f.write_str("a worker")?;
                "has"
            }
            many => {
                write!(f, "{many} workers")?;
                "have"
            }
        };
        write!(f, " of {}", self.num_threads)?;
        if let Some(name) = &self.pool_name {
            write!(f, " (pool {name})")?;
        }
        write!(f, " {has} been inside one job for {}, and ", Exact(self.after))?;
        f.write_str(match (self.queued, self.waiting.len(), self.outside.len()) {
            (true, ..) => "jobs are queued that no worker takes",
            (false, 0, 0) => "the job below waits, or one for that worker alone",
            (false, 0, 1) => "a thread outside waits",
            (false, 0, _) => "threads outside wait",
            (false, ..) => "others wait",
        })?;
        for worker in &self.stalled {
            write!(f, "\n  {worker}")?;
        }
        for worker in &self.waiting {
            write!(f, "\n  {worker}")?;
        }
        for thread in &self.outside {
            write!(f, "\n  {thread}")?;
        }
        match self.stacks_command() {
            Some(command) => write!(f, "\n  stacks: {command}"),
            None => Ok(()),
        }
    }
}

/// A time in seconds, rounded to tenths: `5.1 s`.
struct Tenths(Duration);

impl fmt::Display for Tenths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = (self.0.subsec_nanos() + 50_000_000) / 100_000_000;
        let seconds = self.0.as_secs().saturating_add((tenths / 10).into());
        write!(f, "{seconds}.{} s", tenths % 10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tenths_are_rounded() {
        for (millis, tenths) in
            [(0, "0.0 s"), (49, "0.0 s"), (51, "0.1 s"), (5_100, "5.1 s"), (9_960, "10.0 s")]
        {
            assert_eq!(Tenths(Duration::from_millis(millis)).to_string(), tenths);
        }
    }
}
