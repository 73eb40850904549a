//! A pool as its alarms see it, and reports on its workers.

use super::probe::Probe;
use super::report::{WorkerReport, WorkerState};
use drowse_sync::ThreadId;
use std::io;

/// A pool that is watched.
pub(crate) trait Pool: Send + Sync {
    fn probe(&self) -> &Probe;

    fn num_threads(&self) -> usize;

    /// Returns the number of workers and of seats for spares that were ever in use.
    fn seats_in_use(&self) -> usize;

    fn most_spares(&self) -> usize;

    /// Returns the thread of a worker, once it has begun.
    fn thread(&self, worker: usize) -> Option<ThreadId>;

    fn is_asleep(&self, worker: usize) -> bool;

    /// Returns `true` if a queue holds a job that any worker may take.
    fn work_visible(&self) -> bool;

    /// Returns `true` if a broadcast has left a job for this worker.
    fn has_letter(&self, worker: usize) -> bool;

    /// Returns `true` if any queue holds a job or a letter. Reliable only while no worker is
    /// active.
    fn has_queued_jobs(&self) -> bool;

    /// Returns values that change when the worker searches, takes jobs, pushes, pops or sleeps.
    fn pulse(&self, worker: usize) -> [u64; 6];

    /// Calls a handler of the user.
    fn call_handler(&self, handler: &dyn Fn());

    /// Starts a thread with this name that watches the workers until the pool ends, and which the
    /// end of the pool waits for. Does nothing if the pool has ended.
    fn start_watch(&self, name: &'static str, run: Box<Watch>) -> io::Result<()>;

    /// Returns the index of the worker that the calling thread is, if it is one of the pool at this
    /// address.
    fn current_in(pool: usize) -> Option<usize>
    where
        Self: Sized;
}

/// Body of a thread that watches. It is given a function that calls a handler of the user.
/// Meanwhile the end of the pool takes the thread for busy.
pub(crate) type Watch = dyn FnOnce(&WhileBusy<'_>) + Send;
pub(crate) type WhileBusy<'a> = dyn Fn(&dyn Fn()) + 'a;

pub(super) fn report_on(pool: &dyn Pool, worker: usize, state: WorkerState) -> WorkerReport {
    let trail = pool.probe().trail(worker);
    WorkerReport {
        index: worker,
        name: trail.name().map(str::to_owned),
        thread: pool.thread(worker).map(ThreadId::to_bits),
        state,
        region: None,
        waits_for: trail.waits_for(),
        jobs: trail.jobs(),
        depth: usize::try_from(trail.depth()).unwrap_or(usize::MAX),
    }
}
