//! Closures that run later, and that no caller waits for.

use super::global::current_registry;
use crate::engine::{Inherited, PanicGoes, Registry, WorkerThread, is_isolated};
use crate::job::{HeapJob, JobRef};
use crate::unwind;

/// Runs a closure later, in the current pool: that of the calling worker, else the global pool.
///
/// Returns at once. The closure must not borrow, since no caller waits for it. On a worker, it goes
/// to the worker's own queue, where the newest job comes first.
///
/// A pool that is dropped runs the jobs that were spawned into it before it ends. The global pool
/// ends with the process, even if some jobs have not run.
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
    spawn_in(func, &current_registry());
}

/// Runs closures later, like one [`spawn`] each, but makes them known to the pool together.
///
/// So the pool knows at once how many workers to wake. Single spawns in a row wake the first
/// worker, and each worker that finds a job wakes the next. `spawn_all` also costs a little less.
///
/// The iterator runs inside this call, and the closures are queued in its order. No closure begins
/// before its batch is complete: the iterator has ended, or has returned as many closures as there
/// are workers (16 at least), or as many as the lower bound of its
/// [`size_hint`](Iterator::size_hint). So an iterator with a lower bound of zero, such as one over
/// a channel, has each closure spawned at once; an iterator with a greater one must not wait for a
/// closure that it has returned already.
///
/// # Panics
///
/// A panic of a closure is treated as in [`spawn`]. If the iterator panics, so does `spawn_all`;
/// the closures that it returned before still run.
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
    // An empty iterator must not start the global pool.
    if jobs.peek().is_some() {
        spawn_all_in(jobs, &current_registry());
    }
}

/// Like [`spawn`], but a worker's jobs begin in the order in which it spawned them.
///
/// Jobs from outside the pool are queued in order in any case.
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
    spawn_fifo_in(func, &current_registry());
}

pub(super) fn spawn_in(func: impl FnOnce() + Send + 'static, registry: &Registry) {
    let inherited = prepare_spawn(registry);
    let job = spawned_job(|_| func());
    // SAFETY: a new reference, which is in no queue.
    unsafe { registry.offer_spawned(with_inherited(registry, inherited, job), false) };
}

pub(super) fn spawn_all_in<I>(jobs: I, registry: &Registry)
where
    I: IntoIterator<Item: FnOnce() + Send + 'static>,
{
    let isolated = is_isolated();
    let mut jobs = jobs.into_iter().map(|func| {
        let inherited = prepare_spawn(registry);
        with_inherited(registry, inherited, spawned_job(|_| func())).in_isolation_if(isolated)
    });
    // SAFETY: new references, which are in no queue.
    unsafe { registry.offer_all(&mut jobs) };
}

pub(super) fn spawn_fifo_in(func: impl FnOnce() + Send + 'static, registry: &Registry) {
    let inherited = prepare_spawn(registry);
    let job = spawned_job(|_| func());
    // SAFETY: a new reference, which is in no queue.
    unsafe { registry.offer_spawned(with_inherited(registry, inherited, job), true) };
}

/// Takes what a spawned job needs: what it inherits, and a reason for the pool to live on. Called
/// before the job exists, since the user's `capture` may panic.
fn prepare_spawn(registry: &Registry) -> Inherited {
    let inherited = registry.inherit();
    registry.retain();
    inherited
}

/// Makes a job that gives up a reason for the pool to live on when it has run.
pub(super) fn spawned_job(func: impl FnOnce(&WorkerThread) + Send + 'static) -> JobRef {
    let run = move |worker: &WorkerThread| {
        let goes = worker.begin_spawned_job();
        worker.end_spawned_job(unwind::halt_unwinding(|| func(worker)).err(), goes);
    };
    // SAFETY: the closure is `'static`.
    unsafe { HeapJob::new_ref(run) }
}

/// Makes a spawned job run with `inherited` in effect.
#[inline]
fn with_inherited(registry: &Registry, inherited: Inherited, job: JobRef) -> JobRef {
    if inherited.is_something() { in_context(registry, inherited, job) } else { job }
}

#[cold]
#[inline(never)]
fn in_context(registry: &Registry, inherited: Inherited, job: JobRef) -> JobRef {
    registry.retain(); // For the outer job, which ends after `job`.
    // SAFETY: a new reference, which is in no queue.
    unsafe {
        Registry::job_in(
            inherited,
            job,
            WorkerThread::execute_inner_job,
            || false,
            |worker, panic| {
                worker.end_spawned_job(panic, PanicGoes::default());
            },
        )
    }
}
