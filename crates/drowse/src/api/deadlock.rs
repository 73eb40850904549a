//! Workers that block in the user's code.

use crate::TraceEvent;
use crate::engine::{Registry, WorkerThread};
use drowse_sleep::Mark;
use drowse_sync::Arc;
use std::fmt;

/// Says that the calling worker is about to block on something that drowse does not know: a
/// channel, a lock, a query of a compiler. It counts as blocked as long as the returned value
/// lives.
///
/// If that leaves the pool without an active worker, and it stays like that, the pool's
/// [deadlock handler](crate::ThreadPoolBuilder::deadlock_handler) is called. In a pool without one,
/// and on a thread that is not a worker, this does nothing.
///
/// The obvious way is right: mark, block, drop the value. The handler is called only if nobody has
/// moved for [a while](crate::ThreadPoolBuilder::deadlock_after). On Linux a worker that has been
/// unblocked, and has not had a processor since, counts as having moved.
///
/// # What marks can and cannot do
///
/// **Who waits for a thread outside of the pool** longer than that time, while the rest of the pool
/// has nothing to do, raises an alarm: drowse does not count threads outside. Mark what waits for
/// the pool's own jobs. Or let the value travel: it can be sent to whoever will unblock the worker,
/// and be dropped there.
///
/// **No alarm proves nothing**: a worker that blocks without a mark counts as active, and keeps the
/// handler from being called; so does one that polls, since it moves. The
/// [stall watch](crate::ThreadPoolBuilder::stall_watch) needs no marks.
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
/// let answer = pool.install(|| {
///     let (_, answer) = drowse::join(
///         move || send.send(42).unwrap(),
///         move || {
///             let _blocked = drowse::mark_blocked();
///             receive.recv().unwrap()
///         },
///     );
///     answer
/// });
/// assert_eq!(answer, 42);
/// ```
#[track_caller]
#[must_use = "the worker counts as blocked for as long as this value lives"]
pub fn mark_blocked() -> Blocked {
    Blocked::new(Mark::here(None))
}

/// As [`mark_blocked`], with a name for what the worker blocks on: the report of a deadlock has it.
///
/// ```
/// # use std::sync::mpsc::channel;
/// let (alarm, alarms) = channel();
/// let pool = drowse::ThreadPoolBuilder::new()
///     .num_threads(1)
///     .deadlock_handler(move |deadlock| alarm.send(deadlock.clone()).unwrap())
///     .build()
///     .unwrap();
/// let (answer, question) = channel::<u32>();
/// pool.spawn(move || {
///     let _blocked = drowse::mark_blocked_on("the oracle");
///     assert_eq!(question.recv(), Ok(42)); // nobody in the pool can answer
/// });
/// let report = alarms.recv().unwrap();
/// assert_eq!(report.blocked[0].what, Some("the oracle"));
/// assert!(report.to_string().contains("0 is blocked on the oracle at "));
/// answer.send(42).unwrap();
/// ```
#[track_caller]
#[must_use = "the worker counts as blocked for as long as this value lives"]
pub fn mark_blocked_on(what: &'static str) -> Blocked {
    Blocked::new(Mark::here(Some(what)))
}

/// Says that a worker is about to be unblocked, or was: it counts as active again. Equivalent to
/// dropping the value.
///
/// ```
/// drowse::mark_unblocked(drowse::mark_blocked());
/// ```
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
    mark: Mark,
}

struct Place {
    registry: Arc<Registry>,
    index: usize,
}

impl Blocked {
    fn new(mark: Mark) -> Self {
        let block = |worker: &WorkerThread| {
            let registry = Arc::clone(worker.registry());
            registry.record(TraceEvent::Blocked);
            registry.sleep.mark_blocked(worker.index(), mark);
            Place { registry, index: worker.index() }
        };
        Self { place: WorkerThread::with_current(|worker| worker.map(block)), mark }
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        if let Some(place) = &self.place {
            place.registry.record(TraceEvent::Unblocked { worker: place.index });
            place.registry.sleep.mark_unblocked(place.index, &self.mark);
        }
    }
}

impl fmt::Debug for Blocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let worker = self.place.as_ref().map(|place| place.index);
        let (what, at) = (&self.mark.what, &self.mark.at);
        f.debug_struct("Blocked").field("worker", &worker).field("what", what).field("at", at).finish()
    }
}
