//! That a worker does not come back from its job.

use super::WorkerReport;
use std::fmt;
use std::time::Duration;

/// Workers that have been inside one job for long while others could do with them. What a
/// [stall handler](crate::ThreadPoolBuilder::stall_handler) is told.
///
/// `Display` says it in one line, and adds one for each of these workers, and for each that waits
/// for something in the middle of a job:
///
/// ```text
/// a worker of 2 has been inside one job for 5 s, and jobs are queued that nobody takes
///   worker 0 (doze-0): active, in a job from outside; thread 47 in S (sleeping), in read, for 5 s
///   worker 1 (doze-1): asleep, waits for the other half of a join, in a job stolen from 0
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
    /// How many workers the pool has.
    pub num_threads: usize,
    /// How long a worker may be inside one job.
    pub after: Duration,
    /// Those that have been for longer.
    pub stalled: Vec<StalledWorker>,
    /// Whether jobs are queued, and nobody takes them.
    pub queued: bool,
    /// Those that sleep in the middle of a job, until something has happened.
    pub waiting: Vec<WorkerReport>,
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
    /// What drowse knows of it.
    pub worker: WorkerReport,
    /// For how long it has not moved.
    pub since: Duration,
    /// The state of its thread in the system's words, such as `S (sleeping)`, if the system tells.
    pub thread_state: Option<String>,
    /// The function of the system that the thread waits in, if the system tells.
    pub wait_channel: Option<String>,
    /// The system call that the thread is in, if the system tells.
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
        write!(f, " for {:.1} s", self.since.as_secs_f64())
    }
}

impl fmt::Display for Stall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.stalled.len() {
            1 => write!(f, "a worker of {} has", self.num_threads)?,
            many => write!(f, "{many} workers of {} have", self.num_threads)?,
        }
        write!(f, " been inside one job for {:?}", self.after)?;
        if self.queued {
            write!(f, ", and jobs are queued that nobody takes")?;
        } else {
            write!(f, ", and others wait")?;
        }
        for worker in &self.stalled {
            write!(f, "\n  {worker}")?;
        }
        for worker in &self.waiting {
            write!(f, "\n  {worker}")?;
        }
        Ok(())
    }
}
