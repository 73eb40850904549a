//! Report of one worker.

use super::BlockedWorker;
use crate::WaitFor;
use std::fmt;

/// Report of one worker of a pool in which nothing moves. `Display` writes one line:
///
/// ```text
/// worker 1 (dozer-1): blocked on the cache at a.rs:12:9, in a job stolen from 0,
///   taken while it waited for the other half of a join, in a job from outside
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerReport {
    /// Index of the worker.
    pub index: usize,
    /// Name of its thread, if it has one.
    pub name: Option<String>,
    /// Number of its thread in the system, if known.
    pub thread: Option<u32>,
    /// State of the worker.
    pub state: WorkerState,
    /// Place where it is marked as blocked, if it is blocked.
    pub region: Option<BlockedWorker>,
    /// Reason why the worker waits in the innermost of its jobs. `None` while it runs that job.
    /// (A worker that meanwhile runs a job of its own still waits.)
    pub waits_for: Option<WaitFor>,
    /// Jobs from elsewhere that it is in the middle of, the innermost first. If there are very
    /// many, only the innermost ones.
    pub jobs: Vec<JobReport>,
    /// Number of such jobs. Each began while another one waited for something.
    pub depth: usize,
}

/// State of a worker.
///
/// ```
/// assert_eq!(drowse::WorkerState::Asleep.to_string(), "asleep");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WorkerState {
    /// Runs a job, or searches for one.
    Active,
    /// Sleeps until there is work, or until what it waits for has happened.
    Asleep,
    /// [Marked as blocked](crate::mark_blocked).
    Blocked,
    /// Inside of [`blocking`](crate::blocking()) or
    /// [`install_blocking`](crate::ThreadPool::install_blocking).
    Away,
    /// Ended.
    Gone,
}

/// A job that a worker is in the middle of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct JobReport {
    /// Origin of the job.
    pub from: JobFrom,
    /// Reason why the worker waited when it took the job; `None` if it was free.
    pub taken_while: Option<WaitFor>,
}

/// Origin of a job that a worker runs.
///
/// ```
/// assert_eq!(drowse::JobFrom::Worker(3).to_string(), "stolen from 3");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum JobFrom {
    /// The worker's own queue, or a broadcast.
    Own,
    /// A thread outside the pool.
    Outside,
    /// Another worker, with this index: the job was stolen.
    Worker(usize),
}

impl WorkerReport {
    /// Returns the worker from which the innermost job was stolen, if it was.
    ///
    /// ```
    /// # let (sender, reports) = std::sync::mpsc::channel();
    /// let builder = drowse::ThreadPoolBuilder::new().num_threads(1);
    /// let builder = builder.deadlock_handler(move |deadlock| {
    ///     sender.send(deadlock.workers[0].clone()).unwrap();
    /// });
    /// let pool = builder.build().unwrap();
    /// let (answer, question) = std::sync::mpsc::channel();
    /// pool.spawn(move || {
    ///     let _blocked = drowse::mark_blocked_on("an answer");
    ///     assert_eq!(question.recv(), Ok(42));
    /// });
    /// let report = reports.recv().unwrap();
    /// assert_eq!((report.depth, report.stole_from()), (1, None));
    /// answer.send(42).unwrap();
    /// ```
    pub fn stole_from(&self) -> Option<usize> {
        match self.jobs.first()?.from {
            JobFrom::Worker(victim) => Some(victim),
            JobFrom::Own | JobFrom::Outside => None,
        }
    }

    /// Returns `true` if the worker is in the middle of nothing that drowse knows of.
    pub(crate) fn is_idle(&self) -> bool {
        self.depth == 0 && matches!(self.waits_for, None | Some(WaitFor::Home))
    }

    /// Returns `true` if the worker has ended or merely waits for work.
    pub(super) fn is_of_no_interest(&self) -> bool {
        self.state == WorkerState::Gone || (self.state == WorkerState::Asleep && self.is_idle())
    }
}

impl fmt::Display for WorkerState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Active => "active",
            Self::Asleep => "asleep",
            Self::Blocked => "blocked",
            Self::Away => "in a blocking call",
            Self::Gone => "gone",
        })
    }
}

impl fmt::Display for JobFrom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Own => f.write_str("of its own"),
            Self::Outside => f.write_str("from outside"),
            Self::Worker(victim) => write!(f, "stolen from {victim}"),
        }
    }
}

impl fmt::Display for WorkerReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "worker {}", self.index)?;
        if let Some(name) = &self.name {
            write!(f, " ({name})")?;
        }
        match &self.region {
            Some(region) => write!(f, ": {region}")?,
            None => write!(f, ": {}", self.state)?,
        }
        let waits_for = self.waits_for.filter(|what| *what != WaitFor::Home || self.depth > 0);
        match waits_for {
            Some(what) if self.region.is_some() => write!(f, ", while it waits for {what}")?,
            Some(what) => write!(f, ", waits for {what}")?,
            None => (),
        }
        for job in &self.jobs {
            write!(f, ", in a job {}", job.from)?;
            if let Some(what) = job.taken_while {
                write!(f, ", taken while it waited for {what}")?;
            }
        }
        match self.depth.saturating_sub(self.jobs.len()) {
            0 => Ok(()),
            1 => write!(f, ", in one more job"),
            more => write!(f, ", in {more} more jobs"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(state: WorkerState) -> WorkerReport {
        let (name, thread, region) = (None, None, None);
        WorkerReport {
            index: 4,
            name,
            thread,
            state,
            region,
            waits_for: None,
            jobs: Vec::new(),
            depth: 0,
        }
    }

    #[test]
    fn a_line_tells_what_is_known() {
        let mut worker = report(WorkerState::Asleep);
        assert_eq!(worker.to_string(), "worker 4: asleep");
        assert!(worker.is_of_no_interest());
        worker.waits_for = Some(WaitFor::Home);
        assert_eq!(worker.to_string(), "worker 4: asleep");
        assert!(worker.is_of_no_interest());
        worker.name = Some("dozer".to_owned());
        worker.waits_for = Some(WaitFor::Scope);
        worker.jobs = vec![
            JobReport { from: JobFrom::Worker(2), taken_while: Some(WaitFor::Join) },
            JobReport { from: JobFrom::Outside, taken_while: None },
        ];
        worker.depth = 2;
        assert_eq!(
            worker.to_string(),
            "worker 4 (dozer): asleep, waits for the jobs of a scope, in a job stolen from 2, taken while it \
             waited for the other half of a join, in a job from outside"
        );
        assert_eq!(worker.stole_from(), Some(2));
        assert!(!worker.is_of_no_interest());
        worker.depth = 9;
        assert!(worker.to_string().ends_with(", in a job from outside, in 7 more jobs"));
    }

    #[test]
    fn who_has_ended_or_is_idle_is_of_no_interest() {
        assert!(report(WorkerState::Gone).is_of_no_interest());
        assert!(!report(WorkerState::Active).is_of_no_interest());
    }
}
