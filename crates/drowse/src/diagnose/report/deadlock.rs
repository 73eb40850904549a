//! Report of a pool in which no worker can go on.

use super::WorkerReport;
use std::fmt;
use std::panic::Location;

/// Report of a pool in which nothing moves: no worker is active, and some are blocked in the user's
/// code, or jobs are queued and no spare thread is left to run them. A [deadlock
/// handler](crate::ThreadPoolBuilder::deadlock_handler) is given this.
///
/// The other workers, if any, sleep, or have ended with the pool. `Display` writes one line, and
/// one more for each worker that does not merely wait for work:
///
/// ```text
/// no worker of 3 can go on: 0 is blocked on the cache at a.rs:12:9, 2 sleep
///   worker 0 (dozer-0): blocked on the cache at a.rs:12:9, in a job from outside
///   worker 2 (dozer-2): asleep, waits for the other half of a join, in a job stolen from 0
/// ```
///
/// # Example
///
/// ```
/// use std::sync::mpsc::channel;
///
/// let (alarm, alarms) = channel();
/// let builder = drowse::ThreadPoolBuilder::new().num_threads(2);
/// let pool = builder.deadlock_handler(move |deadlock| alarm.send(deadlock.clone()).unwrap());
/// let pool = pool.build().unwrap();
///
/// let blocked = pool.install(|| drowse::mark_blocked_on("the cache")); // and it stays so
/// let deadlock = alarms.recv().unwrap();
/// assert_eq!((deadlock.num_threads, deadlock.blocked.len(), deadlock.asleep), (2, 1, 1));
/// drop(blocked);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Deadlock {
    /// Number of workers of the pool.
    pub num_threads: usize,
    /// Workers that are blocked.
    pub blocked: Vec<BlockedWorker>,
    /// Number of [spare threads](crate::ThreadPoolBuilder::max_spare_threads) that the pool can
    /// have, if all of them are in use while workers are inside of [`blocking`](crate::blocking())
    /// or wait in [isolation](crate::isolate()).
    pub out_of_spares: Option<usize>,
    /// Number of workers that sleep.
    pub asleep: usize,
    /// Reports of all workers.
    pub workers: Vec<WorkerReport>,
}

/// A worker that is marked as blocked.
///
/// # Example
///
/// ```
/// use drowse::Deadlock;
///
/// fn log(deadlock: &Deadlock) {
///     for worker in &deadlock.blocked {
///         let what = worker.what.unwrap_or("something");
///         eprintln!("worker {} waits for {what}, line {}", worker.index, worker.at.line());
///     }
/// }
///
/// let builder = drowse::ThreadPoolBuilder::new().num_threads(1).deadlock_handler(log);
/// assert_eq!(builder.build().unwrap().install(|| 42), 42);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockedWorker {
    /// Index of the worker.
    pub index: usize,
    /// Name of what it blocks on, if [given](crate::mark_blocked_on).
    pub what: Option<&'static str>,
    /// Place in the code that marked it as blocked.
    pub at: &'static Location<'static>,
}

impl fmt::Display for BlockedWorker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.what {
            Some(what) => write!(f, "blocked on {what} at {}", self.at),
            None => write!(f, "blocked at {}", self.at),
        }
    }
}

impl fmt::Display for Deadlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no worker of {} can go on:", self.num_threads)?;
        let mut comma = "";
        for worker in &self.blocked {
            write!(f, "{comma} {} is {worker}", worker.index)?;
            comma = ",";
        }
        match self.out_of_spares {
            None => (),
            Some(0) => write!(f, "{comma} it has no spare threads")?,
            Some(spares) => {
                write!(f, "{comma} all {spares} spare threads are in use (max_spare_threads)")?
            }
        }
        match self.asleep {
            0 => (),
            1 => write!(f, ", one sleeps")?,
            others => write!(f, ", {others} sleep")?,
        }
        for worker in self.workers.iter().filter(|worker| !worker.is_of_no_interest()) {
            write!(f, "\n  {worker}")?;
        }
        Ok(())
    }
}
