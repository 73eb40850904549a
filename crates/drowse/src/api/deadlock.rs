//! Workers that block in the user's code.

use crate::TraceEvent;
use crate::engine::{Registry, WorkerThread};
use drowse_sleep::Sleep;
use drowse_sync::Arc;
use std::fmt;
use std::panic::Location;

/// Says that the calling worker is about to block on something that drowse does not know: a
/// channel, a lock, a query of a compiler. It counts as blocked as long as the returned value
/// lives.
///
/// If that leaves the pool without an active worker, the pool's
/// [deadlock handler](crate::ThreadPoolBuilder::deadlock_handler) is called, right here. In a pool
/// without one, and on a thread that is not a worker, this does nothing.
///
/// # What marks can and cannot do
///
/// drowse counts marks. It does not check whether the worker is really stuck.
///
/// **Unmark before you unblock.** Whoever unblocks the worker should drop the value, and should do
/// so first: from then on the worker counts as active. The value can be sent to another thread for
/// that, as in the example.
///
/// The obvious way, to mark, receive and drop the value on the worker itself, raises **false
/// alarms**: between the message and the drop the worker counts as blocked although it is not, and
/// if the others fall asleep meanwhile the pool looks dead. In a correct program with such marks
/// this may happen every other time.
///
/// With a lock of std the rule cannot be followed, since whoever unlocks it does not know who gets
/// it next. Marks around `Mutex::lock` raise false alarms as soon as two workers want the lock at
/// once. So does whatever is unblocked by a thread outside of the pool: that thread is not counted.
///
/// And **no alarm proves nothing**: a worker that blocks without a mark counts as active, and keeps
/// the handler from being called.
///
/// So let a handler report, and decide elsewhere, after a while, whether the pool has moved since.
///
/// # Example
///
/// ```
/// use std::sync::mpsc::channel;
///
/// let pool = drowse::ThreadPoolBuilder::new()
///     .num_threads(2)
///     .deadlock_handler(|deadlock| eprintln!("{deadlock}"))
///     .build()
///     .unwrap();
/// let (send, receive) = channel();
/// let sum = pool.install(|| {
///     let (give, take) = channel::<drowse::Blocked>();
///     let (_, sum) = drowse::join(
///         move || {
///             let waiter = take.recv().unwrap();
///             drowse::mark_unblocked(waiter); // first this ...
///             send.send(42).unwrap(); // ... then that
///         },
///         move || {
///             give.send(drowse::mark_blocked()).unwrap();
///             receive.recv().unwrap()
///         },
///     );
///     sum
/// });
/// assert_eq!(sum, 42);
/// ```
///
/// # Panics
///
/// In a deadlock handler.
#[track_caller]
#[must_use = "the worker counts as blocked for as long as this value lives"]
pub fn mark_blocked() -> Blocked {
    mark_at(Location::caller())
}

/// The same, for whoever called that.
pub(super) fn mark_at(at: &'static Location<'static>) -> Blocked {
    assert!(
        !Sleep::in_deadlock_handler(),
        "a deadlock handler must not mark workers as blocked: it runs while its pool is locked"
    );
    let mark = |worker: &WorkerThread| {
        let registry = Arc::clone(worker.registry());
        registry.record(TraceEvent::Blocked);
        registry.sleep.mark_blocked(worker.index(), at, &|deadlock| registry.handle_deadlock(deadlock));
        Place { registry, index: worker.index() }
    };
    Blocked { place: WorkerThread::with_current(|worker| worker.map(mark)), at }
}

/// Says that a worker is about to be unblocked: it counts as active again. Equivalent to dropping
/// the value.
///
/// ```
/// drowse::mark_unblocked(drowse::mark_blocked());
/// ```
///
/// # Panics
///
/// In the pool's own deadlock handler. The mark is gone even so.
pub fn mark_unblocked(blocked: Blocked) {
    drop(blocked);
}

/// A worker counts as blocked as long as this value lives. Made by [`mark_blocked`].
///
/// ```
/// let blocked = drowse::mark_blocked();
/// assert!(format!("{blocked:?}").contains("worker: None")); // this thread is not one
/// ```
#[must_use = "the worker counts as blocked for as long as this value lives"]
pub struct Blocked {
    /// `None` for a thread that is not a worker.
    place: Option<Place>,
    at: &'static Location<'static>,
}

struct Place {
    registry: Arc<Registry>,
    index: usize,
}

impl Drop for Blocked {
    fn drop(&mut self) {
        if let Some(place) = &self.place {
            place.registry.record(TraceEvent::Unblocked { worker: place.index });
            place.registry.sleep.mark_unblocked(place.index, self.at);
        }
    }
}

impl fmt::Debug for Blocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let worker = self.place.as_ref().map(|place| place.index);
        f.debug_struct("Blocked").field("worker", &worker).field("at", &self.at).finish()
    }
}
