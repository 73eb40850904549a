//! The global pool: for code that runs in no pool.

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

/// Runs `op` on a worker: here if this thread is one, else in the global pool.
pub(super) fn in_worker<OP, R>(op: OP) -> R
where
    OP: FnOnce(&WorkerThread) -> R + Send,
    R: Send,
{
    call_once(op, |call| enter(call.function(), call))
}

/// Runs `call` on a worker: here if this thread is one, else in the global pool. `site` stands for
/// the place in the program that it comes from.
pub(super) fn enter(site: usize, mut call: Call<'_>) {
    WorkerThread::with_current(|worker| match worker {
        Some(worker) => call.run(worker, false),
        None => global_registry().enter(site, call),
    });
}

/// The pool that a thread works for, or the global one, which does not end while this is there.
pub(super) enum Current {
    /// That of the worker that the thread is, in the middle of the code that has asked for it.
    Own(NonNull<Arc<Registry>>),
    Global {
        global: InUse<'static, Global>,
        _using: Using,
    },
    /// There is no global pool.
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
            // SAFETY: this stays in the frame that has called `current_registry`, on a thread that
            // is this worker until that frame returns: see `WorkerThread::with_current`.
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

/// The pool that this thread works for, else the global one.
#[inline]
pub(super) fn current_registry() -> Current {
    let own = |worker: &WorkerThread| NonNull::from(worker.registry());
    match WorkerThread::with_current(|worker| worker.map(own)) {
        Some(registry) => Current::Own(registry),
        None => global_registry(),
    }
}

/// The global pool; starts it if it does not run yet.
///
/// If the system lets us start no threads, there is no global pool: each thread that asks for it
/// becomes the only worker of a pool of its own, and runs its work itself.
///
/// # Panics
///
/// If this thread is building it.
#[cold]
#[inline(never)]
fn global_registry() -> Current {
    let using = Using::begin();
    loop {
        // In use until the caller is done with it: until then it does not end.
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

/// This thread uses the global pool while it lives.
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
/// On a thread of the global pool: in a job, a handler, or the drop of a thread-local. And inside
/// of an [`in_place_scope`](crate::in_place_scope) of it. It would wait for itself.
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
    /// The pool whose end a thread waits for, with the lock above.
    static ENDING: PerProcess<Mutex<Global>> = PerProcess::new();
    let ending = ENDING.get(|| Mutex::new(None));
    assert!(
        USING.with(Cell::get) == 0,
        "the global thread pool is shut down inside of a scope of its own, which would wait for itself"
    );
    if let Some(Some(global)) = global().get().as_deref() {
        global.assert_may_end();
    }
    // Its threads may come here when it is global no more. It was put there before that.
    let ends_already = ending.lock().clone();
    ends_already.into_iter().for_each(|global| global.assert_may_end());
    let _alone = ONE_AT_A_TIME.get(|| Mutex::new(())).lock();
    // Only we take it away, so it is this one that we take below.
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
    drop(ended); // With the lock free: this may drop the user's handlers.
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
