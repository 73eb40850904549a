//! Marks for workers that block in the user's code.

use crate::engine::{Registry, WorkerThread};
use drowse_sleep::Mark;
use drowse_sync::Arc;
use std::fmt;

/// Marks the calling worker as blocked, for as long as the returned value lives.
///
/// Call it before the worker blocks on something that drowse does not know: a channel, a lock, a
/// query of a compiler. Drop the value when the worker is unblocked.
///
/// If the pool then has no active worker for [a while](crate::ThreadPoolBuilder::deadlock_after),
/// its [deadlock handler](crate::ThreadPoolBuilder::deadlock_handler) is called. On Linux, a worker
/// that was unblocked and has not had a processor since does not count as stuck. In a pool without
/// a handler, and on a thread that is not a worker, this does nothing.
///
/// # Limits
///
/// **False alarms**: drowse does not count threads outside the pool. If a marked worker waits for
/// such a thread for longer than that time, while the rest of the pool has nothing to do, it raises
/// an alarm. So mark only what waits for the pool's own jobs; or send the value to the thread that
/// will unblock the worker, which drops it.
///
/// **Missed alarms**: a worker that blocks without a mark counts as active, and so does a worker
/// that polls. Neither lets the handler be called. The
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

/// Marks the calling worker as blocked on `what`, which the deadlock report names.
///
/// Otherwise like [`mark_blocked`].
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
///     assert_eq!(question.recv(), Ok(42)); // no job of the pool can answer
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

/// Marks a worker as active again. Equivalent to dropping the value.
///
/// May be called before or after the worker is unblocked, on any thread.
///
/// ```
/// drowse::mark_unblocked(drowse::mark_blocked());
/// ```
pub fn mark_unblocked(blocked: Blocked) {
    drop(blocked);
}

/// Mark of a blocked worker, which counts as blocked while this lives. Made by [`mark_blocked`].
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
            registry.probe.blocked(worker.index());
            registry.sleep.mark_blocked(worker.index(), mark);
            Place { registry, index: worker.index() }
        };
        Self { place: WorkerThread::with_current(|worker| worker.map(block)), mark }
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        if let Some(place) = &self.place {
            let by = place.registry.with_worker(|worker| worker.map(WorkerThread::index));
            place.registry.probe.unblocked(by, place.index);
            place.registry.sleep.mark_unblocked(place.index, &self.mark);
        }
    }
}

impl fmt::Debug for Blocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let worker = self.place.as_ref().map(|place| place.index);
        let (what, at) = (&self.mark.what, &self.mark.at);
        f.debug_struct("Blocked")
            .field("worker", &worker)
            .field("what", what)
            .field("at", at)
            .finish()
    }
}
