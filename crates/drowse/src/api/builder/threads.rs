//! Builder methods for the number of threads, and for when they start and leave.

use super::ThreadPoolBuilder;
use crate::api::env::{IDLE_TIMEOUT, START};
use std::time::Duration;

/// Time at which the threads of a pool are started.
///
/// ```
/// use drowse::Start;
///
/// let builder = drowse::ThreadPoolBuilder::new().num_threads(64).start(Start::OnDemand);
/// assert_eq!(builder.build().unwrap().install(|| 6 * 7), 42);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Start {
    /// All threads start when the pool is built.
    #[default]
    Eager,
    /// One thread starts when the pool is built, each other one when there is work and no sleeping
    /// worker could do it.
    OnDemand,
}

/// Start and idle time-out of a pool's threads. `None`: the environment's choice.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Coming {
    pub(super) start: Option<Start>,
    pub(super) idle_timeout: Option<Duration>,
}

impl Coming {
    /// Returns `true` if a choice needs threads that drowse itself starts, without a spawn handler.
    pub(super) fn is_special(self) -> bool {
        self.start == Some(Start::OnDemand) || self.idle_timeout.is_some()
    }

    pub(super) fn is_eager(self) -> bool {
        self.start.or_else(|| START.get()).unwrap_or_default() == Start::Eager
    }

    pub(super) fn idle_timeout(self) -> Option<Duration> {
        self.idle_timeout.or_else(|| IDLE_TIMEOUT.get().flatten())
    }
}

impl<S> ThreadPoolBuilder<S> {
    /// Sets whether the pool may have fewer threads than asked for, if the system refuses to start
    /// more.
    ///
    /// It has at least one. The default is `false`: then [`build`](Self::build) returns an error.
    ///
    /// [`current_num_threads`](crate::ThreadPool::current_num_threads) returns the number of
    /// threads. Those that could be started end and are started anew, for a smaller pool: so their
    /// start and exit handlers may be called twice, and a [spawn handler](Self::spawn_handler) is
    /// called for the same indices again. The global pool, unless it was built by
    /// [`build_global`](Self::build_global), always goes on with fewer threads, and prints that to
    /// standard error.
    ///
    /// ```
    /// let mut left = 3; // the system refuses more
    /// let pool = drowse::ThreadPoolBuilder::new()
    ///     .num_threads(8)
    ///     .allow_fewer_threads(true)
    ///     .spawn_handler(|worker| {
    ///         left = if worker.index() == 0 { 3 } else { left };
    ///         if left == 0 {
    ///             return Err(std::io::ErrorKind::WouldBlock.into());
    ///         }
    ///         left -= 1;
    ///         std::thread::Builder::new().spawn(|| worker.run()).map(drop)
    ///     })
    ///     .build()
    ///     .unwrap();
    /// assert_eq!(pool.current_num_threads(), 3);
    /// ```
    pub fn allow_fewer_threads(mut self, allow: bool) -> Self {
        self.chosen.allow_fewer_threads = allow;
        self
    }

    /// Sets when the threads of the pool are started.
    ///
    /// The default is the value of the environment variable `DROWSE_START` (`eager` or
    /// `on-demand`), else [`Start::Eager`].
    ///
    /// On demand, a wide pool costs what it is used for: a program that does one `join` starts two
    /// or three threads. The first worker, or the first two with
    /// [`use_current_thread`](Self::use_current_thread), get their threads at once; all others
    /// count as asleep until they are needed. Starting a thread takes longer than waking one, some
    /// tens of microseconds. Each thread calls the [`start_handler`](Self::start_handler) as it
    /// starts. If the system refuses a thread then, the pool goes on with those that it has, prints
    /// that once to standard error, and tries again later; but a `broadcast` needs all threads, and
    /// waits.
    ///
    /// Cannot be combined with a [`spawn_handler`](Self::spawn_handler), which may be gone when a
    /// thread is needed: [`build`](Self::build) returns an error then.
    ///
    /// ```
    /// use drowse::Start;
    ///
    /// let builder = drowse::ThreadPoolBuilder::new().num_threads(16).start(Start::OnDemand);
    /// let pool = builder.build().unwrap();
    /// assert_eq!(pool.current_num_threads(), 16); // also while some are not started yet
    /// assert_eq!(pool.join(|| 1, || 2), (1, 2));
    /// ```
    pub fn start(mut self, start: Start) -> Self {
        self.chosen.coming.start = Some(start);
        self
    }

    /// Lets a thread end that has had nothing to do for this long. A new one starts when it is
    /// needed.
    ///
    /// The default is the value of the environment variable `DROWSE_IDLE_TIMEOUT` (`500ms`, `5s`, a
    /// number of milliseconds), else never.
    ///
    /// A thread that sleeps costs no time, but its stack and the memory of its thread-locals.
    /// Before it ends, it calls the [exit handler](Self::exit_handler); the thread that replaces it
    /// calls the [start handler](Self::start_handler). The first worker stays, as with
    /// [`start`](Self::start). What is said there about threads that cannot be started, and about
    /// spawn handlers, holds here too.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let builder = drowse::ThreadPoolBuilder::new().num_threads(4);
    /// let pool = builder.idle_timeout(Duration::from_secs(10)).build().unwrap();
    /// assert_eq!(pool.join(|| 1, || 2), (1, 2));
    /// ```
    pub fn idle_timeout(mut self, idle_timeout: Duration) -> Self {
        self.chosen.coming.idle_timeout = Some(idle_timeout);
        self
    }
}
