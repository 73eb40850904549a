//! What the workers of one pool share.

use super::absent::Vacancies;
use super::alarm::with_alarm;
use super::ancestry::Ancestry;
use super::bound::Bound;
use super::context::Context;
use super::lineage::Lineage;
use super::outside::Outside;
use super::parcels::Parcels;
use super::places::Places;
use super::recruit::Recruiter;
use super::sites::Sites;
use super::spare::Spares;
use super::stall::{StallPlan, StallWatch};
use super::start::{Refused, StartPlan};
use super::trail::Trail;
use super::worker::WorkerThread;
use crate::TraceEvent;
use crate::deque::Stealer;
use crate::job::{JobFifo, JobHeader, JobRef};
use crate::latch::OnceLatch;
use crate::metrics::{Metrics, WorkMeter};
use crate::report::Deadlock;
use crate::trace::Record;
use crate::unwind::{self, Payload};
use drowse_sleep::{Reason, Sleep, Waker};
use drowse_sync::atomic::{AtomicPtr, AtomicUsize};
use drowse_sync::{Arc, CachePadded, Counter, OnceLock, Outlined, Queue, Table, look, say};
use std::fmt;
use std::process;
use std::ptr;
use std::time::Duration;

/// One pool: its workers' shared parts, the injector, the sleep protocol, and the user's handlers.
pub(crate) struct Registry {
    /// One a seat: those of spares are made when they are needed.
    pub(super) threads: Table<ThreadInfo>,
    /// Jobs from threads that are not workers of this pool.
    pub(super) injector: CachePadded<Queue<JobRef>>,
    pub(crate) sleep: Sleep,
    /// Not zero if somebody insists on a job in the injector.
    pub(super) overdue: Counter,
    /// Not zero if jobs from outside have waited long for their turn, lately.
    pub(super) slow_starts: Counter,
    /// Where jobs come from.
    pub(super) sites: Sites,
    pub(super) spares: Spares,
    pub(super) places: Places,
    /// Whether all jobs are isolated, always.
    pub(super) isolates: bool,
    /// How many workers are in a region that is.
    pub(super) isolated_regions: Counter,
    /// How many jobs are run that have [ancestors](super::ancestry) in other pools.
    pub(super) with_ancestors: Counter,
    /// Jobs that were stolen by mistake.
    pub(super) returned: Parcels,
    /// How many things the pool must outlive: its handle, and each job that nobody waits for.
    pub(super) reasons_to_live: CachePadded<AtomicUsize>,
    /// The jobs under way that were spawned with a bound.
    pub(crate) spawned: CachePadded<Bound>,
    /// Workers take the oldest of their own jobs, not the newest, where they are free to choose.
    pub(super) oldest_first: bool,
    recorder: Option<Arc<dyn Record>>,
    pub(super) handlers: Arc<Outlined<Handlers>>,
    pub(crate) recruiter: Arc<Recruiter>,
    /// Ends when this is dropped.
    pub(super) stall_watch: OnceLock<StallWatch>,
    /// For the stall watch, if there is one.
    pub(super) outside: Option<Outside>,
    /// If workers may be without a thread.
    pub(super) vacancies: Option<Arc<Vacancies>>,
}

/// What a registry is made of, beside its workers.
pub(super) struct RegistryParts {
    pub(super) sleep: Sleep,
    pub(super) oldest_first: bool,
    pub(super) isolates: bool,
    pub(super) recorder: Option<Arc<dyn Record>>,
    pub(super) handlers: Arc<Outlined<Handlers>>,
    pub(super) recruiter: Arc<Recruiter>,
    pub(super) spares: Spares,
    pub(super) vacancies: Option<Arc<Vacancies>>,
}

/// The part of a worker that others see.
#[derive(Debug)]
pub(super) struct ThreadInfo {
    /// Set when the pool ends.
    pub(super) terminate: OnceLatch,
    /// The thieves' end of its deque.
    pub(super) stealer: Stealer<JobHeader>,
    /// Jobs for this worker and no other.
    pub(super) broadcasts: Parcels,
    /// Jobs spawned on this worker, to be begun in order.
    pub(super) fifo: JobFifo,
    pub(super) meter: CachePadded<WorkMeter>,
    /// The worker itself, for a guest that takes its seat; null until it runs.
    pub(super) seat: AtomicPtr<WorkerThread>,
    /// What it is in the middle of.
    pub(super) lineage: Lineage,
    pub(super) ancestry: Ancestry,
    /// What is known of it by those who ask why nothing moves.
    pub(super) trail: CachePadded<Trail>,
}

impl ThreadInfo {
    /// Of a worker with this thieves' end.
    pub(super) fn new(stealer: Stealer<JobHeader>) -> Self {
        Self {
            terminate: OnceLatch::new(),
            stealer,
            broadcasts: Parcels::new(),
            fifo: JobFifo::new(),
            meter: CachePadded::new(WorkMeter::default()),
            seat: AtomicPtr::new(ptr::null_mut()),
            lineage: Lineage::new(),
            ancestry: Ancestry::new(),
            trail: CachePadded::new(Trail::default()),
        }
    }
}

type DeadlockHandler = dyn Fn(&Deadlock) + Send + Sync;

/// The user's closures that the workers call.
#[derive(Default)]
pub(crate) struct Handlers {
    pub(crate) panic: Option<Box<dyn Fn(Payload) + Send + Sync>>,
    pub(crate) start: Option<Box<dyn Fn(usize) + Send + Sync>>,
    pub(crate) exit: Option<Box<dyn Fn(usize) + Send + Sync>>,
    pub(crate) deadlock: Option<Box<DeadlockHandler>>,
    /// How long the pool must have stood still; `None`: the default.
    pub(crate) deadlock_after: Option<Duration>,
    pub(crate) stall: Option<StallPlan>,
    pub(crate) acquire_thread: Option<Box<dyn Fn() + Send + Sync>>,
    pub(crate) release_thread: Option<Box<dyn Fn() + Send + Sync>>,
    pub(crate) context: Option<Box<dyn Context>>,
}

/// Tells pools apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RegistryId(usize);

impl Registry {
    /// A registry with these thieves' ends, one per worker. Starts no thread.
    pub(super) fn new(stealers: Vec<Stealer<JobHeader>>, parts: RegistryParts) -> Arc<Self> {
        let RegistryParts { sleep, oldest_first, isolates, recorder, handlers, recruiter, .. } = parts;
        let RegistryParts { spares, vacancies, .. } = parts;
        let threads = Table::new(stealers.into_iter().map(ThreadInfo::new), sleep.seats());
        let places = Places::new(sleep.workers());
        let registry = Arc::new_cyclic(|this| Self {
            sleep: with_alarm(sleep, &handlers, &recruiter, this),
            stall_watch: OnceLock::new(),
            outside: handlers.stall.as_ref().and_then(|plan| plan.after).map(|_| Outside::new()),
            threads,
            injector: CachePadded::new(Queue::new()),
            overdue: Counter::new(),
            slow_starts: Counter::new(),
            sites: Sites::new(),
            places,
            spares,
            isolates,
            isolated_regions: Counter::new(),
            with_ancestors: Counter::new(),
            returned: Parcels::new(),
            reasons_to_live: CachePadded::new(AtomicUsize::new(1)),
            spawned: CachePadded::new(Bound::new()),
            oldest_first,
            recorder,
            handlers,
            recruiter,
            vacancies,
        });
        registry.watch_for_stalls();
        registry
    }

    /// Builds a pool as planned. On an error, the threads that were started end again.
    pub(crate) fn build(plan: StartPlan<'_>) -> Result<Arc<Self>, Refused> {
        plan.start()
    }

    pub(crate) fn id(&self) -> RegistryId {
        RegistryId(std::ptr::from_ref(self).addr())
    }

    pub(crate) fn num_threads(&self) -> usize {
        self.sleep.workers()
    }

    /// How many workers there can be, spares among them: those come last.
    pub(crate) fn num_seats(&self) -> usize {
        self.threads.most()
    }

    /// Calls `f` with the worker that this thread is, if it is one of this pool.
    pub(crate) fn with_worker<R>(&self, f: impl FnOnce(Option<&WorkerThread>) -> R) -> R {
        WorkerThread::with_current(|worker| f(worker.filter(|worker| worker.registry().id() == self.id())))
    }

    /// The latch of this worker was set, by the calling thread: wakes the worker if it `slept` on
    /// it.
    #[inline]
    pub(crate) fn wake_owner(&self, owner: usize, slept: bool, reason: Reason) {
        self.sleep.latch_set(owner, slept, reason, || self.waker());
    }

    /// What becomes of the calling thread after it has woken a worker.
    fn waker(&self) -> Waker {
        self.with_worker(|worker| match worker {
            Some(worker) if !worker.deque_is_empty() || self.sleep.would_keep_watch(worker.index()) => {
                Waker::GoesOn
            }
            _ => Waker::MayStop,
        })
    }

    /// Whether some queue holds a job that anyone may take.
    pub(super) fn work_visible(&self) -> bool {
        // A worker that sleeps has emptied its deque before, and the caller's fence, or its acquire
        // of the word, shows whether it was woken since.
        let has_jobs = |(worker, thread): (usize, &ThreadInfo)| {
            !self.sleep.is_asleep(worker) && !thread.stealer.is_empty()
        };
        !self.injector.is_empty()
            || self.returned.are_there()
            || self.threads.iter().take(self.sleep.seats_in_use()).enumerate().any(has_jobs)
    }

    /// Whether a broadcast has left a job for this worker, which nobody else can run.
    pub(super) fn has_letter(&self, worker: usize) -> bool {
        look!("engine/letter-overlooked", self.threads[worker].broadcasts.are_there())
    }

    /// What the workers have done so far.
    pub(crate) fn metrics(&self) -> Metrics {
        let read = |index: usize| self.threads[index].meter.read(self.sleep.metrics(index));
        Metrics {
            protocol: self.sleep.protocol(),
            workers: (0..self.num_threads()).map(read).collect(),
            spares: (self.num_threads()..self.sleep.seats_in_use()).map(read).collect(),
            loans: self.spares.metrics(),
        }
    }

    pub(crate) fn recorder(&self) -> Option<&dyn Record> {
        self.recorder.as_deref()
    }

    /// Records what the calling thread does, if the pool has a trace.
    pub(crate) fn record(&self, what: TraceEvent) {
        if let Some(recorder) = &self.recorder {
            self.record_with(&**recorder, what);
        }
    }

    #[cold]
    #[inline(never)]
    fn record_with(&self, recorder: &dyn Record, what: TraceEvent) {
        // In a forked child a thread of the parent may have the lock of a ring.
        if !self.is_left_behind() {
            recorder.record(what);
        }
    }

    /// The thread that calls this is going to run: it takes up a place. A worker that calls this is
    /// inactive and must not push, so the handler runs as on a thread outside.
    ///
    /// In a forked child it is not called: it counts the threads of the parent.
    pub(super) fn acquire_thread(&self) {
        if let Some(acquire) = self.handlers.acquire_thread.as_ref().filter(|_| !self.is_left_behind()) {
            self.call_as_non_worker(acquire);
        }
    }

    /// The thread that calls this is going to block: its place is free. The handler runs as for
    /// [`acquire_thread`](Self::acquire_thread).
    pub(super) fn release_thread(&self) {
        if let Some(release) = self.handlers.release_thread.as_ref().filter(|_| !self.is_left_behind()) {
            self.call_as_non_worker(release);
        }
    }

    /// Whether this is a forked child, and the workers are in its parent.
    pub(crate) fn is_left_behind(&self) -> bool {
        self.sleep.is_left_behind()
    }

    /// Must be called before a thread outside gives workers anything.
    ///
    /// # Panics
    ///
    /// In a forked child, if the pool was made before.
    pub(crate) fn assert_here(&self) {
        assert!(
            !self.is_left_behind(),
            "this thread pool was made before fork(), and its threads are not in this process: make a new one here, or use \
             the global one, which starts anew"
        );
    }

    /// Waits, on a thread that does not run jobs meanwhile: it takes up no place.
    pub(crate) fn wait_outside<R>(&self, wait: impl FnOnce() -> R) -> R {
        self.with_worker(|worker| worker.into_iter().for_each(WorkerThread::assert_settled));
        self.release_thread();
        let _back = TakesUpRoom { registry: self };
        wait()
    }

    /// A thread becomes the worker of this index, for the first time.
    pub(super) fn call_start_handler(&self, index: usize) {
        if let Some(start) = &self.handlers.start {
            self.call_handler(&|| start(index));
        }
    }

    /// A thread ends that was the worker of this index.
    pub(super) fn call_exit_handler(&self, index: usize) {
        if let Some(exit) = &self.handlers.exit {
            self.call_handler(&|| exit(index));
        }
    }

    /// Calls the user's code where no caller waits for it: see [`panicked`](Self::panicked).
    #[inline]
    pub(crate) fn catch_unwind(&self, f: impl FnOnce()) {
        if let Err(payload) = unwind::halt_unwinding(f) {
            self.panicked(payload);
        }
    }

    /// Calls a handler on a thread that is no worker meanwhile.
    #[cold]
    #[inline(never)]
    fn call_as_non_worker(&self, handler: &(dyn Fn() + Send + Sync)) {
        WorkerThread::as_non_worker(|| self.catch_unwind(handler));
    }

    /// Calls a handler, as [`catch_unwind`](Self::catch_unwind).
    #[cold]
    #[inline(never)]
    pub(super) fn call_handler(&self, handler: &dyn Fn()) {
        self.catch_unwind(handler);
    }

    /// A job that no caller waits for has panicked, or a handler: tells the panic handler. Without
    /// one, or if it panics too, the process aborts.
    #[cold]
    #[inline(never)]
    pub(crate) fn panicked(&self, payload: Payload) {
        let Some(handler) = &self.handlers.panic else {
            say(format_args!(
                "drowse: a spawned job or a handler panicked, and the pool has no panic handler \
                 (ThreadPoolBuilder::panic_handler); aborting"
            ));
            process::abort();
        };
        // A panic of the handler has nowhere to go.
        unwind::or_abort(|| handler(payload));
    }
}

/// A thread that waits takes up a place again, also if it was for a panic.
struct TakesUpRoom<'r> {
    registry: &'r Registry,
}

impl Drop for TakesUpRoom<'_> {
    fn drop(&mut self) {
        self.registry.acquire_thread();
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry")
            .field("id", &self.id())
            .field("num_threads", &self.num_threads())
            .finish_non_exhaustive()
    }
}
