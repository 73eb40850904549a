//! Closures that block.

use crate::engine::{IfNobody, WorkerThread};

/// Calls a closure that may block for long: on a lock, a channel, a file, a timer. Meanwhile a
/// *spare* thread works in the place of the calling worker, so the pool is not a thread short.
///
/// On a thread that is not a worker, in a pool that has no spare left, and in the child of a job
/// that has called `fork`, this is a plain call.
///
/// # What it costs
///
/// Tens of microseconds: the spare is woken, or started, and has to stop again. So it is for what
/// takes a millisecond or more, or may never end without the help of other jobs. A pool has as many
/// spares as [`max_spare_threads`](crate::ThreadPoolBuilder::max_spare_threads) says; they are
/// started when they are needed, and end when nobody has needed them for ten seconds.
/// [`Metrics::loans`](crate::Metrics::loans) counts them.
///
/// # Coming back
///
/// The spare has the worker's index as long as it stands in: in the closure,
/// [`current_thread_index`](crate::current_thread_index) is `None`. When the closure returns, the
/// worker waits until the spare has ended the job that it is in, and has its index again. So there
/// are never two threads with the same index that run, nor an index that is not below
/// [`current_num_threads`](crate::current_num_threads).
///
/// If that takes longer than a tenth of a second, the worker goes on without an index: the spare's
/// job may be waiting for what the worker holds. `current_thread_index` is `None` then, until the
/// spare has ended its job. Code that runs after a `blocking` should be prepared for that.
///
/// # Deadlocks
///
/// A worker that is in here does not count as blocked for the
/// [alarm](crate::ThreadPoolBuilder::deadlock_handler): what it waits for may come from outside,
/// and take its time. If it can only come from the pool, say so with
/// [`mark_blocked`](crate::mark_blocked()) inside. But when all spares are in use, and none of the
/// pool's threads is active, a job that is queued raises an alarm. The first time that a spare is
/// needed, and all of them are in use, the pool says so on the standard error.
///
/// # Example
///
/// A channel whose sender is a job of the same pool: without `blocking`, a pool of one thread would
/// wait for ever.
///
/// ```
/// use std::sync::mpsc::channel;
///
/// let pool = drowse::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
/// let answer = pool.install(|| {
///     let (send, receive) = channel();
///     drowse::spawn(move || send.send(42).unwrap());
///     drowse::blocking(|| receive.recv().unwrap())
/// });
/// assert_eq!(answer, 42);
/// ```
///
/// A lock that is held for long, a nap, and a file:
///
/// ```
/// use std::sync::Mutex;
/// use std::time::Duration;
///
/// # let file = std::env::current_exe().unwrap();
/// let lock = Mutex::new(0);
/// drowse::join(
///     || *drowse::blocking(|| lock.lock().unwrap()) += 1,
///     || drowse::blocking(|| std::thread::sleep(Duration::from_millis(1))),
/// );
/// let bytes = drowse::blocking(|| std::fs::read(file)).unwrap();
/// assert_eq!((lock.into_inner().unwrap(), bytes.is_empty()), (1, false));
/// ```
pub fn blocking<R>(f: impl FnOnce() -> R) -> R {
    let (mut f, mut result) = (Some(f), None);
    block(&mut || result = f.take().map(|f| f()));
    result.expect("it is called once")
}

fn block(f: &mut dyn FnMut()) {
    WorkerThread::with_current(|worker| match worker {
        None => f(),
        Some(worker) => worker.while_away(IfNobody::GiveUp, |_| worker.registry().wait_outside(f)),
    });
}
