//! Record of what the workers did, step by step: off by default, and never on the hot path.

mod chrome;
mod names;
mod ring;

use drowse_sleep::{Observer, Reason};
use drowse_sync::{Arc, CachePadded, Mutex, Stopwatch};
use names::Names;
use ring::Ring;
use std::fmt;
use std::time::Duration;

/// Records what the workers of a pool do: when they search, sleep and wake, which workers they wake
/// and steal from, and when they run jobs that were not their own.
///
/// Given to a pool with [`ThreadPoolBuilder::trace`](crate::ThreadPoolBuilder::trace). Each worker
/// has a ring of its own, so that workers do not disturb each other. When a ring is full its oldest
/// events are dropped. A `join` without a thief is not recorded: events happen where a worker has
/// run out of its own jobs.
///
/// ```
/// use drowse::{ThreadPoolBuilder, Trace, TraceEvent};
///
/// let trace = Trace::new();
/// let pool = ThreadPoolBuilder::new().num_threads(2).trace(&trace).build().unwrap();
/// pool.install(|| drowse::join(|| 1, || 2));
/// let events = trace.drain();
/// assert!(events.iter().any(|event| matches!(event.what, TraceEvent::TookInjected)));
/// ```
///
/// [`to_chrome_json`](Self::to_chrome_json) converts the events to a file that Perfetto shows.
#[derive(Clone)]
pub struct Trace {
    shared: Arc<Shared>,
}

struct Shared {
    clock: Stopwatch,
    capacity: usize,
    names: Names,
    /// `None` until a pool has taken the trace.
    recorder: Mutex<Option<Recorder>>,
}

/// Rings and clock with which the workers of one pool record.
#[derive(Clone)]
pub(super) struct Recorder {
    clock: Stopwatch,
    /// One per worker; the last one for threads outside.
    rings: Arc<[CachePadded<Mutex<Ring>>]>,
}

/// An event of a trace, with its time and thread.
///
/// ```
/// use drowse::{ThreadPoolBuilder, Trace};
///
/// let trace = Trace::new();
/// let pool = ThreadPoolBuilder::new().num_threads(1).trace(&trace).build().unwrap();
/// pool.install(|| ());
/// let records = trace.drain();
/// assert!(records.windows(2).all(|pair| pair[0].at <= pair[1].at));
/// assert!(records.iter().any(|record| record.worker == Some(0)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TraceRecord {
    /// Time since the trace was made.
    pub at: Duration,
    /// Worker that did it; `None` for a thread outside the pool.
    pub worker: Option<usize>,
    /// Kind of event.
    pub what: TraceEvent,
}

/// Kind of an event: what a worker does. A worker is active, idle, sleepy or asleep.
///
/// ```
/// use drowse::TraceEvent;
///
/// assert_eq!(TraceEvent::Stole { from: 3 }, TraceEvent::Stole { from: 3 });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TraceEvent {
    /// Begins to search for jobs.
    Idle,
    /// Will sleep if it does not find a job at once.
    Sleepy,
    /// Blocks until it is woken.
    Asleep,
    /// Was woken, and searches.
    Awake,
    /// Has stopped searching.
    Active,
    /// Wakes a worker.
    Woke {
        /// Index of the woken worker.
        worker: usize,
        /// Reason of the wake-up.
        reason: Reason,
    },
    /// Takes a job from another worker.
    Stole {
        /// Index of that worker.
        from: usize,
    },
    /// Takes a job that came from outside the pool.
    TookInjected,
    /// Begins to run a job that it has stolen, or that came from outside the pool.
    Begin,
    /// Has run that job.
    End,
    /// Is marked as blocked in the user's code.
    Blocked,
    /// Removes the blocked mark of a worker.
    Unblocked {
        /// Index of the blocked worker. The event belongs to the thread that unblocks it.
        worker: usize,
    },
}

/// Default number of events that are kept of each worker.
const CAPACITY: usize = 1 << 16;

impl Trace {
    /// Returns a trace that keeps the last 65,536 events of each worker.
    ///
    /// ```
    /// assert!(drowse::Trace::new().drain().is_empty());
    /// ```
    #[allow(clippy::new_without_default)] // a trace has a beginning in time
    pub fn new() -> Self {
        Self::with_capacity(CAPACITY)
    }

    /// Returns a trace that keeps the last `events` events of each worker, at least one.
    ///
    /// ```
    /// let trace = drowse::Trace::with_capacity(2);
    /// let pool = drowse::ThreadPoolBuilder::new().num_threads(1).trace(&trace).build().unwrap();
    /// (0..10).for_each(|_| pool.install(|| ()));
    /// assert!(trace.drain().len() <= 2 + 2); // of the worker, and of threads outside
    /// ```
    pub fn with_capacity(events: usize) -> Self {
        let (clock, capacity) = (Stopwatch::start(), events.max(1));
        let (names, recorder) = (Names::new(), Mutex::new(None));
        Self { shared: Arc::new(Shared { clock, capacity, names, recorder }) }
    }

    /// Takes out the events recorded so far, ordered by time.
    ///
    /// ```
    /// let trace = drowse::Trace::new();
    /// let pool = drowse::ThreadPoolBuilder::new().num_threads(1).trace(&trace).build().unwrap();
    /// pool.install(|| ());
    /// assert!(!trace.drain().is_empty());
    /// ```
    pub fn drain(&self) -> Vec<TraceRecord> {
        let mut records = Vec::new();
        for ring in &*self.rings() {
            records.append(&mut ring.lock().drain());
        }
        records.sort_by_key(|record| record.at);
        records
    }

    /// Returns how many events were dropped because a ring was full.
    ///
    /// ```
    /// assert_eq!(drowse::Trace::new().lost(), 0);
    /// ```
    pub fn lost(&self) -> u64 {
        self.rings().iter().map(|ring| ring.lock().lost()).sum()
    }

    /// Converts events to a file in Chrome's trace format, which
    /// [Perfetto](https://ui.perfetto.dev) and `chrome://tracing` show: one row per worker, under
    /// its [name](Self::worker_name) and coloured by state, with arrows for wake-ups and steals.
    ///
    /// ```
    /// let trace = drowse::Trace::new();
    /// let builder = drowse::ThreadPoolBuilder::new().num_threads(2);
    /// let pool = builder.thread_name(|i| format!("dozer {i}")).trace(&trace).build().unwrap();
    /// pool.install(|| ());
    /// let json = trace.to_chrome_json(&trace.drain());
    /// assert!(json.starts_with("{\"traceEvents\":["));
    /// assert!(json.contains("\"dozer 0\"") || json.contains("\"dozer 1\""));
    /// ```
    pub fn to_chrome_json(&self, records: &[TraceRecord]) -> String {
        chrome::to_json(records, &self.shared.names)
    }

    /// Returns the name that
    /// [`ThreadPoolBuilder::thread_name`](crate::ThreadPoolBuilder::thread_name) gave a worker of
    /// the pool, or else its number.
    ///
    /// ```
    /// let trace = drowse::Trace::new();
    /// assert_eq!(trace.worker_name(3), "worker 3");
    /// ```
    pub fn worker_name(&self, worker: usize) -> String {
        self.shared.names.get(worker)
    }

    /// Makes room for the workers of a pool. Returns `None` if a pool is attached already.
    pub(super) fn attach(&self, workers: usize) -> Option<Recorder> {
        let mut recorder = self.shared.recorder.lock();
        if recorder.is_some() {
            return None;
        }
        let ring = |_| CachePadded::new(Mutex::new(Ring::new(self.shared.capacity)));
        let rings = (0..=workers).map(ring).collect();
        Some(recorder.insert(Recorder { clock: self.shared.clock, rings }).clone())
    }

    /// Detaches the pool, which could not be built. Drops what its workers have recorded, and what
    /// they still record.
    pub(super) fn detach(&self) {
        *self.shared.recorder.lock() = None;
        self.shared.names.clear();
    }

    /// Records the name that a worker was given.
    pub(super) fn set_worker_name(&self, worker: usize, name: &str) {
        self.shared.names.set(worker, name);
    }

    fn rings(&self) -> Arc<[CachePadded<Mutex<Ring>>]> {
        let recorder = self.shared.recorder.lock();
        recorder.as_ref().map_or_else(|| [].into(), |recorder| Arc::clone(&recorder.rings))
    }
}

impl Recorder {
    /// Records what this worker does, or a thread outside the pool.
    pub(super) fn record(&self, worker: Option<usize>, what: TraceEvent) {
        let at = self.clock.elapsed();
        let ring = worker.map_or(self.rings.last(), |worker| self.rings.get(worker));
        if let Some(ring) = ring {
            ring.lock().push(TraceRecord { at, worker, what });
        }
    }

    /// Returns an observer for the sleep protocol of the pool at this address. `current_in` returns
    /// the worker of that pool that the calling thread is.
    pub(super) fn observer(
        &self,
        pool: usize,
        current_in: fn(usize) -> Option<usize>,
    ) -> Arc<dyn Observer> {
        Arc::new(SleepRecorder { recorder: self.clone(), pool, current_in })
    }
}

/// Records how the workers of a pool sleep.
#[derive(Debug)]
struct SleepRecorder {
    recorder: Recorder,
    pool: usize,
    current_in: fn(usize) -> Option<usize>,
}

impl Observer for SleepRecorder {
    fn idle(&self, worker: usize) {
        self.recorder.record(Some(worker), TraceEvent::Idle);
    }

    fn sleepy(&self, worker: usize) {
        self.recorder.record(Some(worker), TraceEvent::Sleepy);
    }

    fn asleep(&self, worker: usize) {
        self.recorder.record(Some(worker), TraceEvent::Asleep);
    }

    fn awake(&self, worker: usize) {
        self.recorder.record(Some(worker), TraceEvent::Awake);
    }

    fn active(&self, worker: usize) {
        self.recorder.record(Some(worker), TraceEvent::Active);
    }

    fn wake(&self, worker: usize, reason: Reason) {
        let waker = (self.current_in)(self.pool);
        self.recorder.record(waker, TraceEvent::Woke { worker, reason });
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("rings", &self.rings.len()).finish_non_exhaustive()
    }
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trace").field("capacity", &self.shared.capacity).finish_non_exhaustive()
    }
}
