//! The global pool: for code that runs in no pool.

use super::ThreadPoolBuilder;
use super::error::{BuildErrorKind, ThreadPoolBuildError};
use super::shutdown::wait_for_end;
use crate::engine::{Registry, WorkerThread};
use drowse_sync::{Arc, Mutex, MutexGuard, PerProcess, Replaceable, say};
use std::cell::Cell;
use std::thread;
use std::time::Duration;

/// The global pool, or `None` if its threads could not be started.
type Global = Option<Arc<Registry>>;

/// Nothing as long as it was not needed. A forked child begins without.
fn global() -> &'static Replaceable<Global> {
    static GLOBAL: PerProcess<Replaceable<Global>> = PerProcess::new();
    GLOBAL.get(Replaceable::new)
}

drowse_sync::thread_local! {
    /// How often this thread is in the middle of using the global pool.
    static USING: Cell<usize> = const { Cell::new(0) };
}

drowse_sync::thread_local! {
    /// Whether this thread is building the global pool.
    static BUILDING: Cell<bool> = const { Cell::new(false) };
}

/// Runs `op` on a worker: here if this thread is one, else in the global pool. The flag tells
/// whether it moved to another thread.
#[inline]
pub(super) fn in_worker<OP, R>(op: OP) -> R
where
    OP: FnOnce(&WorkerThread, bool) -> R + Send,
    R: Send,
{
    WorkerThread::with_current(|worker| match worker {
        Some(worker) => op(worker, false),
        None => with_global_registry(|global| global.in_worker(op)),
    })
}

/// Calls `f` with the pool that this thread works for, else with the global one.
pub(super) fn with_current_registry<R>(f: impl FnOnce(&Arc<Registry>) -> R) -> R {
    WorkerThread::with_current(|worker| match worker {
        Some(worker) => f(worker.registry()),
        None => with_global_registry(f),
    })
}

/// Calls `f` with the global pool; starts it if it does not run yet.
///
/// If the system lets us start no threads, there is no global pool: each thread that asks for it
/// becomes the only worker of a pool of its own, and runs its work itself.
///
/// # Panics
///
/// If this thread is building it.
#[cold]
fn with_global_registry<R>(f: impl FnOnce(&Arc<Registry>) -> R) -> R {
    let _using = Using::begin();
    loop {
        // In use until we are done with it: until then it does not end.
        if let Some(global) = global().get() {
            return match &*global {
                Some(global) => f(global),
                None => f(&own_registry()),
            };
        }
        start_global_registry();
    }
}

/// This thread uses the global pool while it lives.
struct Using;

impl Using {
    fn begin() -> Self {
        USING.with(|using| using.set(using.get() + 1));
        Self
    }
}

impl Drop for Using {
    fn drop(&mut self) {
        USING.with(|using| using.set(using.get() - 1));
    }
}

fn start_global_registry() {
    let _building = Building::begin().unwrap_or_else(|error| panic!("{error}"));
    if global().get().is_some() {
        return; // Somebody was quicker.
    }
    let started = ThreadPoolBuilder::build_default();
    if let Err(error) = &started {
        say(format_args!(
            "drowse: the global pool could not be started, work runs on the calling thread: {error}"
        ));
    }
    put_in_place(started.ok());
}

fn put_in_place(started: Global) {
    assert!(global().set(started).is_ok(), "one thread at a time builds the global pool");
}

/// Ends the global pool, if there is one, and waits until its threads are gone.
///
/// What was given to it before is done first: what was spawned, and what other threads wait for.
/// Whoever uses the global pool later starts it anew, so a program that wants to have no threads at
/// its end calls this last. [`build_global`](crate::ThreadPoolBuilder::build_global) is possible
/// again, too.
///
/// The same holds for its threads as for those of
/// [`ThreadPool::shutdown`](crate::ThreadPool::shutdown).
///
/// # Panics
///
/// In a job of the global pool, and inside of an [`in_place_scope`](crate::in_place_scope) of it:
/// it would wait for itself.
///
/// # Example
///
/// ```
/// assert_eq!(drowse::join(|| 1, || 2), (1, 2));
/// drowse::shutdown_global();
/// // No thread is left. The next one comes when it is needed.
/// assert_eq!(drowse::join(|| 3, || 4), (3, 4));
/// ```
pub fn shutdown_global() {
    /// Whoever comes second waits for the same end.
    static ONE_AT_A_TIME: PerProcess<Mutex<()>> = PerProcess::new();
    assert!(
        USING.with(Cell::get) == 0,
        "the global thread pool is shut down inside of a scope of its own, which would wait for itself"
    );
    if let Some(Some(global)) = global().get().as_deref() {
        global.assert_may_end();
    }
    let _alone = ONE_AT_A_TIME.get(|| Mutex::new(())).lock();
    let pause = || {
        #[allow(
            clippy::disallowed_methods,
            reason = "others do not say when they are done with the global pool"
        )]
        thread::sleep(Duration::from_micros(100));
    };
    if let Some(Some(registry)) = global().take(pause) {
        registry.recruiter.keep_to_join();
        registry.release();
        let ended = wait_for_end(&registry, None);
        debug_assert!(ended.is_ok(), "there was no limit");
    }
}

/// Makes the calling thread, which is not a worker, the only worker of a pool, for the rest of its
/// life.
fn own_registry() -> Arc<Registry> {
    let builder = ThreadPoolBuilder::new().num_threads(1).use_current_thread();
    builder.build_registry().unwrap_or_else(|error| {
        panic!("there is no global pool, and the calling thread cannot do its work: {error}")
    })
}

/// Makes the global pool what `build` builds, unless there is one already. If it cannot be built
/// there is none, and the next one may try.
pub(super) fn set_global_registry(
    build: impl FnOnce() -> Result<Arc<Registry>, ThreadPoolBuildError>,
) -> Result<(), ThreadPoolBuildError> {
    let _building = Building::begin()?;
    if global().get().is_some() {
        return Err(ThreadPoolBuildError::new(BuildErrorKind::GlobalPoolAlreadyInitialized));
    }
    put_in_place(Some(build()?));
    Ok(())
}

/// While it lives, this thread builds the global pool, and nobody else does.
struct Building {
    _lock: MutexGuard<'static, ()>,
}

impl Building {
    /// Waits for whoever else builds it.
    fn begin() -> Result<Self, ThreadPoolBuildError> {
        static ONE_AT_A_TIME: PerProcess<Mutex<()>> = PerProcess::new();
        if BUILDING.with(Cell::get) {
            return Err(ThreadPoolBuildError::new(BuildErrorKind::GlobalPoolBeingBuilt));
        }
        let lock = ONE_AT_A_TIME.get(|| Mutex::new(())).lock();
        BUILDING.with(|building| building.set(true));
        Ok(Self { _lock: lock })
    }
}

impl Drop for Building {
    fn drop(&mut self) {
        BUILDING.with(|building| building.set(false));
    }
}
