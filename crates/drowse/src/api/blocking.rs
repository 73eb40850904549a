//! Closures that block a worker.

use crate::engine::{NoTaker, WorkerThread};

/// Calls a closure that may block for long, while another thread works in the caller's place.
///
/// Use it around locks, channels, files and timers. The other thread is a *spare*: the pool runs as
/// many threads as before. On a thread that is not a worker, in a pool that has no spare left, and
/// in the child of a job that called `fork`, this is a plain call.
///
/// # Cost
///
/// Tens of microseconds: a spare is woken or started, and has to stop again. So use it for calls
/// that take a millisecond or more, or that may never end without the help of other jobs.
/// [`max_spare_threads`](crate::ThreadPoolBuilder::max_spare_threads) limits the number of spares.
/// They are started when they are needed, and end after ten seconds without use.
/// [`Metrics::loans`](crate::Metrics::loans) counts them.
///
/// # After the closure
///
/// While the spare works in the worker's place, it has the worker's index: inside the closure,
/// [`current_thread_index`](crate::current_thread_index) returns `None`. When the closure returns,
/// the worker waits until the spare has finished its current job, and then has its index again. So
/// two running threads never have the same index, and each index is below
/// [`current_num_threads`](crate::current_num_threads).
///
/// If that takes longer than a tenth of a second, the worker goes on without an index, since the
/// spare's job may be waiting for something that the worker holds. `current_thread_index` then
/// returns `None` until the spare has finished its job. Code that runs after a `blocking` should be
/// prepared for that.
///
/// # Deadlocks
///
/// A worker inside `blocking` does not count as blocked for the
/// [deadlock handler](crate::ThreadPoolBuilder::deadlock_handler): what it waits for may come from
/// outside the pool, at any time. If it can only come from the pool, call
/// [`mark_blocked`](crate::mark_blocked()) inside the closure. But when all spares are in use and
/// no thread of the pool is active, a queued job raises an alarm. The first time that a spare is
/// needed while all are in use, the pool prints a line to standard error.
///
/// # Example
///
/// A channel whose sender is a job of the same pool. Without `blocking`, a pool of one thread would
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
/// A lock that is held for long, a sleep, and a file:
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
        Some(worker) => {
            let _lent = worker.lend_place(NoTaker::GiveUpUnlessLast);
            worker.registry().wait_outside(f);
        }
    });
}
