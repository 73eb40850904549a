//! What is known of one worker.

use super::BlockedWorker;
use crate::WaitFor;
use std::fmt;

/// What is known of one worker of a pool in which nothing moves. `Display` says it in one line:
///
/// ```text
/// worker 1 (dozer-1): blocked on the cache at a.rs:12:9, in a job stolen from 0,
///   taken while it waited for the other half of a join, in a job from outside
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerReport {
    /// Which one.
    pub index: usize,
    /// The name of its thread, if it has one.
    pub name: Option<String>,
    /// The number of its thread, as the system knows it, where it can be told.
    pub thread: Option<u32>,
    /// What it is.
    pub state: WorkerState,
    /// Where it said that it blocks, if it is blocked.
    pub region: Option<BlockedWorker>,
    /// What it waits for in the innermost of its jobs. `None` while it runs that. (One that runs a
    /// job of its own meanwhile still waits.)
    pub waits_for: Option<WaitFor>,
    /// The jobs from elsewhere that it is in the middle of, the innermost first. Of very many, only
    /// those.
    pub jobs: Vec<JobReport>,
    /// How many such jobs there are: each began while another waited for something.
    pub depth: usize,
}

/// What a worker is.
///
/// ```
/// assert_eq!(drowse::WorkerState::Asleep.to_string(), "asleep");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WorkerState {
    /// It runs a job, or searches for one.
    Active,
    /// It sleeps until there is work, or until what it waits for has happened.
    Asleep,
    /// It is [marked as blocked](crate::mark_blocked).
    Blocked,
    /// It is inside of [`blocking`](crate::blocking()) or
    /// [`install_blocking`](crate::ThreadPool::install_blocking).
    Away,
    /// It has ended.
    Gone,
}

/// A job that a worker is in the middle of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct JobReport {
    /// Where the worker had it from.
    pub from: JobFrom,
    /// What the worker waited for when it took it; `None` if it was free.
    pub taken_while: Option<WaitFor>,
}

/// Where a worker had a job from.
///
/// ```
/// assert_eq!(drowse::JobFrom::Worker(3).to_string(), "stolen from 3");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum JobFrom {
    /// It was its own, or was left for it by a broadcast.
    Own,
    /// From a thread that is no worker of the pool.
    Outside,
    /// From that worker: it was stolen.
    Worker(usize),
}

impl WorkerReport {
    /// Whom it stole the job from that it is in the middle of, if it did.
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

    /// Whether it is in the middle of nothing that drowse knows of.
    pub(crate) fn is_idle(&self) -> bool {
        self.depth == 0 && matches!(self.waits_for, None | Some(WaitFor::Home))
    }

    /// Whether it has ended, or merely waits for work.
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
        WorkerReport { index: 4, name, thread, state, region, waits_for: None, jobs: Vec::new(), depth: 0 }
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
