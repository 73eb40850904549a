//! drowse is a work-stealing fork-join runtime whose idle workers cost nothing and wake at once.
//!
//! Say what *may* run in parallel, with [`join`] or [`scope()`]. drowse decides what does, on a
//! pool of threads that steal work from each other.
//!
//! ```
//! fn sum(numbers: &[u64]) -> u64 {
//!     if numbers.len() < 1_000 {
//!         return numbers.iter().sum();
//!     }
//!     let (left, right) = numbers.split_at(numbers.len() / 2);
//!     let (left, right) = drowse::join(|| sum(left), || sum(right));
//!     left + right
//! }
//!
//! let numbers: Vec<u64> = (1..=100_000).collect();
//! assert_eq!(sum(&numbers), 5_000_050_000);
//! ```
//!
//! # Overview
//!
//! | to | use |
//! |---|---|
//! | run two closures, possibly in parallel, and wait for both | [`join`], [`join_context`] |
//! | run any number of closures that borrow, and wait for all | [`scope()`], [`in_place_scope`] |
//! | run a closure later, or many | [`spawn`], [`spawn_all()`] |
//! | run a closure later, and wait for it or await it | [`spawn_handle`], [`JoinHandle`] |
//! | run a future on the pool, or wait for one | [`spawn_future`], [`block_on`] |
//! | pass a tracing span, or other context, to jobs | [`ThreadPoolBuilder::context`] |
//! | limit how many spawned jobs are waiting or running | [`try_spawn()`], [`Scope::try_spawn`] |
//! | cancel jobs that have not begun | [`Scope::cancel`], [`CancelToken`] |
//! | begin closures in the order in which they were spawned | [`scope_fifo`], [`spawn_fifo`] |
//! | run a closure on each worker | [`broadcast`], [`spawn_broadcast`] |
//! | block, in the middle of a job | [`blocking`] |
//! | hold a lock across any of these | [`isolate`], [`ThreadPoolBuilder::waiting`] |
//! | run other jobs while waiting for an event of your own | [`yield_now`], [`yield_local`] |
//! | create a pool | [`ThreadPoolBuilder`], [`ThreadPool`] |
//! | end a pool, and wait for its threads | [`ThreadPool::shutdown`] |
//! | start and end threads on demand | [`Start::OnDemand`], [`ThreadPoolBuilder::idle_timeout`] |
//! | choose how idle workers sleep | [`ThreadPoolBuilder::sleep_protocol`] |
//! | see what the workers did | [`ThreadPool::metrics`], [`Trace`] |
//! | keep a woken worker off its waker's processor | [`ThreadPoolBuilder::steering`] |
//! | detect that no worker can go on | [`ThreadPoolBuilder::deadlock_handler`], [`mark_blocked`] |
//! | detect a worker that stays in one job for too long | [`ThreadPoolBuilder::stall_watch`] |
//! | ask which worker runs the calling code | [`current_thread_index`], [`current_num_threads`] |
//! | ask whether other workers are short of work | [`current_thread_has_pending_tasks`] |
//!
//! The names, signatures and meanings are those of rayon-core, so code written for it runs on
//! drowse.
//!
//! # The global pool
//!
//! Code that runs in no pool uses the global pool, which starts when it is first needed. The
//! environment variable `DROWSE_NUM_THREADS` sets its number of threads. The default is as many as
//! the process may run at once (CPU affinity and cgroup quotas count).
//! [`ThreadPoolBuilder::build_global`] configures the global pool, and [`shutdown_global`] ends it.
//!
//! If the system starts no thread at all, there is no global pool: each thread that would use it
//! runs its work itself, and a line on standard error says so.
//!
//! # The environment
//!
#![doc = include_str!("environment.md")]
//!
//! Values are case-insensitive. `on`, `true`, `yes` and `1` are synonyms, and so are `off`,
//! `false`, `no` and `0`. A value that a variable does not accept is reported on standard error,
//! together with the value that is used instead. An empty variable counts as not set. The value of
//! each variable is read once, when it is first needed, and kept. Only whether `DROWSE_LOG` is set
//! is looked up each time a pool starts.
//!
//! # Features
//!
//! - `diagnose`, on by default: reports of [deadlocks](ThreadPoolBuilder::deadlock_handler) and
//!   [stalls](ThreadPoolBuilder::stall_watch), and [traces](Trace), some 55 KB of machine code.
//! - `futures`: a [`ThreadPool`] is a spawner for crates of the futures family.
//! - `rayon-env` and `rayon-names` are for the drop-in for rayon-core.
//!
//! Without `diagnose` these do not exist: the builder's `deadlock_handler`, `deadlock_after`,
//! `report_deadlocks`, `stall_watch`, `stall_handler` and `trace`, and the types of reports and
//! traces. [`mark_blocked`] does nothing then, and a line on the standard error says that
//! `DROWSE_STALL` and `DROWSE_DEADLOCK` have no effect. The drop-in for rayon-core has it off.
//!
//! # Panics
//!
//! A panic in a job reaches the caller that waits for the job: `join`, `scope`, `install` and
//! `broadcast` panic with the same payload once everything they started has ended. No caller waits
//! for a [`spawn`]ed job: its panic goes to the pool's
//! [panic handler](ThreadPoolBuilder::panic_handler), or aborts the process if there is none. A job
//! that was spawned with a [handle](JoinHandle) keeps its panic in the handle.

mod api;
mod compile_fail;
#[allow(unreachable_pub)] // public to the models only
mod deque;
mod diagnose;
mod engine;
mod job;
mod latch;
mod metrics;
mod setting;
mod task;
mod unwind;

pub use api::{
    Blocked, BroadcastContext, BusyThread, CancelOnDrop, CancelToken, FnContext, JoinError,
    JoinHandle, Scope, ScopeFifo, Start, StillBusy, Task, ThreadBuilder, ThreadPool,
    ThreadPoolBuildError, ThreadPoolBuilder, TrySpawnError, Waiting, Yield, block_on, blocking,
    broadcast, current_num_threads, current_thread_has_pending_tasks, current_thread_index,
    in_place_scope, in_place_scope_fifo, isolate, join, join_context, mark_blocked,
    mark_blocked_on, mark_unblocked, max_num_threads, metrics, scope, scope_fifo, shutdown_global,
    spawn, spawn_all, spawn_broadcast, spawn_fifo, spawn_future, spawn_handle, spawn_handle_fifo,
    try_spawn, yield_local, yield_now,
};

/// Version of drowse that this program runs on.
///
/// With the environment variable `DROWSE_LOG=1`, each pool prints it to standard error as it
/// starts.
///
/// ```
/// assert!(drowse::VERSION.split('.').count() >= 3);
/// ```
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Types that the rayon-core shim needs to name.
#[doc(hidden)]
pub mod spawner {
    pub use crate::api::{CustomSpawn, DefaultSpawn, ThreadSpawn};
}

pub use diagnose::WaitFor;
#[cfg(feature = "diagnose")]
pub use diagnose::{
    BlockedWorker, Deadlock, JobFrom, JobReport, Stall, StalledWorker, Trace, TraceEvent,
    TraceRecord, WaitingThread, WorkerReport, WorkerState,
};
pub use drowse_sleep::{
    Counters, Idleness, Pause, Policy as SleepPolicy, Reason, SleepMetrics, SleepProtocol,
    Steering, WakeSize,
};
pub use metrics::{LoanMetrics, Metrics, WorkerMetrics};

#[cfg(any(drowse_loom, drowse_shuttle))]
#[doc(hidden)]
pub mod model;
