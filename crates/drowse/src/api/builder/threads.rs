//! How many threads a pool has, and when.

use super::ThreadPoolBuilder;
use crate::api::env::{IDLE_TIMEOUT, START};
use std::time::Duration;

/// When the threads of a pool are started.
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
    /// All of them, when the pool is built.
    #[default]
    Eager,
    /// One when the pool is built, each of the others when it is first needed: when there is work,
    /// and nobody who sleeps and could do it.
    OnDemand,
}

/// When threads come, and when they go. `None`: what the environment says.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Coming {
    pub(super) start: Option<Start>,
    pub(super) idle_timeout: Option<Duration>,
}

impl Coming {
    /// Whether something was chosen that only threads of our own can do.
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
    /// Sets whether the pool may have fewer threads than it was to have, if the system does not let
    /// it start more: at least one. The default is no, and [`build`](Self::build) returns an error
    /// then.
    ///
    /// How many there are is what
    /// [`current_num_threads`](crate::ThreadPool::current_num_threads) says. The threads that could
    /// be started are started anew, as those of a smaller pool: so their start and exit handlers
    /// may be called twice, and a [spawn handler](Self::spawn_handler) is called for the same
    /// indices again. The global pool, unless it was built by
    /// [`build_global`](Self::build_global), always goes on with fewer threads, and says so on the
    /// standard error.
    ///
    /// ```
    /// let mut left = 3; // more are not to be had
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

    /// Sets when threads are started. The default is what the environment variable `DROWSE_START`
    /// says, `eager` or `on-demand`, else [`Start::Eager`].
    ///
    /// On demand, a wide pool costs what it is used for: a program that does one `join` starts two
    /// or three threads. The first worker, or the first two with
    /// [`use_current_thread`](Self::use_current_thread), get theirs at once; all others count as
    /// asleep until they are needed. To start one takes longer than to wake one, some tens of
    /// microseconds. [`start_handler`](Self::start_handler) is called by each as it starts. If the
    /// system refuses a thread then, the pool goes on with those that it has, says so once on the
    /// standard error, and tries again later; but a `broadcast` needs all of them, and waits.
    ///
    /// Not together with [`spawn_handler`](Self::spawn_handler): it may be gone when a thread is
    /// needed. [`build`](Self::build) returns an error then.
    ///
    /// ```
    /// use drowse::Start;
    ///
    /// let builder = drowse::ThreadPoolBuilder::new().num_threads(16).start(Start::OnDemand);
    /// let pool = builder.build().unwrap();
    /// assert_eq!(pool.current_num_threads(), 16); // whether or not they are there yet
    /// assert_eq!(pool.join(|| 1, || 2), (1, 2));
    /// ```
    pub fn start(mut self, start: Start) -> Self {
        self.chosen.coming.start = Some(start);
        self
    }

    /// Lets a thread leave that has had nothing to do for this long. It comes back when it is
    /// needed. The default is what the environment variable `DROWSE_IDLE_TIMEOUT` says (`500ms`,
    /// `5s`, a number of milliseconds), else never.
    ///
    /// A thread that sleeps costs no time, but its stack and what is in its thread-locals. Before
    /// it leaves, it calls the [exit handler](Self::exit_handler); the one that comes in its place
    /// calls the [start handler](Self::start_handler). The first worker stays, as for
    /// [`start`](Self::start); and what is said there of threads that cannot be started, and of
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
