//! Waiting for a future, where it is.

use crate::engine::{Point, Registry, WaitFor, WorkerThread};
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
/// On a worker, other jobs are run while the future waits, as in [`join`](crate::join#blocking);
/// and if there are none the worker sleeps, until the future is woken or a job comes. In
/// [isolation](crate::isolate()) it runs no jobs but those that were spawned since this was called,
/// or since what the future awaits was [spawned](crate::spawn_handle), if it awaits handles. On any
/// other thread it blocks.
///
/// # Panics
///
/// With the panic of the future.
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
            // A future need not poll all that it awaits each time: what it has awaited once, it may
            // await still.
            since = earlier(spawned, since);
            let latch = match since {
                Some(since) => CountLatch::since(since, 1, worker),
                None => CountLatch::new(1, None),
            };
            if signal.is_awaited_by(&latch) {
                // What whoever wakes us sets is on this stack.
                unwind::or_abort(|| match worker {
                    Some(worker) => latch.wait(Some(worker), worker.registry(), WaitFor::Future),
                    None => {
                        let _waits = awaited.as_ref().and_then(|pool| pool.note_waiter(WaitFor::Future));
                        latch.block();
                    }
                });
            }
            signal.reset();
        }
    })
}

drowse_sync::thread_local! {
    /// While a thread outside polls a future that it blocks on: the pool that has what the future
    /// awaits, if that pool wants to know who waits.
    static AWAITED: Cell<Option<Option<Arc<Registry>>>> = const { Cell::new(None) };
}

/// Notes that the future which the calling thread polls awaits a task of this pool.
pub(super) fn note_awaited(pool: &Arc<Registry>) {
    if pool.notes_waiters() {
        let _ = AWAITED.try_with(|awaited| {
            let news = awaited.take().map(|_| Some(Arc::clone(pool)));
            awaited.set(news);
        });
    }
}

/// Calls `poll`, and returns besides what it has [noted](note_awaited).
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

/// The earlier of two points, in each respect.
fn earlier(one: Option<Point>, other: Option<Point>) -> Option<Point> {
    let (Some(one), Some(other)) = (one, other) else { return one.or(other) };
    Some(Point { position: one.position.min(other.position), moment: one.moment.min(other.moment) })
}

/// Whether the future was woken, and whom to tell.
struct Signal {
    /// The latch of the thread, while it waits; null while it does not; [`WOKEN`] when there is a
    /// reason to poll again.
    waiter: AtomicPtr<CountLatch>,
}

/// No latch is there.
const WOKEN: *mut CountLatch = ptr::without_provenance_mut(1);

impl Signal {
    fn new() -> Self {
        Self { waiter: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Whether this latch will be set when the future is woken. False if it has been.
    fn is_awaited_by(&self, latch: &CountLatch) -> bool {
        let latch = ptr::from_ref(latch).cast_mut();
        // ORDERING: release pairs with the acquire of whoever wakes: the latch is ready to be set.
        let release = mutant::weaken("signal/await-relaxed", Ordering::Release);
        // ORDERING: relaxed on failure; `reset` follows, which acquires.
        self.waiter.compare_exchange(ptr::null_mut(), latch, release, Ordering::Relaxed).is_ok()
    }

    /// The future is about to be polled: whoever wakes it after this means the next time.
    fn reset(&self) {
        // ORDERING: acquire pairs with the release of whoever has woken it: the poll must see what
        // that one did before.
        self.waiter.swap(ptr::null_mut(), mutant::weaken("signal/reset-relaxed", Ordering::Acquire));
    }

    fn wake(&self) {
        // ORDERING: release and acquire, see above, for both.
        let waiter = self.waiter.swap(WOKEN, mutant::weaken("signal/wake-relaxed", Ordering::AcqRel));
        if !waiter.is_null() && !ptr::eq(waiter, WOKEN) {
            // SAFETY: whoever waits does so until this has set its latch.
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
