//! What the workers did, step by step: off unless asked for, and never on the hot path.

mod chrome;
mod names;
mod ring;

use crate::engine::WorkerThread;
use drowse_sleep::{Observer, Reason};
use drowse_sync::{Arc, CachePadded, Mutex, Stopwatch};
use names::Names;
use ring::Ring;
use std::fmt;
use std::time::Duration;

/// Records what the workers of a pool do: when they search, sleep and wake, whom they wake and
/// steal from, and when they run jobs that were not their own.
///
/// Given to a pool with [`ThreadPoolBuilder::trace`](crate::ThreadPoolBuilder::trace). Each worker
/// has a ring of its own, so that they do not disturb each other; when a ring is full the oldest
/// events are dropped. A `join` that nobody helps with is not recorded: events happen where a
/// worker has run out of its own jobs.
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
/// [`to_chrome_json`](Self::to_chrome_json) makes a file of them that Perfetto shows.
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

/// What the workers of one pool record with.
#[derive(Clone)]
struct Recorder {
    clock: Stopwatch,
    /// One per worker; the last one for threads outside.
    rings: Arc<[CachePadded<Mutex<Ring>>]>,
}

/// A trace as pools see it. They reach it by this trait alone, so that what a trace consists of is
/// in those programs alone that ask for one.
pub(crate) trait PoolTrace: Send + Sync {
    /// Makes room for the workers of a pool. `None` if there is one already.
    fn attach(&self, workers: usize) -> Option<Arc<dyn Record>>;

    /// Forgets the pool, which could not be built. What its workers have recorded, and still
    /// record, is dropped.
    fn detach(&self);

    /// Notes the name that a worker was given.
    fn set_worker_name(&self, worker: usize, name: &str);
}

/// A [`Recorder`] as pools see it: see [`PoolTrace`].
pub(crate) trait Record: Observer {
    /// Records what the calling thread does.
    fn record(&self, what: TraceEvent);

    /// Returns a number that no other trace's recorder has.
    fn id(&self) -> usize;

    /// Returns the same, for the sleep protocol.
    fn as_observer(&self) -> Arc<dyn Observer>;
}

/// One thing that happened.
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
    /// When, since the trace was made.
    pub at: Duration,
    /// The worker that did it; `None` for a thread outside the pool.
    pub worker: Option<usize>,
    /// What it did.
    pub what: TraceEvent,
}

/// What happened. A worker is active, idle, sleepy or asleep.
///
/// ```
/// use drowse::TraceEvent;
///
/// assert_eq!(TraceEvent::Stole { from: 3 }, TraceEvent::Stole { from: 3 });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TraceEvent {
    /// It searches for jobs.
    Idle,
    /// It will sleep if it does not find one at once.
    Sleepy,
    /// It blocks.
    Asleep,
    /// It was woken, and searches.
    Awake,
    /// It has stopped searching.
    Active,
    /// It wakes a worker.
    Woke {
        /// Whom.
        worker: usize,
        /// Why.
        reason: Reason,
    },
    /// It takes a job from another worker.
    Stole {
        /// From whom.
        from: usize,
    },
    /// It takes a job that came from outside.
    TookInjected,
    /// It begins to run a job that it has stolen, or that came from outside.
    Begin,
    /// It has run that job.
    End,
    /// It says that it blocks in the user's code.
    Blocked,
    /// It is about to be unblocked.
    Unblocked {
        /// Which one. (Whoever unblocks it says so.)
        worker: usize,
    },
}

/// How many events are kept of each worker, unless another number is chosen.
const CAPACITY: usize = 1 << 16;

impl Trace {
    /// A trace that keeps the last 65,536 events of each worker.
    ///
    /// ```
    /// assert!(drowse::Trace::new().drain().is_empty());
    /// ```
    #[allow(clippy::new_without_default)] // a trace has a beginning in time
    pub fn new() -> Self {
        Self::with_capacity(CAPACITY)
    }

    /// A trace that keeps this many of the last events of each worker, at least one.
    ///
    /// ```
    /// let trace = drowse::Trace::with_capacity(2);
    /// let pool = drowse::ThreadPoolBuilder::new().num_threads(1).trace(&trace).build().unwrap();
    /// (0..10).for_each(|_| pool.install(|| ()));
    /// assert!(trace.drain().len() <= 2 + 2); // of the worker, and of those outside
    /// ```
    pub fn with_capacity(events: usize) -> Self {
        let (clock, capacity) = (Stopwatch::start(), events.max(1));
        let (names, recorder) = (Names::new(), Mutex::new(None));
        Self { shared: Arc::new(Shared { clock, capacity, names, recorder }) }
    }

    /// Takes out what was recorded so far, in the order of time.
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

    /// How many events were dropped because a ring was full.
    ///
    /// ```
    /// assert_eq!(drowse::Trace::new().lost(), 0);
    /// ```
    pub fn lost(&self) -> u64 {
        self.rings().iter().map(|ring| ring.lock().lost()).sum()
    }

    /// Events as a file in Chrome's trace format, which [Perfetto](https://ui.perfetto.dev) and
    /// `chrome://tracing` show: one row per worker, under its [name](Self::worker_name) and
    /// coloured by state, with arrows for wake-ups and steals.
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

    /// What a worker of the pool is called: the name that
    /// [`ThreadPoolBuilder::thread_name`](crate::ThreadPoolBuilder::thread_name) gave it, or else
    /// its number.
    ///
    /// ```
    /// let trace = drowse::Trace::new();
    /// assert_eq!(trace.worker_name(3), "worker 3");
    /// ```
    pub fn worker_name(&self, worker: usize) -> String {
        self.shared.names.get(worker)
    }

    fn rings(&self) -> Arc<[CachePadded<Mutex<Ring>>]> {
        let recorder = self.shared.recorder.lock();
        recorder.as_ref().map_or_else(|| [].into(), |recorder| Arc::clone(&recorder.rings))
    }
}

impl PoolTrace for Trace {
    fn attach(&self, workers: usize) -> Option<Arc<dyn Record>> {
        let mut recorder = self.shared.recorder.lock();
        if recorder.is_some() {
            return None;
        }
        let ring = |_| CachePadded::new(Mutex::new(Ring::new(self.shared.capacity)));
        let rings = (0..=workers).map(ring).collect();
        let new = recorder.insert(Recorder { clock: self.shared.clock, rings });
        Some(Arc::new(new.clone()))
    }

    fn detach(&self) {
        *self.shared.recorder.lock() = None;
        self.shared.names.clear();
    }

    fn set_worker_name(&self, worker: usize, name: &str) {
        self.shared.names.set(worker, name);
    }
}

impl Record for Recorder {
    fn record(&self, what: TraceEvent) {
        let is_mine = |recorder: &dyn Record| recorder.id() == self.id();
        let records_here = |worker: &&WorkerThread| worker.registry().recorder().is_some_and(is_mine);
        let index = WorkerThread::with_current(|worker| worker.filter(records_here).map(WorkerThread::index));
        self.record_of(index, what);
    }

    fn id(&self) -> usize {
        self.rings.as_ptr().addr()
    }

    fn as_observer(&self) -> Arc<dyn Observer> {
        Arc::new(self.clone())
    }
}

impl Recorder {
    fn record_of(&self, worker: Option<usize>, what: TraceEvent) {
        let at = self.clock.elapsed();
        let ring = worker.map_or(self.rings.last(), |worker| self.rings.get(worker));
        if let Some(ring) = ring {
            ring.lock().push(TraceRecord { at, worker, what });
        }
    }
}

/// A worker tells of itself, except where it wakes another.
impl Observer for Recorder {
    fn idle(&self, worker: usize) {
        self.record_of(Some(worker), TraceEvent::Idle);
    }

    fn sleepy(&self, worker: usize) {
        self.record_of(Some(worker), TraceEvent::Sleepy);
    }

    fn asleep(&self, worker: usize) {
        self.record_of(Some(worker), TraceEvent::Asleep);
    }

    fn awake(&self, worker: usize) {
        self.record_of(Some(worker), TraceEvent::Awake);
    }

    fn active(&self, worker: usize) {
        self.record_of(Some(worker), TraceEvent::Active);
    }

    fn wake(&self, worker: usize, reason: Reason) {
        self.record(TraceEvent::Woke { worker, reason });
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
