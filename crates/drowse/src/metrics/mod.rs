//! What the workers of a pool have done: always counted, never on the hot path.

mod table;

use drowse_sleep::SleepMetrics;
use drowse_sync::Counter;

/// The counts that a worker keeps of its searches. It alone writes them.
#[derive(Debug, Default)]
pub(crate) struct WorkMeter {
    pub(crate) searches: Counter,
    pub(crate) steals: Counter,
    pub(crate) injected: Counter,
    pub(crate) heavy_fences: Counter,
}

impl WorkMeter {
    pub(crate) fn read(&self, sleep: SleepMetrics) -> WorkerMetrics {
        WorkerMetrics {
            searches: self.searches.get(),
            steals: self.steals.get(),
            injected: self.injected.get(),
            heavy_fences: self.heavy_fences.get(),
            sleep,
        }
    }
}

/// What the workers of a pool had done at one moment. See
/// [`ThreadPool::metrics`](crate::ThreadPool::metrics).
///
/// Each count is true on its own; since the workers go on while they are read, two counts may not
/// fit together exactly.
///
/// ```
/// use drowse::Reason;
///
/// let pool = drowse::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
/// let answers = pool.broadcast(|context| context.index());
/// assert_eq!(answers, [0, 1]);
/// let metrics = pool.metrics();
/// assert_eq!(metrics.workers.len(), 2);
/// assert!(metrics.total().sleep.wakes(Reason::Broadcast) <= 2);
/// println!("{metrics}");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metrics {
    /// The name of the sleep protocol.
    pub protocol: &'static str,
    /// Each worker's share.
    pub workers: Vec<WorkerMetrics>,
}

impl Metrics {
    /// All workers together.
    ///
    /// ```
    /// let pool = drowse::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    /// assert_eq!(pool.metrics().total().injected, 0);
    /// ```
    pub fn total(&self) -> WorkerMetrics {
        let mut total = WorkerMetrics::default();
        for worker in &self.workers {
            total.searches += worker.searches;
            total.steals += worker.steals;
            total.injected += worker.injected;
            total.heavy_fences += worker.heavy_fences;
            total.sleep += worker.sleep;
        }
        total
    }

    /// What was done since `earlier`, which must be of the same pool.
    ///
    /// ```
    /// let pool = drowse::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    /// let before = pool.metrics();
    /// pool.install(|| ());
    /// pool.install(|| ());
    /// assert_eq!(pool.metrics().since(&before).total().injected, 2);
    /// ```
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let workers = self.workers.iter().zip(&earlier.workers).map(|(now, then)| WorkerMetrics {
            searches: now.searches.saturating_sub(then.searches),
            steals: now.steals.saturating_sub(then.steals),
            injected: now.injected.saturating_sub(then.injected),
            heavy_fences: now.heavy_fences.saturating_sub(then.heavy_fences),
            sleep: now.sleep.since(&then.sleep),
        });
        Self { protocol: self.protocol, workers: workers.collect() }
    }
}

/// What one worker, or all of them, have done.
///
/// ```
/// let pool = drowse::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
/// pool.install(|| ());
/// let worker = pool.metrics().workers[0];
/// assert_eq!((worker.injected, worker.steals), (1, 0)); // it has nobody to steal from
/// assert!(worker.searches >= 1);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerMetrics {
    /// Searches of all queues, by a worker that had run out of its own jobs.
    pub searches: u64,
    /// Jobs taken from other workers.
    pub steals: u64,
    /// Jobs taken that came from outside the pool.
    pub injected: u64,
    /// Times that it had the system execute a fence on all processors that run the process, to
    /// steal or to sleep: some microseconds, and tens of them on a virtual machine. There are none
    /// where the system cannot do that; and if there are too many, the workers do without, for a
    /// while.
    pub heavy_fences: u64,
    /// How it slept.
    pub sleep: SleepMetrics,
}
