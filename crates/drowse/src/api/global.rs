//! The global pool: for code that runs in no pool.

use super::ThreadPoolBuilder;
use super::error::{BuildErrorKind, ThreadPoolBuildError};
use crate::engine::{Registry, WorkerThread};
use drowse_sync::{Arc, Mutex, MutexGuard, OnceLock, say};
use std::cell::Cell;

/// The global pool, or `None` if its threads could not be started.
static GLOBAL: OnceLock<Option<Arc<Registry>>> = OnceLock::new();

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
    match GLOBAL.get().unwrap_or_else(start_global_registry) {
        Some(global) => f(global),
        None => f(&own_registry()),
    }
}

fn start_global_registry() -> &'static Option<Arc<Registry>> {
    let _building = Building::begin().unwrap_or_else(|error| panic!("{error}"));
    GLOBAL.get_or_init(|| {
        let started = ThreadPoolBuilder::build_default();
        if let Err(error) = &started {
            say(format_args!(
                "drowse: the global pool could not be started, work runs on the calling thread: {error}"
            ));
        }
        started.ok()
    })
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
    if GLOBAL.get().is_some() {
        return Err(ThreadPoolBuildError::new(BuildErrorKind::GlobalPoolAlreadyInitialized));
    }
    let registry = build()?;
    GLOBAL.get_or_init(|| Some(registry));
    Ok(())
}

/// While it lives, this thread builds the global pool, and nobody else does.
struct Building {
    _lock: MutexGuard<'static, ()>,
}

impl Building {
    /// Waits for whoever else builds it.
    fn begin() -> Result<Self, ThreadPoolBuildError> {
        static ONE_AT_A_TIME: OnceLock<Mutex<()>> = OnceLock::new();
        if BUILDING.with(Cell::get) {
            return Err(ThreadPoolBuildError::new(BuildErrorKind::GlobalPoolBeingBuilt));
        }
        let lock = ONE_AT_A_TIME.get_or_init(|| Mutex::new(())).lock();
        BUILDING.with(|building| building.set(true));
        Ok(Self { _lock: lock })
    }
}

impl Drop for Building {
    fn drop(&mut self) {
        BUILDING.with(|building| building.set(false));
    }
}
