//! Closures that run later, and for which nobody waits.

use super::global::with_current_registry;
use crate::engine::{Registry, WorkerThread, is_isolated, isolate};
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

/// Runs closures later: each as if by [`spawn`], but they are made known to the pool together.
///
/// The pool then knows at once how many workers to wake, where a row of single spawns wakes the
/// first one and lets each worker that finds a job wake the next. It also costs a little less.
///
/// The iterator runs here and now, and the closures are queued in its order. None of them begins
/// before its batch is complete: the iterator has ended, or has given as many as there are workers,
/// 16 at least, or as many as the lower bound of its [`size_hint`](Iterator::size_hint) promised.
/// So an iterator that cannot tell how much is to come, such as one over a channel, has each
/// closure spawned at once; and one that can must not wait for a closure that it has given already.
///
/// # Panics
///
/// A panic of a closure is that of a [`spawn`]ed one. If the iterator panics, so does `spawn_all`;
/// the closures that the iterator gave before run all the same.
///
/// # Example
///
/// ```
/// let (sender, receiver) = std::sync::mpsc::channel();
/// drowse::spawn_all((1..=4).map(|i| {
///     let sender = sender.clone();
///     move || sender.send(i * i).unwrap()
/// }));
/// drop(sender);
/// assert_eq!(receiver.iter().sum::<i32>(), 1 + 4 + 9 + 16);
/// ```
pub fn spawn_all<I>(jobs: I)
where
    I: IntoIterator<Item: FnOnce() + Send + 'static>,
{
    let mut jobs = jobs.into_iter().peekable();
    // No jobs, no pool.
    if jobs.peek().is_some() {
        with_current_registry(|registry| spawn_all_in(jobs, registry));
    }
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

pub(super) fn spawn_all_in<I>(jobs: I, registry: &Registry)
where
    I: IntoIterator<Item: FnOnce() + Send + 'static>,
{
    let jobs = jobs.into_iter().map(|func| spawned_job(func, registry));
    // SAFETY: new references.
    unsafe { registry.inject_or_push_all(jobs) };
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

/// A job that keeps the pool alive until it has run. In isolation if it is spawned there: somebody
/// may wait for it who holds a lock.
pub(super) fn spawned_job(func: impl FnOnce() + Send + 'static, registry: &Registry) -> JobRef {
    if registry.has_context() {
        let inherited = registry.inherit();
        return spawned_as_is(move || on_current_registry(|pool| pool.run_in(&inherited, func)), registry);
    }
    spawned_as_is(func, registry)
}

/// The same, which inherits nothing.
pub(super) fn spawned_as_is(func: impl FnOnce() + Send + 'static, registry: &Registry) -> JobRef {
    if is_isolated() { job_of(|| isolate(func), registry) } else { job_of(func, registry) }
}

/// Calls `f` with the pool of the worker that runs this.
pub(super) fn on_current_registry<R>(f: impl FnOnce(&Registry) -> R) -> R {
    WorkerThread::with_current(|worker| f(worker.expect("jobs are run by workers").registry()))
}

fn job_of(func: impl FnOnce() + Send + 'static, registry: &Registry) -> JobRef {
    registry.retain();
    let run = move || {
        WorkerThread::with_current(|worker| {
            let worker = worker.expect("jobs are run by workers");
            worker.begin_other_job();
            worker.registry().catch_unwind(func);
            worker.put_reason();
        });
    };
    // SAFETY: the closure is `'static`.
    unsafe { HeapJob::new_ref(run) }
}
