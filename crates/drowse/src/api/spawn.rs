//! Closures that run later, and for which nobody waits.

use super::global::with_current_registry;
use crate::engine::{Registry, WorkerThread};
use crate::job::{HeapJob, JobRef};

/// Runs a closure later, in the current pool: that of the calling worker, else the global one.
///
/// Returns at once. Nobody waits for the closure, so it must not borrow. On a worker it goes to the
/// worker's own queue, where the newest job comes first.
///
/// A pool that is dropped runs what was spawned into it before it ends. The global pool ends with
/// the process, whether or not everything has run.
///
/// # Panics
///
/// A panic of the closure goes to the pool's
/// [panic handler](crate::ThreadPoolBuilder::panic_handler). Without one, the process aborts.
///
/// # Example
///
/// ```
/// let (sender, receiver) = std::sync::mpsc::channel();
/// drowse::spawn(move || sender.send(6 * 7).unwrap());
/// assert_eq!(receiver.recv(), Ok(42));
/// ```
pub fn spawn<F>(func: F)
where
    F: FnOnce() + Send + 'static,
{
    with_current_registry(|registry| spawn_in(func, registry));
}

/// Like [`spawn`], but jobs that one worker spawns this way are begun in the order in which it
/// spawned them.
///
/// From outside the pool there is no difference: what comes from outside always queues.
///
/// # Panics
///
/// See [`spawn`].
///
/// # Example
///
/// ```
/// let pool = drowse::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
/// let (sender, receiver) = std::sync::mpsc::channel();
/// pool.install(|| {
///     for i in 0..3 {
///         let sender = sender.clone();
///         drowse::spawn_fifo(move || sender.send(i).unwrap());
///     }
/// });
/// drop(sender);
/// assert_eq!(receiver.iter().collect::<Vec<_>>(), [0, 1, 2]);
/// ```
pub fn spawn_fifo<F>(func: F)
where
    F: FnOnce() + Send + 'static,
{
    with_current_registry(|registry| spawn_fifo_in(func, registry));
}

pub(super) fn spawn_in(func: impl FnOnce() + Send + 'static, registry: &Registry) {
    let job = spawned_job(func, registry);
    // SAFETY: a new reference.
    unsafe { registry.inject_or_push(job) };
}

pub(super) fn spawn_fifo_in(func: impl FnOnce() + Send + 'static, registry: &Registry) {
    let job = spawned_job(func, registry);
    registry.with_worker(|worker| match worker {
        // SAFETY: a new reference.
        Some(worker) => unsafe { worker.push_fifo(job) },
        // SAFETY: a new reference.
        None => unsafe { registry.inject(job) },
    });
}

/// A job that keeps the pool alive until it has run.
pub(super) fn spawned_job(func: impl FnOnce() + Send + 'static, registry: &Registry) -> JobRef {
    registry.sleep.assert_may_post();
    registry.retain();
    let run = move || {
        WorkerThread::with_current(|worker| {
            let registry = worker.expect("jobs are run by workers").registry();
            registry.catch_unwind(func);
            registry.release();
        });
    };
    // SAFETY: the closure is `'static`.
    unsafe { HeapJob::new_ref(run) }
}
