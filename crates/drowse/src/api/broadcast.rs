//! Broadcasts: one closure, on each worker.

use super::global::current_registry;
use super::spawn::spawned_job;
use crate::diagnose::WaitFor;
use crate::engine::{Registry, WorkerThread, is_isolated};
use crate::job::StackJob;
use crate::latch::CountLatch;
use crate::unwind;
use drowse_sync::Arc;
use std::fmt;
use std::marker::PhantomData;

/// Runs a closure once on each worker of the current pool, and returns the results by worker index.
///
/// A worker runs it when its own queue is empty, before it steals.
///
/// # Panics
///
/// If the closure panics on a worker, `broadcast` panics with the same payload once the closure has
/// ended on all of them. If it panics on several workers, the payload is that of the lowest index.
///
/// # Example
///
/// ```
/// let pool = drowse::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
/// let squares = pool.install(|| drowse::broadcast(|context| context.index() * context.index()));
/// assert_eq!(squares, [0, 1, 4, 9]);
/// ```
pub fn broadcast<OP, R>(op: OP) -> Vec<R>
where
    OP: Fn(BroadcastContext<'_>) -> R + Sync,
    R: Send,
{
    broadcast_in(op, &current_registry())
}

/// Runs a closure later, once on each worker of the current pool. Returns at once.
///
/// # Panics
///
/// A panic of the closure goes to the pool's
/// [panic handler](crate::ThreadPoolBuilder::panic_handler). Without one, the process aborts.
///
/// # Example
///
/// ```
/// let pool = drowse::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
/// let (sender, receiver) = std::sync::mpsc::channel();
/// pool.spawn_broadcast(move |context| sender.send(context.index()).unwrap());
/// let mut indices: Vec<_> = receiver.iter().collect();
/// indices.sort();
/// assert_eq!(indices, [0, 1, 2]);
/// ```
pub fn spawn_broadcast<OP>(op: OP)
where
    OP: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
{
    spawn_broadcast_in(op, &current_registry());
}

/// Context of a closure that a broadcast runs: tells which worker runs it.
pub struct BroadcastContext<'a> {
    worker: &'a WorkerThread,
    /// Index at the start of the job. The worker may have none after a call that blocks.
    index: usize,
    /// Valid on this thread only: neither `Send` nor `Sync`.
    here: PhantomData<*mut ()>,
}

impl BroadcastContext<'_> {
    /// Returns the context of a broadcast job that runs on `worker` with this index.
    pub(super) fn new(worker: &WorkerThread, index: usize) -> BroadcastContext<'_> {
        BroadcastContext { worker, index, here: PhantomData }
    }

    /// Returns the worker's index, from 0.
    ///
    /// ```
    /// let pool = drowse::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// assert_eq!(pool.broadcast(|context| context.index()), [0, 1]);
    /// ```
    #[inline]
    pub fn index(&self) -> usize {
        self.index
    }

    /// Returns the number of workers that run the closure: all workers of the pool.
    ///
    /// ```
    /// let pool = drowse::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// assert_eq!(pool.broadcast(|context| context.num_threads()), [2, 2]);
    /// ```
    #[inline]
    pub fn num_threads(&self) -> usize {
        self.worker.registry().num_threads()
    }
}

impl fmt::Debug for BroadcastContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BroadcastContext")
            .field("index", &self.index())
            .field("num_threads", &self.num_threads())
            .field("pool", &self.worker.registry().id())
            .finish()
    }
}

pub(super) fn broadcast_in<OP, R>(op: OP, registry: &Registry) -> Vec<R>
where
    OP: Fn(BroadcastContext<'_>) -> R + Sync,
    R: Send,
{
    registry.assert_here();
    WorkerThread::with_current(|worker| wait_for_broadcast(op, registry, worker))
}

/// Runs `op` on each worker of `registry` while `waiter` waits. `None`: the calling thread is not a
/// worker.
fn wait_for_broadcast<OP, R>(op: OP, registry: &Registry, waiter: Option<&WorkerThread>) -> Vec<R>
where
    OP: Fn(BroadcastContext<'_>) -> R + Sync,
    R: Send,
{
    let isolated = is_isolated();
    let inherited = registry.inherit();
    let run = |worker: &WorkerThread, _migrated| {
        // Read first: the user's `enter` may block, and the worker may lose its index meanwhile.
        let (index, mut result) = (index_for_broadcast(worker), None);
        let _region = isolated.then(|| worker.enter_region());
        registry.run_in(&inherited, &mut || {
            result = Some(op(BroadcastContext::new(worker, index)));
        });
        result.expect("it is called once")
    };
    let latch = CountLatch::new(registry.num_threads(), waiter);
    let jobs: Vec<_> = (0..registry.num_threads()).map(|_| StackJob::new(&run, &latch)).collect();
    // SAFETY: we wait for all jobs before we leave this frame, so they outlive their execution.
    // `OP` is `Sync`, `R` is `Send`. The caller holds the pool, so it has not ended.
    unwind::or_abort(|| unsafe {
        registry.inject_broadcast(&mut |worker| jobs[worker].as_job_ref());
        latch.wait(waiter, registry, WaitFor::Broadcast);
    });
    let (mut results, mut panic) = (Vec::with_capacity(jobs.len()), None);
    for job in &jobs {
        // SAFETY: the latch is set, so each job has run. Each result is taken once.
        match unsafe { job.take_result() } {
            Ok(result) => results.push(result),
            Err(payload) if panic.is_none() => panic = Some(payload),
            Err(payload) => unwind::drop_panic(payload),
        }
    }
    let Some(payload) = panic else { return results };
    results.into_iter().for_each(unwind::drop_quietly);
    unwind::resume_unwinding(payload)
}

pub(super) fn spawn_broadcast_in<OP>(op: OP, registry: &Registry)
where
    OP: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
{
    // Captured once, before the first job exists: the user's `capture` may panic.
    let shared = Arc::new((op, registry.inherit()));
    let mut job = |_| {
        let shared = Arc::clone(&shared);
        registry.retain();
        let job = spawned_job(move |worker| {
            // Read first: the user's `enter` may block, and the worker may lose its index
            // meanwhile.
            let ((op, inherited), index) = (&*shared, index_for_broadcast(worker));
            worker.registry().run_in(inherited, &mut || op(BroadcastContext::new(worker, index)));
        });
        job.in_isolation_if(is_isolated())
    };
    // SAFETY: new references, which are in no queue.
    unsafe { registry.inject_broadcast(&mut job) };
}

/// Returns the index of a worker that begins a broadcast job.
pub(super) fn index_for_broadcast(worker: &WorkerThread) -> usize {
    worker.place().expect("what runs this has the place of the worker that it is for")
}
