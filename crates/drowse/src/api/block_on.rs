//! Waiting for a future on the calling thread.

use crate::diagnose::WaitFor;
use crate::engine::{Point, Registry, WorkerThread};
use crate::latch::CountLatch;
use crate::unwind;
use drowse_sync::atomic::{AtomicPtr, Ordering};
use drowse_sync::{Arc, StdArc, mutant};
use std::cell::Cell;
use std::future::Future;
use std::pin::pin;
use std::ptr;
use std::task::{Context, Poll, Wake, Waker};

/// Polls a future on the calling thread until it is ready.
///
/// On a worker, other jobs run while the future waits, as in [`join`](crate::join#blocking). If
/// there are none, the worker sleeps until the future is woken or a job is posted. In
/// [isolation](crate::isolate()), the worker runs only jobs that were spawned after this call
/// began; if the future awaits handles, also jobs that were spawned after the first of the awaited
/// tasks was [spawned](crate::spawn_handle). On any other thread, the call blocks.
///
/// # Panics
///
/// If the future panics, with the same payload.
///
/// # Example
///
/// ```
/// let (sum, product) = drowse::block_on(async {
///     let sum = drowse::spawn_handle(|| (1..=10).sum::<u32>());
///     let product = drowse::spawn_handle(|| (1..=10).product::<u32>());
///     (sum.await.unwrap(), product.await.unwrap())
/// });
/// assert_eq!((sum, product), (55, 3_628_800));
/// ```
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    WorkerThread::with_current(|worker| {
        let signal = StdArc::new(Signal::new());
        let waker = Waker::from(StdArc::clone(&signal));
        let mut context = Context::from_waker(&waker);
        let mut since = worker.map(WorkerThread::take_point);
        let mut awaited: Option<Arc<Registry>> = None;
        loop {
            let poll = || future.as_mut().poll(&mut context);
            let (poll, spawned) = match worker {
                Some(worker) => worker.awaited_since(poll),
                None => {
                    let (poll, pool) = awaited_in(poll);
                    awaited = pool.or(awaited);
                    (poll, None)
                }
            };
            if let Poll::Ready(result) = poll {
                return result;
            }
            // A future need not poll everything it awaits each time: it may still await what it
            // awaited in an earlier poll. So `since` never moves forward.
            since = earlier(spawned, since);
            let latch = match since {
                Some(since) => CountLatch::since(since, 1, worker),
                None => CountLatch::new(1, None),
            };
            if signal.is_awaited_by(&latch) {
                // `Signal::wake` sets `latch`, which is in this frame: the wait must not unwind.
                unwind::or_abort(|| match worker {
                    Some(worker) => latch.wait(Some(worker), worker.registry(), WaitFor::Future),
                    None => {
                        let _waits =
                            awaited.as_ref().map(|pool| pool.probe.note_waiter(WaitFor::Future));
                        latch.of_outside().wait();
                    }
                });
            }
            signal.reset();
        }
    })
}

drowse_sync::thread_local! {
    /// While a thread that is not a worker polls a future in [`block_on`]: the pool that runs a
    /// task that the future awaits, if that pool has a stall watch. `None` outside such polls.
    static AWAITED: Cell<Option<Option<Arc<Registry>>>> = const { Cell::new(None) };
}

/// Records that the future that the calling thread polls awaits a task of this pool.
pub(super) fn note_awaited(pool: &Arc<Registry>) {
    if pool.probe.notes_waiters() {
        let _ = AWAITED.try_with(|awaited| {
            let news = awaited.take().map(|_| Some(Arc::clone(pool)));
            awaited.set(news);
        });
    }
}

/// Calls `poll`. Returns its result and the pool that [`note_awaited`] recorded meanwhile.
fn awaited_in<R>(poll: impl FnOnce() -> R) -> (R, Option<Arc<Registry>>) {
    struct Before(Option<Option<Arc<Registry>>>);
    impl Drop for Before {
        fn drop(&mut self) {
            let _ = AWAITED.try_with(|awaited| awaited.set(self.0.take()));
        }
    }
    let _before = Before(AWAITED.try_with(|awaited| awaited.replace(Some(None))).ok().flatten());
    let result = poll();
    let awaited = AWAITED.try_with(Cell::take).ok().flatten().flatten();
    (result, awaited)
}

/// Returns the earlier of two points, separately for position and moment.
fn earlier(one: Option<Point>, other: Option<Point>) -> Option<Point> {
    let (Some(one), Some(other)) = (one, other) else { return one.or(other) };
    Some(Point { position: one.position.min(other.position), moment: one.moment.min(other.moment) })
}

/// Wake state of a future in [`block_on`], and the latch of the waiting thread.
struct Signal {
    /// Latch of the thread while it waits; null while it does not; [`WOKEN`] if the future must be
    /// polled again.
    waiter: AtomicPtr<CountLatch>,
}

/// Marks a future that was woken. No latch has this address.
const WOKEN: *mut CountLatch = ptr::without_provenance_mut(1);

impl Signal {
    fn new() -> Self {
        Self { waiter: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Registers a latch, to be set when the future is woken. Returns `false`, and registers
    /// nothing, if it was woken already.
    fn is_awaited_by(&self, latch: &CountLatch) -> bool {
        let latch = ptr::from_ref(latch).cast_mut();
        // ORDERING: release pairs with the acquire in `wake`, which sets the latch and must see it
        // complete.
        let release = mutant::weaken("signal/await-relaxed", Ordering::Release);
        // ORDERING: relaxed on failure; `reset` follows, which acquires.
        self.waiter.compare_exchange(ptr::null_mut(), latch, release, Ordering::Relaxed).is_ok()
    }

    /// Clears the state before the next poll. A wake after this call requests another poll.
    fn reset(&self) {
        // ORDERING: acquire pairs with the release in `wake`: the poll must see what the waker
        // wrote before it.
        self.waiter
            .swap(ptr::null_mut(), mutant::weaken("signal/reset-relaxed", Ordering::Acquire));
    }

    fn wake(&self) {
        // ORDERING: release pairs with the acquire in `reset`, acquire with the release in
        // `is_awaited_by`.
        let waiter =
            self.waiter.swap(WOKEN, mutant::weaken("signal/wake-relaxed", Ordering::AcqRel));
        if !waiter.is_null() && !ptr::eq(waiter, WOKEN) {
            // SAFETY: the thread that registered the latch waits until this call has set it.
            unsafe { CountLatch::set(waiter) };
        }
    }
}

impl Wake for Signal {
    fn wake(self: StdArc<Self>) {
        Self::wake(&self);
    }

    fn wake_by_ref(self: &StdArc<Self>) {
        Self::wake(self);
    }
}
