//! Registry: the state that the workers of one pool share.

use super::absent::Callbacks;
use super::ancestry::Ancestry;
use super::bench::Bench;
use super::bound::Bound;
use super::context::Context;
use super::isolation::PoolIsolation;
use super::lineage::Lineage;
use super::parcels::Parcels;
use super::push::after_slow_push;
use super::recruit::Recruiter;
use super::sites::Callers;
use super::worker::WorkerThread;
use crate::deque::{self, Stealer};
use crate::diagnose::Probe;
use crate::job::{JobFifo, JobHeader, JobRef};
use crate::metrics::{Metrics, WorkMeter};
use crate::unwind::{self, Payload};
use drowse_sleep::{LatchWord, Posters, Reason, Sleep, Starter, Waker};
use drowse_sync::atomic::AtomicUsize;
use drowse_sync::{Arc, CachePadded, Counter, Outlined, Prepared, Queue, Table, look, say};
use std::fmt;
use std::process;
use std::time::Duration;

/// State of one pool: the shared parts of its workers, the injector, the sleep protocol, handlers.
pub(crate) struct Registry {
    /// One entry a seat; those of spares are made on demand.
    pub(super) threads: Table<ThreadInfo>,
    /// Jobs from threads that are not workers of this pool.
    pub(super) injector: CachePadded<Queue<JobRef>>,
    pub(crate) sleep: Sleep,
    pub(super) callers: Callers,
    pub(super) bench: Bench,
    pub(super) isolation: PoolIsolation,
    /// Number of reasons to live: the pool's handle, and each job without a waiting caller.
    pub(super) reasons_to_live: CachePadded<AtomicUsize>,
    /// Jobs under way that were spawned with a bound.
    pub(crate) spawned: CachePadded<Bound>,
    /// Workers that may choose take the oldest of their own jobs, not the newest.
    pub(super) oldest_first: bool,
    pub(crate) probe: Probe,
    pub(super) handlers: Arc<Outlined<Handlers>>,
    pub(crate) recruiter: Arc<Recruiter>,
    /// Light fences were prepared for all deques.
    prepared: Prepared,
}

/// Construction parameters of a [`Registry`].
pub(super) struct RegistryParts {
    pub(super) sleep: Sleep,
    pub(super) oldest_first: bool,
    pub(super) isolates: bool,
    pub(super) probe: Probe,
    pub(super) handlers: Arc<Outlined<Handlers>>,
    pub(super) recruiter: Arc<Recruiter>,
    pub(super) adopts_caller: bool,
    pub(super) prepared: Prepared,
    /// Number of workers that always have a thread, and time that others sleep before their threads
    /// leave; if some may be without a thread.
    pub(super) absence: Option<(usize, Option<Duration>)>,
}

/// Parameters of the cores of a pool.
#[derive(Clone, Copy)]
pub(super) struct CorePlan {
    /// The registry that owns them, which may not be complete yet.
    pub(super) registry: *const Registry,
    pub(super) num_threads: usize,
    pub(super) adopts_caller: bool,
    pub(super) isolates: bool,
    pub(super) has_context: bool,
    prepared: Prepared,
}

/// Initial capacity of a worker's deque, which grows as needed. (A model pays for each slot.)
const DEQUE_CAPACITY: usize = if cfg!(drowse_loom) { 2 } else { 64 };

/// A seat: the core of a worker, and what other threads see of it.
#[derive(Debug)]
pub(super) struct ThreadInfo {
    core: Core,
    /// Set once, when the pool ends: the worker waits for it in its main loop.
    pub(super) terminate: LatchWord,
    /// Thieves' end of its deque.
    pub(super) stealer: Stealer<JobHeader>,
    /// Letters: jobs for this worker only.
    pub(super) broadcasts: Parcels,
    /// Jobs spawned on this worker, to be begun in order.
    pub(super) fifo: JobFifo,
    pub(super) meter: CachePadded<WorkMeter>,
    /// Which job it is in the middle of, for waits in isolation.
    pub(super) lineage: Lineage,
    pub(super) ancestry: Ancestry,
    /// Number of its thread, as the system knows it; 0 until the thread has begun.
    pub(super) thread: Counter,
}

/// The core of a seat, which one thread at a time has.
#[derive(Debug)]
struct Core(Box<CachePadded<WorkerThread>>);

// SAFETY: only `Registry::core` reads it, whose caller has the core.
unsafe impl Sync for Core {}
// SAFETY: it belongs to no thread once the thread that had it has put its things away (`tidy_up`).
unsafe impl Send for Core {}

impl ThreadInfo {
    pub(super) fn new(index: usize, plan: &CorePlan) -> Self {
        let (owner, stealer) = deque::new(index, DEQUE_CAPACITY, plan.prepared);
        let core = WorkerThread::new(index, owner.with_hook(after_slow_push), plan);
        Self {
            core: Core(Box::new(CachePadded::new(core))),
            terminate: LatchWord::new(),
            stealer,
            broadcasts: Parcels::new(),
            fifo: JobFifo::new(),
            meter: CachePadded::new(WorkMeter::default()),
            lineage: Lineage::new(),
            ancestry: Ancestry::new(),
            thread: Counter::new(),
        }
    }
}

/// Closures of the user that workers call.
#[derive(Default)]
pub(crate) struct Handlers {
    pub(crate) panic: Option<Box<dyn Fn(Payload) + Send + Sync>>,
    pub(crate) start: Option<Box<dyn Fn(usize) + Send + Sync>>,
    pub(crate) exit: Option<Box<dyn Fn(usize) + Send + Sync>>,
    pub(crate) acquire_thread: Option<Box<dyn Fn() + Send + Sync>>,
    pub(crate) release_thread: Option<Box<dyn Fn() + Send + Sync>>,
    pub(crate) context: Option<Box<dyn Context>>,
}

/// Identity of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RegistryId(usize);

impl Registry {
    /// Returns a registry without threads.
    pub(super) fn new(parts: RegistryParts) -> Arc<Self> {
        let RegistryParts { sleep, oldest_first, isolates, probe, handlers, .. } = parts;
        let RegistryParts { recruiter, adopts_caller, prepared, absence, .. } = parts;
        let num_threads = sleep.workers();
        let bench = Bench::new(num_threads, sleep.seats() - num_threads);
        let registry = Arc::new_cyclic(|this| {
            let plan = CorePlan {
                registry: this.as_ptr(),
                num_threads,
                adopts_caller,
                isolates,
                has_context: handlers.context.is_some(),
                prepared,
            };
            let threads =
                Table::new(num_threads, sleep.seats(), |index| ThreadInfo::new(index, &plan));
            let callbacks = Arc::new(Callbacks::of(plan.registry));
            let mut sleep = sleep.with_posters(Arc::clone(&callbacks) as Arc<dyn Posters>);
            if let Some((stay, idle_timeout)) = absence {
                sleep = sleep.with_absence(callbacks as Arc<dyn Starter>, stay, idle_timeout);
            }
            Self {
                sleep: probe.watch(sleep, this),
                threads,
                injector: CachePadded::new(Queue::new()),
                callers: Callers::new(),
                bench,
                isolation: PoolIsolation::new(isolates),
                reasons_to_live: CachePadded::new(AtomicUsize::new(1)),
                spawned: CachePadded::new(Bound::new()),
                oldest_first,
                probe,
                handlers,
                recruiter,
                prepared,
            }
        });
        registry.probe.begin(&registry);
        registry
    }

    pub(crate) fn id(&self) -> RegistryId {
        RegistryId(std::ptr::from_ref(self).addr())
    }

    pub(crate) fn num_threads(&self) -> usize {
        self.sleep.workers()
    }

    /// Returns the core of a seat.
    ///
    /// # Safety
    ///
    /// The calling thread must have the core: no other thread uses it until this one has left it,
    /// and it was left before.
    pub(super) unsafe fn core(&self, seat: usize) -> &WorkerThread {
        &self.threads[seat].core.0
    }

    /// Makes a spare seat, and others beside it, unless it was made before.
    pub(super) fn make_seat(self: &Arc<Self>, seat: usize) {
        let plan = CorePlan {
            registry: Arc::as_ptr(self),
            num_threads: self.num_threads(),
            adopts_caller: false,
            isolates: self.isolation.everywhere,
            has_context: self.has_context(),
            prepared: self.prepared,
        };
        self.threads.get_or_grow(seat, |seat| ThreadInfo::new(seat, &plan));
    }

    /// Returns the highest number of workers, including spares, whose indices come last.
    pub(crate) fn num_seats(&self) -> usize {
        self.threads.most()
    }

    /// Calls `f` with the worker that the calling thread is, if it is one of this pool.
    pub(crate) fn with_worker<R>(&self, f: impl FnOnce(Option<&WorkerThread>) -> R) -> R {
        WorkerThread::with_current(|worker| {
            f(worker.filter(|worker| worker.registry().id() == self.id()))
        })
    }

    /// Wakes the worker `owner`, whose latch the calling thread has set, if it `slept` on that.
    #[inline]
    pub(crate) fn wake_owner(&self, owner: usize, slept: bool, reason: Reason) {
        self.sleep.latch_set(owner, slept, reason, || self.waker());
    }

    /// Returns what the calling thread does after it has woken a worker.
    fn waker(&self) -> Waker {
        self.with_worker(|worker| match worker {
            Some(worker)
                if !worker.deque_is_empty() || self.sleep.would_keep_watch(worker.index()) =>
            {
                Waker::GoesOn
            }
            _ => Waker::MayStop,
        })
    }

    /// Returns `true` if some queue holds a job that any worker may take.
    pub(super) fn work_visible(&self) -> bool {
        // The deque of a sleeping worker is empty. The caller's fence, or its acquire of the word,
        // shows whether the worker was woken since.
        let has_jobs = |(worker, thread): (usize, &ThreadInfo)| {
            !self.sleep.is_asleep(worker) && !thread.stealer.is_empty()
        };
        !self.injector.is_empty()
            || self.isolation.returned.are_there()
            || self.threads.iter().take(self.sleep.seats_in_use()).enumerate().any(has_jobs)
    }

    /// Returns `true` if a broadcast has left a job for this worker, which no other worker can run.
    pub(super) fn has_letter(&self, worker: usize) -> bool {
        look!("engine/letter-overlooked", self.threads[worker].broadcasts.are_there())
    }

    pub(crate) fn metrics(&self) -> Metrics {
        let read = |index: usize| self.threads[index].meter.read(self.sleep.metrics(index));
        Metrics {
            protocol: self.sleep.protocol(),
            workers: (0..self.num_threads()).map(read).collect(),
            spares: (self.num_threads()..self.sleep.seats_in_use()).map(read).collect(),
            loans: self.bench.metrics(),
        }
    }

    /// Calls the handler for a thread that is going to run. A worker that calls this is inactive
    /// and must not push, so the handler runs as on a thread outside.
    pub(super) fn acquire_thread(&self) {
        self.call_as_non_worker(self.handlers.acquire_thread.as_deref());
    }

    /// Calls the handler for a thread that is going to block, in the way of
    /// [`acquire_thread`](Self::acquire_thread).
    #[inline(never)]
    pub(super) fn release_thread(&self) {
        self.call_as_non_worker(self.handlers.release_thread.as_deref());
    }

    /// Calls the handler for a thread that is going to block, and only serves the pool.
    #[inline(never)]
    pub(super) fn release_own_thread(&self) {
        self.release_thread();
        self.abort_if_left_behind();
    }

    /// Returns `true` in a forked child whose parent has the workers.
    pub(crate) fn is_left_behind(&self) -> bool {
        self.sleep.is_left_behind()
    }

    /// Aborts in a forked child whose parent has the workers: where the thread is going to wait, or
    /// only serves the pool, after code of the user's that may have forked.
    pub(crate) fn abort_if_left_behind(&self) {
        if self.is_left_behind() {
            abort_in_forked_child();
        }
    }

    /// Checks that the workers are in this process, before a thread outside gives them anything.
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

    /// Calls `wait`, in which the thread runs no jobs, between the release and acquire handlers.
    pub(crate) fn wait_outside<R>(&self, wait: impl FnOnce() -> R) -> R {
        self.with_worker(|worker| worker.into_iter().for_each(WorkerThread::assert_settled));
        self.release_thread();
        let _back = TakesUpRoom { registry: self };
        wait()
    }

    /// Calls the start handler on a thread that becomes this worker for the first time.
    #[inline(never)]
    pub(super) fn call_start_handler(&self, index: usize) {
        if let Some(start) = &self.handlers.start {
            self.call_handler(&|| start(index));
        }
    }

    /// Calls the exit handler on a thread that was this worker, and ends.
    #[inline(never)]
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

    /// Calls a handler on a thread that counts as no worker meanwhile. Does nothing in a forked
    /// child: the handler counts the threads of the parent.
    #[inline(never)]
    fn call_as_non_worker(&self, handler: Option<&(dyn Fn() + Send + Sync)>) {
        if let Some(handler) = handler.filter(|_| !self.is_left_behind()) {
            WorkerThread::as_non_worker(|| self.catch_unwind(handler));
        }
    }

    /// Calls a handler through [`catch_unwind`](Self::catch_unwind), on a thread that only serves
    /// the pool.
    #[cold]
    #[inline(never)]
    pub(super) fn call_handler(&self, handler: &dyn Fn()) {
        self.catch_unwind(handler);
        self.abort_if_left_behind();
    }

    /// Gives the panic of a handler, or of a job without a waiting caller, to the panic handler.
    /// Without one, or if it panics too, the process aborts.
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
        unwind::or_abort(|| handler(payload));
    }
}

/// Aborts the process: a worker in a forked child waits for something that only other workers could
/// do, and they are in the parent.
#[cold]
fn abort_in_forked_child() -> ! {
    say(format_args!(
        "drowse: a job or a handler has called fork(), and what its child would wait for now is done by threads that are not in the \
         child; aborting it (let the child call exec or _exit inside of the job, or fork outside of thread pools)"
    ));
    process::abort();
}

/// Guard of `wait_outside`: calls the acquire handler, also on a panic.
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
