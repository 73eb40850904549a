//! Builder methods for workers that wait and block, and for threads that work in their place.

use super::ThreadPoolBuilder;
use crate::Waiting;

impl<S> ThreadPoolBuilder<S> {
    /// Sets what workers run while they wait in the middle of a job.
    ///
    /// The default is the value of the environment variable `DROWSE_WAITING` (`help` or `isolate`),
    /// else [`Waiting::Help`].
    ///
    /// With [`Waiting::Isolate`] all code in the pool runs as if inside
    /// [`isolate`](crate::isolate): a lock may be held across a `join`, a `scope`, a parallel loop.
    ///
    /// ```
    /// use drowse::{ThreadPoolBuilder, Waiting};
    /// use std::sync::Mutex;
    ///
    /// let pool = ThreadPoolBuilder::new().waiting(Waiting::Isolate).build().unwrap();
    /// let total = Mutex::new(0);
    /// pool.scope(|s| {
    ///     for _ in 0..64 {
    ///         s.spawn(|_| {
    ///             let mut total = total.lock().unwrap(); // held across a join
    ///             let (a, b) = drowse::join(|| 1, || 2);
    ///             *total += a + b;
    ///         });
    ///     }
    /// });
    /// assert_eq!(total.into_inner().unwrap(), 192);
    /// ```
    pub fn waiting(mut self, waiting: Waiting) -> Self {
        self.chosen.waiting = Some(waiting);
        self
    }

    /// Sets how many spare threads may work in the place of workers that block.
    ///
    /// See [`blocking`](crate::blocking()). Spares are started when they are needed, and cost
    /// nothing before. The default is 512, or the number of workers if that is greater. The maximum
    /// is [`max_num_threads`](crate::max_num_threads). With 0, no thread works in the place of a
    /// worker that blocks; the last worker that could run jobs then first runs those that its own
    /// job has forked.
    ///
    /// The first time that a spare is needed while all are in use, the pool prints a line to
    /// standard error.
    ///
    /// ```
    /// let builder = drowse::ThreadPoolBuilder::new().num_threads(1).max_spare_threads(1);
    /// let pool = builder.build().unwrap();
    /// pool.install(|| drowse::blocking(|| ()));
    /// assert_eq!(pool.metrics().loans.threads_started, 1);
    /// ```
    pub fn max_spare_threads(mut self, max_spare_threads: usize) -> Self {
        self.chosen.max_spare_threads = Some(max_spare_threads);
        self
    }

    /// Sets whether a thread that enters the pool from outside works itself, instead of waiting.
    ///
    /// The default is the value of the environment variable `DROWSE_GUESTS` (`on` or `off`), else
    /// `false`.
    ///
    /// With guests, a thread that calls `install`, `join` or `scope` from outside takes the seat of
    /// a worker that sleeps, runs the closure itself, on its own stack, as if it were that worker,
    /// and gives the seat back. A thread that waits for an `in_place_scope` helps until there is no
    /// job left to take. This saves a short region two trips through the system. Nothing changes
    /// for the code inside: [`current_thread_index`](crate::current_thread_index) returns the index
    /// of the seat, two threads never have the same index at once, and no more threads run than the
    /// pool has. If no worker sleeps, the caller waits as without guests.
    ///
    /// A guest does not have the worker's *thread*: its thread-locals, its name, its stack size,
    /// its place among the processors, and the effects of the [start handler](Self::start_handler)
    /// there. While it waits in the pool it runs other jobs, like any worker: a thread that must be
    /// back soon should not be a guest.
    ///
    /// ```
    /// use std::thread::{self, ThreadId};
    ///
    /// let pool = drowse::ThreadPoolBuilder::new().num_threads(2).guests(true).build().unwrap();
    /// let who_and_where = || (thread::current().id(), drowse::current_thread_index().unwrap());
    /// // As soon as a worker sleeps, this thread takes its seat.
    /// let mut last: (Option<ThreadId>, usize) = (None, 0);
    /// while pool.metrics().total().sleep.guests == 0 {
    ///     let (thread, index) = pool.install(who_and_where);
    ///     last = (Some(thread), index);
    /// }
    /// assert_eq!(last.0, Some(thread::current().id()));
    /// assert!(last.1 < 2);
    /// ```
    pub fn guests(mut self, guests: bool) -> Self {
        self.chosen.guests = Some(guests);
        self
    }
}
