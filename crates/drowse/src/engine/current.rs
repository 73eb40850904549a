//! Thread-local state: the current worker, and the end of its deque.

use super::worker::WorkerThread;
use crate::deque::Bottom;
#[cfg(not(any(drowse_loom, drowse_shuttle)))]
use crate::deque::Nobody;
use crate::job::JobHeader;
#[cfg(not(any(drowse_loom, drowse_shuttle)))]
use drowse_sync::atomic::AtomicPtr;
use drowse_sync::heavy_fences_executed;
use std::cell::Cell;
use std::ptr;
#[cfg(not(any(drowse_loom, drowse_shuttle)))]
use std::ptr::NonNull;

drowse_sync::thread_local! {
    /// The worker that this thread is; null on a thread that is not a worker.
    static CURRENT: Cell<*const WorkerThread> = const { Cell::new(ptr::null()) };
}

/// The end of a worker's deque that it pushes to.
pub(crate) type End = Bottom<JobHeader>;

#[cfg(not(any(drowse_loom, drowse_shuttle)))]
static NOBODY: Nobody<JobHeader> = Nobody::new(&NOWHERE_TO_PUSH);

#[cfg(not(any(drowse_loom, drowse_shuttle)))]
static NOWHERE_TO_PUSH: AtomicPtr<JobHeader> = AtomicPtr::new(ptr::null_mut());

#[cfg(not(any(drowse_loom, drowse_shuttle)))]
drowse_sync::thread_local! {
    /// The end of the current worker's deque. On a thread that is not a worker, or on which a
    /// `join` has more to do than to push: the end of nobody's deque.
    static END: Cell<End> = const { Cell::new(End::of_nobody(&NOBODY)) };
}

/// A nobody's deque for one worker whose jobs inherit something: a `join` that pushes there takes
/// the long way, as from outside.
#[derive(Debug)]
pub(super) struct Detour {
    #[cfg(not(any(drowse_loom, drowse_shuttle)))]
    nobody: Option<NonNull<Nobody<JobHeader>>>,
}

impl Detour {
    /// Creates the detour of one worker.
    #[cfg_attr(
        any(drowse_loom, drowse_shuttle),
        expect(unused_variables, reason = "models have none")
    )]
    pub(super) fn new(has_context: bool) -> Self {
        Self {
            #[cfg(not(any(drowse_loom, drowse_shuttle)))]
            nobody: has_context.then(Nobody::for_one),
        }
    }

    #[cfg(not(any(drowse_loom, drowse_shuttle)))]
    fn end_for(&self, worker: &WorkerThread) -> End {
        self.nobody.map_or_else(|| worker.end_of_deque(), |nobody| End::of_nobody(nobody.as_ptr()))
    }
}

#[cfg(not(any(drowse_loom, drowse_shuttle)))]
impl Drop for Detour {
    fn drop(&mut self) {
        // SAFETY: `for_one` made it from a box. The worker is not current, so `END` is another.
        self.nobody.into_iter().for_each(|nobody| drop(unsafe { Box::from_raw(nobody.as_ptr()) }));
    }
}

drowse_sync::thread_local! {
    /// The worker that this thread is, or null, while it runs a handler, as if it were none.
    static IN_HANDLER: Cell<Option<*const WorkerThread>> = const { Cell::new(None) };
}

drowse_sync::thread_local! {
    /// Heavy fences of this thread that were counted, or belong to no worker.
    static COUNTED_FENCES: Cell<u64> = const { Cell::new(0) };
}

/// Returns the number of heavy fences that this thread has executed since the last call. Called
/// also when the thread becomes a worker, which does not count what came before.
pub(super) fn take_heavy_fences() -> u64 {
    let executed = heavy_fences_executed();
    executed.wrapping_sub(COUNTED_FENCES.with(|counted| counted.replace(executed)))
}

impl WorkerThread {
    /// Calls `f` with the worker that this thread is; with `None` on a thread that is not a worker.
    #[inline(always)]
    pub(crate) fn with_current<R>(f: impl FnOnce(Option<&Self>) -> R) -> R {
        // SAFETY: the callers of `make_current` and `replace_current` promise that the worker lives
        // as long as it is current. `f` cannot keep the borrow, and the worker is not freed under
        // `f`: its thread holds the registry, which owns the core. `run_worker` and `run_spare`
        // have it in their frame, a guest borrows it, and an adopted thread holds it for good, or
        // until `StopUnlessStarted` is dropped.
        f(unsafe { Self::current() })
    }

    /// Returns the worker that this thread is. For [`with_current`](Self::with_current), and for
    /// the one caller whose fast path must not be a closure, which LLVM may leave out of line.
    ///
    /// # Safety
    ///
    /// The borrow must end before the code that called this returns, and stay on this thread.
    #[inline(always)]
    pub(crate) unsafe fn current<'a>() -> Option<&'a Self> {
        // SAFETY: the caller's promise; see `with_current` for why it is enough.
        unsafe { CURRENT.with(Cell::get).as_ref() }
    }

    /// Returns the end of this thread's deque; on a thread that is not a worker, the end of
    /// nobody's deque. In a model, which has no nobody's deque, `None`.
    #[inline(always)]
    pub(crate) fn current_end() -> Option<End> {
        #[cfg(not(any(drowse_loom, drowse_shuttle)))]
        return Some(END.with(Cell::get));
        #[cfg(any(drowse_loom, drowse_shuttle))]
        Self::with_current(|worker| worker.map(Self::end_of_deque))
    }

    /// Returns the end of this worker's deque.
    pub(crate) fn end_of_deque(&self) -> End {
        self.deque.end()
    }

    /// Makes this thread the worker `this`; none, if that is null. Returns what it was.
    fn set_current(this: *const Self) -> *const Self {
        #[cfg(not(any(drowse_loom, drowse_shuttle)))]
        END.with(|end| {
            // SAFETY: null, or alive by the promise made to `make_current` or `replace_current`.
            let worker = unsafe { this.as_ref() };
            end.set(worker.map_or(End::of_nobody(&NOBODY), |worker| worker.detour.end_for(worker)));
        });
        CURRENT.with(|current| current.replace(this))
    }

    /// Checks that this thread can become a worker.
    ///
    /// # Panics
    ///
    /// If it is one, or runs a handler.
    pub(super) fn assert_may_become_one() {
        let is_free = CURRENT.with(Cell::get).is_null() && !Self::in_handler();
        assert!(is_free, "a thread is a worker of one pool at a time");
    }

    /// Makes this thread the worker `this` until the returned guard is dropped, on this thread.
    ///
    /// # Safety
    ///
    /// `this` must be alive, and must not be moved or dropped until then.
    pub(super) unsafe fn make_current(this: *const Self) -> IsCurrent {
        Self::assert_may_become_one();
        take_heavy_fences();
        Self::set_current(this);
        IsCurrent::of(this)
    }

    /// Makes this thread the worker `this` for a while; none, if that is null. Returns what it was.
    ///
    /// # Safety
    ///
    /// `this` must be null, or alive and not moved until it is replaced again.
    pub(super) unsafe fn replace_current(this: *const Self) -> *const Self {
        Self::set_current(this)
    }

    /// Calls `f`, a handler of the user's, as if this thread were not a worker.
    pub(super) fn as_non_worker(f: impl FnOnce()) {
        let worker = Self::set_current(ptr::null());
        let outer = IN_HANDLER.with(Cell::get);
        let hidden = if worker.is_null() { outer.unwrap_or(worker) } else { worker };
        IN_HANDLER.with(|in_handler| in_handler.set(Some(hidden)));
        let _restore = RestoreWorker { worker, outer };
        f();
    }

    /// Calls `f` with the worker that this thread is but for the handler that it runs, if it runs
    /// one.
    pub(crate) fn with_hidden<R>(f: impl FnOnce(Option<&Self>) -> R) -> R {
        let hidden = IN_HANDLER.with(Cell::get).unwrap_or(ptr::null());
        // SAFETY: null, or alive as in `with_current`: `as_non_worker` has hidden the current
        // worker, and makes it current again when the handler returns, on this thread.
        f(unsafe { hidden.as_ref() })
    }

    /// Returns `true` if this thread runs a handler. It looks like a thread that is not a worker,
    /// but cannot become one: it is in the middle of something else.
    pub(crate) fn in_handler() -> bool {
        IN_HANDLER.with(Cell::get).is_some()
    }
}

/// Guard that makes this thread again what it was before a handler, also if the handler panics.
struct RestoreWorker {
    worker: *const WorkerThread,
    outer: Option<*const WorkerThread>,
}

impl Drop for RestoreWorker {
    fn drop(&mut self) {
        WorkerThread::set_current(self.worker);
        IN_HANDLER.with(|in_handler| in_handler.set(self.outer));
    }
}

/// Guard of the current worker: resets it to none when dropped.
#[must_use]
#[derive(Debug)]
pub(super) struct IsCurrent(*const WorkerThread);

impl IsCurrent {
    pub(super) fn of(worker: *const WorkerThread) -> Self {
        Self(worker)
    }
}

impl Drop for IsCurrent {
    fn drop(&mut self) {
        if CURRENT.with(|current| ptr::eq(current.get(), self.0)) {
            WorkerThread::set_current(ptr::null());
        }
    }
}
