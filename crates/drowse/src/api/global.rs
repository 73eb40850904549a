//! The global pool, for code that runs in no pool.

use super::ThreadPoolBuilder;
use super::error::{BuildErrorKind, ThreadPoolBuildError};
use super::shutdown::wait_for_end;
use crate::engine::{Registry, WorkerThread};
use crate::job::{Call, call_once};
use drowse_sync::{Arc, InUse, Mutex, MutexGuard, PerProcess, Replaceable, say};
use std::cell::Cell;
use std::ops::Deref;
use std::ptr::NonNull;
use std::thread;
use std::time::Duration;

/// Global pool, or `None` if its threads could not be started.
type Global = Option<Arc<Registry>>;

/// Returns the global pool's slot, which is empty until the pool is needed. A forked child begins
/// with an empty slot of its own.
fn global() -> &'static Replaceable<Global> {
    static GLOBAL: PerProcess<Replaceable<Global>> = PerProcess::new();
    GLOBAL.get(Replaceable::new)
}

drowse_sync::thread_local! {
    /// Number of uses of the global pool that this thread is in the middle of.
    static USING: Cell<usize> = const { Cell::new(0) };
}

drowse_sync::thread_local! {
    /// `true` while this thread builds the global pool.
    static BUILDING: Cell<bool> = const { Cell::new(false) };
}

/// Runs `op` on a worker: on the calling thread if it is one, else in the global pool.
pub(super) fn in_worker<OP, R>(op: OP) -> R
where
    OP: FnOnce(&WorkerThread) -> R + Send,
    R: Send,
{
    call_once(op, |call| enter(call.function(), call))
}

/// Runs `call` on a worker: on the calling thread if it is one, else in the global pool. `site`
/// identifies the place in the program that the call comes from.
pub(super) fn enter(site: usize, mut call: Call<'_>) {
    WorkerThread::with_current(|worker| match worker {
        Some(worker) => call.run(worker, false),
        None => global_registry().enter(site, call),
    });
}

/// Pool of the calling thread. A global pool does not end while this value lives.
pub(super) enum Current {
    /// Pool of the worker that the calling thread is, borrowed from a frame further up.
    Own(NonNull<Arc<Registry>>),
    Global {
        global: InUse<'static, Global>,
        _using: Using,
    },
    /// Pool of the calling thread alone, used if there is no global pool.
    Substitute {
        own: Arc<Registry>,
        _using: Using,
    },
}

impl Deref for Current {
    type Target = Arc<Registry>;

    #[inline]
    fn deref(&self) -> &Arc<Registry> {
        match self {
            // SAFETY: this value stays in the frame that called `current_registry`, on a thread
            // that remains this worker until that frame returns: see `WorkerThread::with_current`.
            Self::Own(registry) => unsafe { registry.as_ref() },
            _ => self.of_thread_outside(),
        }
    }
}

impl Current {
    #[cold]
    #[inline(never)]
    fn of_thread_outside(&self) -> &Arc<Registry> {
        match self {
            Self::Global { global, .. } => global.as_ref().expect("there was one"),
            Self::Substitute { own, .. } => own,
            Self::Own(_) => unreachable!("it is not the global one"),
        }
    }
}

/// Returns the pool that this thread works for, else the global pool.
#[inline]
pub(super) fn current_registry() -> Current {
    let own = |worker: &WorkerThread| NonNull::from(worker.registry());
    match WorkerThread::with_current(|worker| worker.map(own)) {
        Some(registry) => Current::Own(registry),
        None => global_registry(),
    }
}

/// Returns the global pool. Starts it if it does not run yet.
///
/// If the system starts no threads, there is no global pool. Each thread that asks for it then
/// becomes the only worker of a pool of its own, and runs its work itself.
///
/// # Panics
///
/// If this thread is in the middle of building the global pool.
#[cold]
#[inline(never)]
fn global_registry() -> Current {
    let using = Using::begin();
    loop {
        // The caller holds this guard for as long as it uses the pool, which does not end before.
        let Some(global) = global().get() else {
            start_global_registry();
            continue;
        };
        return match *global {
            Some(_) => Current::Global { global, _using: using },
            None => Current::Substitute { own: own_registry(), _using: using },
        };
    }
}

/// Guard of a thread that uses the global pool.
pub(super) struct Using;

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
        return; // Another thread was faster.
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
/// Earlier work is finished first: spawned jobs, and calls that other threads wait for. A later use
/// of the global pool starts a new one; so a program that wants no threads at its end calls this
/// last. Afterwards, [`build_global`](crate::ThreadPoolBuilder::build_global) works again.
///
/// For what happens to the threads, see [`ThreadPool::shutdown`](crate::ThreadPool::shutdown).
///
/// # Panics
///
/// On a thread of the global pool (in a job, in a handler, in the drop of a thread-local), and
/// inside an [`in_place_scope`](crate::in_place_scope) of the global pool: the call would wait for
/// itself.
///
/// # Example
///
/// ```
/// assert_eq!(drowse::join(|| 1, || 2), (1, 2));
/// drowse::shutdown_global();
/// // No thread is left. The next use starts new ones.
/// assert_eq!(drowse::join(|| 3, || 4), (3, 4));
/// ```
pub fn shutdown_global() {
    /// Held during the shutdown. A second caller waits for the first.
    static ONE_AT_A_TIME: PerProcess<Mutex<()>> = PerProcess::new();
    /// Pool that the holder of `ONE_AT_A_TIME` waits for.
    static ENDING: PerProcess<Mutex<Global>> = PerProcess::new();
    let ending = ENDING.get(|| Mutex::new(None));
    assert!(
        USING.with(Cell::get) == 0,
        "the global thread pool is shut down inside of a scope of its own, which would wait for itself"
    );
    if let Some(Some(global)) = global().get().as_deref() {
        global.assert_may_end();
    }
    // After `take` below, the pool is global no more, but its threads may still call this function
    // and must panic too. `ENDING` was set before `take`, so they find the pool there.
    let ends_already = ending.lock().clone();
    ends_already.into_iter().for_each(|global| global.assert_may_end());
    let _alone = ONE_AT_A_TIME.get(|| Mutex::new(())).lock();
    // Only the holder of `_alone` removes a global pool, so `take` below removes this one.
    let Some(current) = global().get().as_deref().cloned() else { return };
    *ending.lock() = current;
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
    let ended = ending.lock().take();
    drop(ended); // After the lock is released: this may drop the user's handlers.
}

/// Makes the calling thread, which is not a worker, the only worker of a new pool, for the rest of
/// the thread's life.
fn own_registry() -> Arc<Registry> {
    let builder = ThreadPoolBuilder::new().num_threads(1).use_current_thread();
    builder.build_registry().unwrap_or_else(|error| {
        panic!("there is no global pool, and the calling thread cannot do its work: {error}")
    })
}

/// Makes the pool that `build` returns the global one. Fails if there is one already, or with the
/// error of `build`; after that, a later call may succeed.
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

/// Guard: while it lives, no other thread builds the global pool.
struct Building {
    _lock: MutexGuard<'static, ()>,
}

impl Building {
    /// Waits for another thread that builds the global pool.
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
