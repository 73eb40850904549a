//! Counts of what the workers of a pool have done: always on, never on the hot path.

mod table;

use drowse_sleep::SleepMetrics;
use drowse_sync::Counter;
use std::iter;

/// Counts that a worker keeps of its searches. Only the worker writes them.
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

/// Counts of what the workers of a pool had done at one moment. See
/// [`ThreadPool::metrics`](crate::ThreadPool::metrics).
///
/// Each count is exact on its own. But the workers go on while their counts are read, so two counts
/// may not fit together exactly.
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
    /// Name of the sleep protocol.
    pub protocol: &'static str,
    /// Counts of each worker.
    pub workers: Vec<WorkerMetrics>,
    /// Counts of each spare, that is, of the threads that stood in for workers that blocked.
    pub spares: Vec<WorkerMetrics>,
    /// Counts of loans.
    pub loans: LoanMetrics,
}

/// Counts of places lent by workers that blocked. See [`blocking`](crate::blocking).
///
/// ```
/// let pool = drowse::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
/// pool.install(|| drowse::blocking(|| ()));
/// let loans = pool.metrics().loans;
/// assert_eq!((loans.made, loans.refused, loans.threads_started), (1, 0, 1));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoanMetrics {
    /// Times that a worker was about to block and a spare took its place.
    pub made: u64,
    /// Times that a worker was about to block and there was no spare.
    pub refused: u64,
    /// Threads that were started as spares.
    pub threads_started: u64,
}

impl Metrics {
    /// Returns the sum over all workers and spares.
    ///
    /// ```
    /// let pool = drowse::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    /// assert_eq!(pool.metrics().total().injected, 0);
    /// ```
    pub fn total(&self) -> WorkerMetrics {
        let mut total = WorkerMetrics::default();
        for worker in self.workers.iter().chain(&self.spares) {
            total.searches += worker.searches;
            total.steals += worker.steals;
            total.injected += worker.injected;
            total.heavy_fences += worker.heavy_fences;
            total.sleep += worker.sleep;
        }
        total
    }

    /// Returns what was done since `earlier`, which must be of the same pool.
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
        let none = WorkerMetrics::default();
        let since = |now: &[WorkerMetrics], then: &[WorkerMetrics]| {
            let then = then.iter().chain(iter::repeat(&none));
            now.iter().zip(then).map(|(now, then)| now.since(then)).collect()
        };
        Self {
            protocol: self.protocol,
            workers: since(&self.workers, &earlier.workers),
            spares: since(&self.spares, &earlier.spares),
            loans: LoanMetrics {
                made: self.loans.made.saturating_sub(earlier.loans.made),
                refused: self.loans.refused.saturating_sub(earlier.loans.refused),
                threads_started: self
                    .loans
                    .threads_started
                    .saturating_sub(earlier.loans.threads_started),
            },
        }
    }
}

/// Counts of one worker, or of all of them together.
///
/// ```
/// let pool = drowse::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
/// pool.install(|| ());
/// let worker = pool.metrics().workers[0];
/// assert_eq!((worker.injected, worker.steals), (1, 0)); // there is no other worker to steal from
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
    /// Times that the worker had the system execute a fence on all processors that run the process,
    /// in order to steal or to sleep. That takes some microseconds, on a virtual machine tens of
    /// them. 0 where the system cannot do that. If there are too many, the workers do without for a
    /// while.
    pub heavy_fences: u64,
    /// Counts of the worker's sleep.
    pub sleep: SleepMetrics,
}

impl WorkerMetrics {
    fn since(&self, then: &Self) -> Self {
        Self {
            searches: self.searches.saturating_sub(then.searches),
            steals: self.steals.saturating_sub(then.steals),
            injected: self.injected.saturating_sub(then.injected),
            heavy_fences: self.heavy_fences.saturating_sub(then.heavy_fences),
            sleep: self.sleep.since(&then.sleep),
        }
    }
}
