//! Waiting for a future, where it is.

use crate::engine::{Point, WaitFor, WorkerThread};
use crate::latch::{CountLatch, Latch};
use crate::unwind;
use drowse_sync::atomic::{AtomicPtr, Ordering};
use drowse_sync::{StdArc, mutant};
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
        loop {
            let mut poll = || future.as_mut().poll(&mut context);
            let (poll, spawned) = match worker {
                Some(worker) => worker.awaited_since(poll),
                None => (poll(), None),
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
                    None => latch.block(),
                });
            }
            signal.reset();
        }
    })
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
