//! Ending a pool, and waiting for its threads.

use super::ThreadPool;
use crate::diagnose::WaitFor;
use crate::engine::{Registry, Unfinished, WorkerThread};
use drowse_sync::{Arc, Stopwatch};
use std::error::Error;
use std::fmt;
use std::time::Duration;

pub use crate::engine::BusyThread;

/// Time that a helping worker waits for a thread to leave before it looks for jobs again.
const PAUSE: Duration = Duration::from_millis(1);

impl ThreadPool {
    /// Ends the pool, and waits until all of its threads are gone.
    ///
    /// Spawned jobs are run before, as when the pool is dropped. When this returns, the system does
    /// not count the threads any more, and their thread-locals were dropped. The threads that call
    /// the [deadlock handler](crate::ThreadPoolBuilder::deadlock_handler) and the
    /// [stall handler](crate::ThreadPoolBuilder::stall_handler) have ended, too.
    ///
    /// Threads that were started by a [spawn handler](crate::ThreadPoolBuilder::spawn_handler)
    /// belong to the user: for each of them, this waits until
    /// [`ThreadBuilder::run`](crate::ThreadBuilder::run) has returned or the `ThreadBuilder` was
    /// dropped. It does not wait for a thread that was
    /// [taken over](crate::ThreadPoolBuilder::use_current_thread); if that thread is the caller, it
    /// helps with the remaining jobs. A worker of another pool blocks, and runs nothing else
    /// meanwhile. In a forked child, the threads of a pool that the parent made do not exist, and
    /// this returns at once.
    ///
    /// # Panics
    ///
    /// On a thread of this pool, which would wait for itself: in a job, in a handler, and in the
    /// drop of the thread's thread-locals, also after the thread has
    /// [left](crate::ThreadPoolBuilder::idle_timeout) the pool. The pool then ends as if it was
    /// dropped.
    ///
    /// # Example
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU32, Ordering};
    ///
    /// static RUN: AtomicU32 = AtomicU32::new(0);
    ///
    /// let pool = drowse::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
    /// for _ in 0..10 {
    ///     pool.spawn(|| _ = RUN.fetch_add(1, Ordering::Relaxed));
    /// }
    /// pool.shutdown();
    /// assert_eq!(RUN.load(Ordering::Relaxed), 10);
    /// ```
    pub fn shutdown(self) {
        let ended = self.end(None);
        debug_assert!(ended.is_ok(), "there was no limit");
    }

    /// Like [`shutdown`](Self::shutdown), but waits not much longer than `timeout`.
    ///
    /// # Errors
    ///
    /// If some threads are still busy by then: a [`StillBusy`] that names them. They go on, and end
    /// when they are done, as if the pool was dropped. A thread that drops its thread-locals counts
    /// as busy. Where the system does not tell which threads are left (it does on Linux), all that
    /// may be left are named.
    ///
    /// # Panics
    ///
    /// On a thread of this pool. See [`shutdown`](Self::shutdown).
    ///
    /// # Example
    ///
    /// ```
    /// use std::sync::mpsc;
    /// use std::time::Duration;
    ///
    /// let builder = drowse::ThreadPoolBuilder::new().num_threads(2);
    /// let pool = builder.thread_name(|index| format!("dozer {index}")).build().unwrap();
    /// let (hold, held) = mpsc::channel::<()>();
    /// pool.spawn(move || _ = held.recv());
    ///
    /// let busy = pool.shutdown_timeout(Duration::from_millis(10)).unwrap_err();
    /// assert!(busy.to_string().contains("dozer"));
    /// drop(hold); // lets the job end
    /// ```
    pub fn shutdown_timeout(self, timeout: Duration) -> Result<(), StillBusy> {
        self.end(Some(timeout))
    }

    fn end(self, time: Option<Duration>) -> Result<(), StillBusy> {
        let registry = self.registry();
        if registry.is_left_behind() {
            return Ok(());
        }
        registry.assert_may_end();
        registry.recruiter.keep_to_join();
        // Drops the handle, which is a reason for the pool to live on.
        drop(self);
        wait_for_end(&registry, time)
    }
}

impl Registry {
    /// # Panics
    ///
    /// On a thread that must not wait for the end of this pool, because it would wait for itself.
    pub(super) fn assert_may_end(&self) {
        let in_a_job = |worker: Option<&WorkerThread>| {
            let own = worker.filter(|worker| worker.registry().id() == self.id());
            own.is_some_and(|worker| !worker.is_adopted() || worker.is_helping())
        };
        // A handler on a worker's thread counts as no worker, but its job waits below it.
        let would_wait_for_itself = WorkerThread::with_current(in_a_job)
            || WorkerThread::with_hidden(in_a_job)
            || self.recruiter.owns_current_thread();
        assert!(
            !would_wait_for_itself,
            "a thread pool is shut down by one of its own threads (in a job, a handler, or the drop of a \
             thread-local), which would wait for itself: let another thread do it, or drop the pool, which does not \
             wait"
        );
    }
}

/// Waits for the end of a pool whose last handle is gone.
pub(super) fn wait_for_end(
    registry: &Arc<Registry>,
    time: Option<Duration>,
) -> Result<(), StillBusy> {
    let clock = Stopwatch::start();
    let left = || time.map(|time| time.saturating_sub(clock.elapsed()));
    let _waits = registry.probe.note_waiter(WaitFor::Shutdown);
    registry.with_worker(|worker| worker.into_iter().for_each(|worker| help(worker, left)));
    let threads = match registry.recruiter.wait_for_all(left()) {
        Ok(()) => return Ok(()),
        Err(Unfinished::Busy(mut threads)) => {
            // A worker that sleeps is not busy: it waits for the busy threads to end.
            threads.retain(|thread| {
                !thread.index.is_some_and(|index| registry.sleep.is_asleep(index))
            });
            threads
        }
        Err(Unfinished::Ending(mut threads)) => {
            threads
                .retain(|thread| !thread.index.is_some_and(|index| registry.thread_is_gone(index)));
            if threads.is_empty() {
                return Ok(());
            }
            threads
        }
    };
    Err(StillBusy { threads })
}

/// Runs jobs until the pool ends, or no time is left. Some jobs can run only on this thread, which
/// was taken over.
fn help(worker: &WorkerThread, left: impl Fn() -> Option<Duration>) {
    let end = worker.end();
    if left().is_none() {
        return worker.wait_until(end, WaitFor::Home, worker.point());
    }
    while !end.probe() && left() != Some(Duration::ZERO) {
        worker.lend_wanted_place(end);
        if !worker.run_one() {
            worker.registry().recruiter.wait_for_one(PAUSE);
        }
    }
}

/// Error of [`ThreadPool::shutdown_timeout`]: threads that were still busy.
///
/// ```
/// # use std::{sync::mpsc, time::Duration};
/// let builder = drowse::ThreadPoolBuilder::new().num_threads(1);
/// let pool = builder.thread_name(|_| "dozer".into()).build().unwrap();
/// let (hold, held) = mpsc::channel::<()>();
/// pool.spawn(move || _ = held.recv());
///
/// let busy = pool.shutdown_timeout(Duration::ZERO).unwrap_err();
/// assert_eq!(busy.threads()[0].index, Some(0));
/// assert_eq!(busy.threads()[0].name.as_deref(), Some("dozer"));
/// drop(hold);
/// ```
#[derive(Debug)]
pub struct StillBusy {
    threads: Vec<BusyThread>,
}

impl StillBusy {
    /// Returns the busy threads, in the order of their indices.
    ///
    /// Empty if all threads sleep but the pool has not ended: a [future](crate::spawn_future()) in
    /// it waits to be woken, or a thread outside the pool still uses it.
    ///
    /// ```
    /// # use std::{sync::mpsc, time::Duration};
    /// # let pool = drowse::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    /// # let (hold, held) = mpsc::channel::<()>();
    /// # pool.spawn(move || _ = held.recv());
    /// let busy = pool.shutdown_timeout(Duration::ZERO).unwrap_err();
    /// assert_eq!(busy.threads().len(), 1);
    /// # drop(hold);
    /// ```
    pub fn threads(&self) -> &[BusyThread] {
        &self.threads
    }
}

impl fmt::Display for StillBusy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.threads.is_empty() {
            return f.write_str(
                "the pool has not ended, though all of its threads sleep: a future in it waits to be woken, or a \
                 thread outside still uses it",
            );
        }
        f.write_str("still busy when the pool was to end: ")?;
        for (i, thread) in self.threads.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            write!(f, "{comma}{thread}")?;
        }
        f.write_str(" (they go on, and end when they are done)")
    }
}

impl Error for StillBusy {}
