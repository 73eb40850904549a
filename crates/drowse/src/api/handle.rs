//! Closures that run later, and for which somebody may wait.

use super::global::with_current_registry;
use super::spawn::spawned_job;
use crate::engine::{Point, Registry, WaitFor, WorkerThread};
use crate::latch::{CountLatch, Latch};
use crate::unwind;
use drowse_sync::atomic::{AtomicPtr, Ordering};
use drowse_sync::cell::UnsafeCell;
use drowse_sync::{Arc, mutant};
use std::fmt;
use std::ptr;
use std::thread;

/// Runs a closure later, in the current pool, as [`spawn`](crate::spawn()) does, and returns a
/// handle that can be waited for.
///
/// A panic of the closure is kept in the handle, and is nobody else's: the process does not abort.
///
/// # Example
///
/// ```
/// let answer = drowse::spawn_handle(|| 6 * 7);
/// let mistake = drowse::spawn_handle(|| -> u32 { panic!("bad dream") });
/// assert_eq!(answer.join().unwrap(), 42);
/// assert_eq!(*mistake.join().unwrap_err().downcast::<&str>().unwrap(), "bad dream");
/// ```
pub fn spawn_handle<F, T>(func: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    with_current_registry(|registry| spawn_handle_in(func, registry))
}

pub(super) fn spawn_handle_in<F, T>(func: F, registry: &Arc<Registry>) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let packet = Arc::new(Packet::new());
    let spawned_at = registry.with_worker(|worker| worker.map(|worker| (worker.index(), worker.point())));
    let handle = JoinHandle { packet: Arc::clone(&packet), registry: Arc::clone(registry), spawned_at };
    let job = spawned_job(move || packet.finish(unwind::halt_unwinding(func)), registry);
    // SAFETY: a new reference.
    unsafe { registry.inject_or_push(job) };
    handle
}

/// A closure that was [spawned](spawn_handle), and its result.
///
/// If the handle is dropped, the closure runs all the same, and its result, or its panic, is
/// dropped.
///
/// ```
/// let pool = drowse::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
/// let handle: drowse::JoinHandle<u32> = pool.spawn_handle(|| 42);
/// assert_eq!(handle.join().unwrap(), 42);
/// ```
#[must_use = "to spawn a closure that nobody waits for, use `spawn`"]
pub struct JoinHandle<T> {
    packet: Arc<Packet<T>>,
    /// Where the closure runs.
    registry: Arc<Registry>,
    /// The worker that has spawned it, and how far it had got.
    spawned_at: Option<(usize, Point)>,
}

impl<T> JoinHandle<T> {
    /// Waits until the closure has ended, and returns its result, or the payload of its panic.
    ///
    /// A worker runs other jobs meanwhile, as in [`join`](crate::join#blocking).
    ///
    /// # Errors
    ///
    /// If the closure panicked, with the payload.
    ///
    /// ```
    /// let words = ["fork", "join", "nap"];
    /// let lengths = words.map(|word| drowse::spawn_handle(move || word.len()));
    /// assert_eq!(lengths.map(|length| length.join().unwrap()), [4, 4, 3]);
    /// ```
    pub fn join(self) -> thread::Result<T> {
        if !self.is_finished() {
            self.registry.assert_here();
        }
        WorkerThread::with_current(|worker| {
            let latch = self.latch_for(worker);
            if self.packet.is_awaited_by(&latch) {
                // What whoever ends the closure sets is on this stack.
                unwind::or_abort(|| latch.wait(worker, &self.registry, WaitFor::Handle));
            }
            // SAFETY: the closure has ended, and only we, who have the handle, take its result.
            unsafe { self.packet.take_result() }
        })
    }

    /// What this worker, or a thread outside, waits for.
    fn latch_for(&self, waiter: Option<&WorkerThread>) -> CountLatch {
        let spawned_by = |worker: &WorkerThread| {
            let here = |(index, _): &(usize, Point)| *index == worker.index();
            self.spawned_at.filter(here).filter(|_| worker.registry().id() == self.registry.id())
        };
        match waiter.and_then(spawned_by) {
            Some((_, since)) => CountLatch::since(since, 1, waiter),
            None => CountLatch::new(1, waiter),
        }
    }

    /// Whether the closure has ended: then [`join`](Self::join) does not wait.
    ///
    /// ```
    /// let pool = drowse::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    /// pool.install(|| {
    ///     let handle = drowse::spawn_handle(|| 42);
    ///     assert!(!handle.is_finished()); // the only worker is here
    ///     drowse::yield_now();
    ///     assert!(handle.is_finished());
    /// });
    /// ```
    pub fn is_finished(&self) -> bool {
        // ORDERING: relaxed; whoever wants the result goes on to `join`, which acquires.
        self.packet.waiter.load(Ordering::Relaxed) == DONE
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").field("is_finished", &self.is_finished()).finish_non_exhaustive()
    }
}

/// What the closure and its handle share.
struct Packet<T> {
    /// The latch of whoever waits; null if nobody does yet; [`DONE`] when the closure has ended.
    waiter: AtomicPtr<CountLatch>,
    /// Written before it is done, taken after.
    result: UnsafeCell<Option<thread::Result<T>>>,
}

/// No latch is there.
const DONE: *mut CountLatch = ptr::without_provenance_mut(1);

// SAFETY: the result is written by whoever runs the closure, and then taken by whoever has the
// handle, or dropped with the last of the two.
unsafe impl<T: Send> Send for Packet<T> {}
// SAFETY: as above; at no time do two have it.
unsafe impl<T: Send> Sync for Packet<T> {}

impl<T> Packet<T> {
    fn new() -> Self {
        Self { waiter: AtomicPtr::new(ptr::null_mut()), result: UnsafeCell::new(None) }
    }

    /// The closure has ended.
    fn finish(&self, result: thread::Result<T>) {
        // SAFETY: nobody looks at it before it is done.
        self.result.with_mut(|slot| unsafe { *slot = Some(result) });
        // ORDERING: release pairs with the acquire of whoever finds it done; acquire pairs with the
        // release of whoever waits: its latch is ready to be set.
        let ordering = mutant::weaken("handle/finish-relaxed", Ordering::AcqRel);
        let waiter = self.waiter.swap(DONE, ordering);
        if !waiter.is_null() {
            // SAFETY: whoever waits does so until this has set its latch.
            unsafe { CountLatch::set(waiter) };
        }
    }

    /// Whether this latch will be set when the closure has ended. False if it has.
    fn is_awaited_by(&self, latch: &CountLatch) -> bool {
        let latch = ptr::from_ref(latch).cast_mut();
        // ORDERING: see `finish`, for both.
        let acquire = mutant::weaken("handle/join-relaxed", Ordering::Acquire);
        self.waiter.compare_exchange(ptr::null_mut(), latch, Ordering::Release, acquire).is_ok()
    }

    /// # Safety
    ///
    /// The closure must have ended, and the caller must know that; the result must be there still.
    unsafe fn take_result(&self) -> thread::Result<T> {
        // SAFETY: the caller's promise.
        let result = self.result.with_mut(|slot| unsafe { (*slot).take() });
        result.expect("a closure that has ended has a result")
    }
}
