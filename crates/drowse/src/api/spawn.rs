//! Closures that run later, and that no caller waits for.

use super::global::current_registry;
use crate::engine::{Inherited, PanicGoes, Registry, WorkerThread, is_isolated};
use crate::job::{HeapJob, JobRef};
use crate::unwind;

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
    spawn_in(func, &current_registry());
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
        spawn_all_in(jobs, &current_registry());
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
    spawn_fifo_in(func, &current_registry());
}

pub(super) fn spawn_in(func: impl FnOnce() + Send + 'static, registry: &Registry) {
    let inherited = prepare_spawn(registry);
    let job = spawned_job(|_| func());
    // SAFETY: a new reference.
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
    // SAFETY: new references.
    unsafe { registry.inject_or_push_all(&mut jobs) };
}

pub(super) fn spawn_fifo_in(func: impl FnOnce() + Send + 'static, registry: &Registry) {
    let inherited = prepare_spawn(registry);
    let job = spawned_job(|_| func());
    // SAFETY: a new reference.
    unsafe { registry.offer_spawned(with_inherited(registry, inherited, job), true) };
}

/// Takes what a spawned job needs: what it inherits, and a reason for the pool to live on. Comes
/// before there is a job, since it may panic.
fn prepare_spawn(registry: &Registry) -> Inherited {
    let inherited = registry.inherit();
    registry.retain();
    inherited
}

/// A job that gives up a reason for the pool to live on when it has run.
pub(super) fn spawned_job(func: impl FnOnce(&WorkerThread) + Send + 'static) -> JobRef {
    let run = move |worker: &WorkerThread| {
        let goes = worker.begin_spawned_job();
        worker.end_spawned_job(unwind::halt_unwinding(|| func(worker)).err(), goes);
    };
    // SAFETY: the closure is `'static`.
    unsafe { HeapJob::new_ref(run) }
}

/// Makes a spawned job run in what it inherits.
#[inline]
fn with_inherited(registry: &Registry, inherited: Inherited, job: JobRef) -> JobRef {
    if inherited.is_something() { in_context(registry, inherited, job) } else { job }
}

#[cold]
#[inline(never)]
fn in_context(registry: &Registry, inherited: Inherited, job: JobRef) -> JobRef {
    registry.retain(); // For what comes after the job.
    // SAFETY: a new reference.
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
