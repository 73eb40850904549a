//! The pool for those who chose none.

use super::registry::Registry;
use super::worker::WorkerThread;
use crate::api::{BuildErrorKind, ThreadPoolBuildError, ThreadPoolBuilder};
use drowse_sync::{Arc, Mutex, MutexGuard, OnceLock};

/// The global pool, or `None` if its threads could not be started.
static GLOBAL: OnceLock<Option<Arc<Registry>>> = OnceLock::new();

/// The global pool; starts it if it does not run yet.
///
/// If the system lets us start no threads, there is no global pool: each thread that asks for it becomes
/// the only worker of a pool of its own, and runs its work itself.
#[cold]
pub(crate) fn global_registry() -> &'static Arc<Registry> {
    let start = || {
        let _building = one_at_a_time();
        GLOBAL.get_or_init(|| match ThreadPoolBuilder::new().build_registry() {
            Ok(registry) => Some(registry),
            Err(error) => {
                eprintln!(
                    "drowse: the global pool could not be started, work runs on the calling thread: {error}"
                );
                None
            }
        })
    };
    GLOBAL.get().unwrap_or_else(start).as_ref().unwrap_or_else(|| own_registry())
}

/// Whoever builds the global pool holds this.
fn one_at_a_time() -> MutexGuard<'static, ()> {
    static BUILDING: OnceLock<Mutex<()>> = OnceLock::new();
    BUILDING.get_or_init(|| Mutex::new(())).lock()
}

/// A pool of which the calling thread, which is no worker, becomes the only one, for the rest of its life.
fn own_registry() -> &'static Arc<Registry> {
    let builder = ThreadPoolBuilder::new().num_threads(1).use_current_thread();
    builder.build_registry().expect("a pool of the calling thread alone starts no thread");
    // SAFETY: the thread has just been made a worker, which is leaked.
    let worker: &'static WorkerThread = unsafe { &*WorkerThread::current() };
    worker.registry()
}

/// Makes the global pool what `build` builds, unless there is one already. If it cannot be built there is none, and the
/// next one may try.
pub(crate) fn set_global_registry(
    build: impl FnOnce() -> Result<Arc<Registry>, ThreadPoolBuildError>,
) -> Result<&'static Arc<Registry>, ThreadPoolBuildError> {
    let already = || ThreadPoolBuildError::new(BuildErrorKind::GlobalPoolAlreadyInitialized);
    let _building = one_at_a_time();
    if GLOBAL.get().is_some() {
        return Err(already());
    }
    let registry = build()?;
    GLOBAL.get_or_init(|| Some(registry)).as_ref().ok_or_else(already)
}
