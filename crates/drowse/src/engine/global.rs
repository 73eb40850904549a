//! The pool for those who chose none.

use super::registry::Registry;
use super::worker::WorkerThread;
use crate::api::{BuildErrorKind, ThreadPoolBuildError, ThreadPoolBuilder};
use drowse_sync::{Arc, Mutex, MutexGuard, OnceLock, say};
use std::cell::Cell;

/// The global pool, or `None` if its threads could not be started.
static GLOBAL: OnceLock<Option<Arc<Registry>>> = OnceLock::new();

drowse_sync::thread_local! {
    /// Whether this thread is building the global pool.
    static BUILDING: Cell<bool> = const { Cell::new(false) };
}

/// The global pool; starts it if it does not run yet.
///
/// If the system lets us start no threads, there is no global pool: each thread that asks for it becomes
/// the only worker of a pool of its own, and runs its work itself.
///
/// # Panics
///
/// If this thread is building it.
#[cold]
pub(crate) fn global_registry() -> &'static Arc<Registry> {
    let start = || {
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
    };
    GLOBAL.get().unwrap_or_else(start).as_ref().unwrap_or_else(|| own_registry())
}

/// This thread builds the global pool, and nobody else does meanwhile.
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

/// A pool of which the calling thread, which is not a worker, becomes the only one, for the rest of its life.
fn own_registry() -> &'static Arc<Registry> {
    let builder = ThreadPoolBuilder::new().num_threads(1).use_current_thread();
    if let Err(error) = builder.build_registry() {
        panic!("there is no global pool, and the calling thread cannot do its work: {error}");
    }
    // SAFETY: the thread has just been made a worker, which is leaked.
    let worker: &'static WorkerThread = unsafe { &*WorkerThread::current() };
    worker.registry()
}

/// Makes the global pool what `build` builds, unless there is one already. If it cannot be built there is none, and the
/// next one may try.
pub(crate) fn set_global_registry(
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
