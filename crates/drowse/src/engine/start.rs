//! How a pool begins.

use super::absent::Vacancies;
use super::current::IsCurrent;
use super::recruit::{Presence, Recruiter};
use super::registry::{Handlers, Registry, RegistryParts};
use super::spare::Spares;
use super::turns::after_slow_push;
use super::worker::WorkerThread;
use crate::deque::{self, Owner, Stealer};
use crate::job::{JobHeader, Slabs};
use crate::trace::Record;
use crate::unwind::{self, Payload};
use drowse_sleep::{Host, Policy, Posters, Sleep, SleepProtocol, Starter, Steering};
use drowse_sync::atomic::Ordering;
use drowse_sync::{Arc, CachePadded, LightFences, Outlined, Prepared, Table};
use std::fmt;
use std::io;
use std::mem;
use std::ptr::{self, NonNull};
use std::time::Duration;

/// Where a worker's deque starts; it grows as needed. (A model pays for each slot.)
const DEQUE_CAPACITY: usize = if cfg!(drowse_loom) { 2 } else { 64 };

/// Everything needed to start a pool.
pub(crate) struct StartPlan<'a> {
    pub(crate) num_threads: usize,
    /// The calling thread becomes worker 0. It must not be a worker yet.
    pub(crate) use_current_thread: bool,
    pub(crate) protocol: SleepProtocol,
    pub(crate) policy: Policy,
    pub(crate) steering: Steering,
    pub(crate) oldest_first: bool,
    /// Whether workers that wait run nothing but what they wait for.
    pub(crate) isolates: bool,
    /// How many threads may stand in for workers that block.
    pub(crate) max_spare_threads: usize,
    /// Whether threads outside may take the seats of workers that sleep.
    pub(crate) guests: bool,
    pub(crate) recorder: Option<Arc<dyn Record>>,
    pub(crate) handlers: Arc<Outlined<Handlers>>,
    pub(crate) recruiter: Recruiter,
    /// Names the thread of a worker. Asked before the thread is started; when the pool is built, if
    /// it is started later.
    pub(crate) name: &'a mut NameWorker<'a>,
    /// Whether all threads are started now. Otherwise, when they are needed.
    pub(crate) is_eager: bool,
    /// How long a worker sleeps before its thread leaves.
    pub(crate) idle_timeout: Option<Duration>,
    /// Starts a thread that calls [`run_worker`] with these parts.
    pub(crate) spawn: &'a mut dyn FnMut(ThreadBuilderParts) -> io::Result<()>,
}

/// Why there is no pool.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) cause: Cause,
    /// Workers that there would have been. Their threads end again, which can be waited for.
    pub(crate) started: usize,
    pub(crate) recruiter: Arc<Recruiter>,
}

/// Returns the name of a worker's thread, if it has one. `Err`: a name that the system cannot take.
type NameWorker<'a> = dyn FnMut(usize) -> Result<Option<String>, String> + 'a;

#[derive(Debug)]
pub(crate) enum Cause {
    /// A thread could not be started.
    System(io::Error),
    /// The system cannot take this name of a thread.
    Name(String),
    /// A thread could not be named: that panicked.
    Panic(Payload),
}

/// What becomes a worker when a thread runs it.
#[derive(Debug)]
pub(crate) struct ThreadBuilderParts {
    pub(crate) index: usize,
    pub(super) deque: Owner<JobHeader>,
    pub(super) registry: Arc<Registry>,
    /// `None` if the thread was there before, and stays.
    pub(super) presence: Option<Presence>,
    /// It was absent, and counts as one who searches.
    pub(super) was_absent: bool,
}

impl ThreadBuilderParts {
    pub(crate) fn recruiter(&self) -> &Arc<Recruiter> {
        &self.registry.recruiter
    }

    /// There is going to be a thread.
    pub(super) fn expect_thread(&mut self) {
        let recruiter = &self.registry.recruiter;
        self.presence = Some(recruiter.expect(self.index));
    }
}

impl StartPlan<'_> {
    pub(super) fn start(self) -> Result<Arc<Registry>, Refused> {
        let prepared = LightFences::prepare();
        let mut sleep = Sleep::new(self.num_threads, self.protocol, self.policy)
            .with_spares(self.max_spare_threads)
            .with_steering(self.steering);
        let (mut owners, mut stealers) = (Vec::new(), Vec::new());
        for index in 0..self.num_threads {
            let (owner, stealer) = new_deque(index, prepared);
            owners.push(owner);
            stealers.push(stealer);
        }
        let limits = Arc::new(Limits(Table::new(stealers.iter().cloned(), sleep.seats())));
        sleep = sleep.with_posters(Arc::clone(&limits) as Arc<dyn Posters>);
        let most_spares = sleep.seats() - self.num_threads;
        if cfg!(drowse_shuttle) {
            // So that there is a crowd to be seen.
            sleep = sleep.with_room(1);
        }
        if self.guests {
            sleep = sleep.with_guests();
        }
        if let Some(recorder) = &self.recorder {
            sleep = sleep.with_observer(recorder.as_observer());
        }
        let recruiter = Arc::new(self.recruiter);
        // Somebody must be there if the system lets us start no more; not just the caller, who has
        // other things to do.
        let stay = 1 + usize::from(self.use_current_thread);
        let vacancies = (!self.is_eager || self.idle_timeout.is_some())
            .then(|| Arc::new(Vacancies::new(self.num_threads, Arc::clone(&recruiter))));
        if let Some(vacancies) = &vacancies {
            sleep = sleep.with_absence(Arc::clone(vacancies) as Arc<dyn Starter>, stay, self.idle_timeout);
        }
        let parts = RegistryParts {
            sleep,
            oldest_first: self.oldest_first,
            isolates: self.isolates,
            recorder: self.recorder,
            handlers: self.handlers,
            recruiter,
            spares: Spares::new(most_spares, limits, prepared),
            vacancies,
        };
        let registry = Registry::new(stealers, parts);
        let refused = |started, cause| Refused { cause, started, recruiter: Arc::clone(&registry.recruiter) };
        let mut unfinished = StopUnlessStarted { registry: &registry, adopted: None };
        let mut first = Vec::with_capacity(owners.len());
        for (index, deque) in owners.into_iter().enumerate() {
            let registry = Arc::clone(&registry);
            first.push(ThreadBuilderParts { index, deque, registry, presence: None, was_absent: false });
        }
        let at_once = if self.is_eager { self.num_threads } else { stay };
        let later = first.split_off(at_once.min(first.len()));
        let name_worker = |index: usize, name: &mut NameWorker<'_>| {
            let name = unwind::halt_unwinding(|| name(index)).map_err(Cause::Panic)?.map_err(Cause::Name)?;
            registry.recruiter.set_name(index, name);
            Ok(())
        };
        if at_once < self.num_threads {
            // In the order of their indices, and before a thread runs that could need another.
            for index in 0..self.num_threads {
                name_worker(index, self.name).map_err(|cause| refused(0, cause))?;
            }
        }
        // Before a thread runs that could need them.
        for parts in later {
            registry.begin_absent(parts);
        }
        for mut parts in first {
            let index = parts.index;
            if index == 0 && self.use_current_thread {
                unfinished.adopted = Some(adopt_current_thread(parts));
            } else {
                name_worker(index, self.name).map_err(|cause| refused(index, cause))?;
                parts.expect_thread();
                (self.spawn)(parts).map_err(|error| refused(index, Cause::System(error)))?;
            }
        }
        mem::forget(unfinished);
        Ok(registry)
    }
}

/// What tells workers, with their next push, that somebody sleeps.
pub(super) struct Limits(pub(super) Table<Stealer<JobHeader>>);

/// It tells no more than its name: the sleep protocol has it as a trait object, so that whatever
/// this writes is in each program.
impl fmt::Debug for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Limits")
    }
}

impl Posters for Limits {
    fn alert(&self, worker: usize) {
        self.0[worker].alert();
    }
}

pub(super) fn new_deque(index: usize, prepared: Prepared) -> (Owner<JobHeader>, Stealer<JobHeader>) {
    let (owner, stealer) = deque::new(index, DEQUE_CAPACITY, prepared);
    (owner.with_hook(after_slow_push), stealer)
}

/// If a thread cannot be started, those that were end again, and the calling thread is no longer a
/// worker.
struct StopUnlessStarted<'a> {
    registry: &'a Arc<Registry>,
    /// The worker that the calling thread was made.
    adopted: Option<NonNull<CachePadded<WorkerThread>>>,
}

impl Drop for StopUnlessStarted<'_> {
    fn drop(&mut self) {
        self.registry.release();
        if let Some(leaked) = self.adopted {
            // SAFETY: the box that `adopt_current_thread` leaked. Nobody but code of this thread
            // has borrowed it, by `WorkerThread::with_current`, and that has returned.
            let worker = unsafe { Box::from_raw(leaked.as_ptr()) };
            drop(IsCurrent::of(&raw const **worker));
        }
    }
}

/// Returns a new worker on the heap, which the caller has to free.
///
/// Not on the stack of its thread: a guest may fork, and in its child that thread does not exist,
/// and its stack is used for the next thread that the child starts.
///
/// # Panics
///
/// If the thread is a worker. Then there is nothing to free.
fn leak_worker(parts: ThreadBuilderParts, is_adopted: bool) -> NonNull<CachePadded<WorkerThread>> {
    WorkerThread::assert_may_become_one();
    NonNull::from(Box::leak(Box::new(CachePadded::new(WorkerThread::new(parts, is_adopted)))))
}

/// Makes the calling thread a worker, for the rest of its life. The worker is leaked.
fn adopt_current_thread(parts: ThreadBuilderParts) -> NonNull<CachePadded<WorkerThread>> {
    let leaked = leak_worker(parts, true);
    // SAFETY: it was leaked just now.
    let worker: &WorkerThread = unsafe { leaked.as_ref() };
    worker.trail().begin();
    // SAFETY: leaked, so it stays where it is, unless `StopUnlessStarted` drops it, on this thread,
    // which un-sets it first.
    mem::forget(unsafe { WorkerThread::make_current(worker) });
    LightFences::at_end_of_thread(rest_for_good);
    leaked
}

/// The calling thread was adopted, and ends. Thread-locals of the user's that are dropped later may
/// join: the worker uses full fences from now on.
fn rest_for_good() {
    WorkerThread::with_current(|worker| {
        if let Some(worker) = worker {
            worker.deque.rest();
        }
    });
}

/// The life of a worker: started, waiting for the end, exited. And once more from the beginning, if
/// it would leave and cannot.
pub(crate) fn run_worker(mut parts: ThreadBuilderParts) {
    // Until everything else that belongs to the worker is gone.
    let _presence = parts.presence.take();
    let _enlisted = parts.registry.recruiter.enlist();
    let mut next = Some(parts);
    while let Some(parts) = next {
        next = be_worker(parts);
    }
}

/// Returns the parts if the worker was to leave, and there was news.
fn be_worker(parts: ThreadBuilderParts) -> Option<ThreadBuilderParts> {
    let was_absent = parts.was_absent;
    let registry = Arc::clone(&parts.registry);
    let index = parts.index;
    let leaked = leak_worker(parts, false);
    // SAFETY: freed at the end of this function.
    let worker: &WorkerThread = unsafe { leaked.as_ref() };
    // SAFETY: dropped before that.
    let current = unsafe { WorkerThread::make_current(worker) };
    worker.trail().begin();
    let seat = &registry.threads[index].seat;
    // ORDERING: relaxed; `sit_down` reads it in a seat that it has acquired.
    seat.store(ptr::from_ref(worker).cast_mut(), Ordering::Relaxed);
    // Jobs and handlers are caught one by one. A panic that got here would leave the pool without a
    // worker, and those who wait for it waiting.
    let life = unwind::or_abort(|| live(worker, &registry, was_absent));
    // ORDERING: relaxed; it counts as active, so no guest takes the seat.
    seat.store(ptr::null_mut(), Ordering::Relaxed);
    drop(current);
    // SAFETY: leaked above, and freed here only. This thread uses no reference to it any more, and
    // no guest has one: a guest gives the seat back before this thread wakes up.
    let worker = unsafe { Box::from_raw(leaked.as_ptr()) };
    match life {
        Life::Ended => None,
        Life::Bored => registry.leave(worker.into_inner().into_parts()),
    }
}

/// How the life of a worker ends.
enum Life {
    /// With the pool.
    Ended,
    /// It has slept for long, and its thread may leave.
    Bored,
}

/// What a worker does from its start handler to its exit handler.
fn live(worker: &WorkerThread, registry: &Registry, was_absent: bool) -> Life {
    let index = worker.index();
    // Those who were absent are here because somebody relies on them to search.
    let mut searching = was_absent.then(|| registry.sleep.arrive(index, worker.end()));
    if registry.handlers.start.is_some() {
        // WAKE: and as long as the handler takes, somebody else must.
        if let Some(idle) = searching.take() {
            registry.sleep.stop_looking(idle, || registry.work_visible());
        }
        registry.call_start_handler(index);
    }
    registry.acquire_thread();
    let is_bored = unwind::or_abort(|| worker.work_until_end(searching));
    // The pool ends when nothing is left to do. But handlers may spawn too, and by then there may
    // be no other worker left to run it.
    worker.run_local_jobs();
    registry.call_exit_handler(index);
    worker.run_local_jobs();
    // Nobody else may come to sleep for long.
    Slabs::give_memory_back();
    // The handler, or a job that it has spawned, may have blocked, and come back without a place.
    // The next thread of this worker begins with it.
    let may_leave = is_bored && worker.wait_for_place();
    if may_leave {
        worker.tidy_up();
        registry.release_thread();
        return Life::Bored;
    }
    registry.sleep.mark_gone(index);
    registry.release_thread();
    Life::Ended
}

impl Registry {
    /// A worker that begins without a thread.
    fn begin_absent(&self, parts: ThreadBuilderParts) {
        self.sleep.report_for_absent();
        let back = self.leave(parts);
        assert!(back.is_none(), "nobody else is there yet");
    }

    /// The thread of this worker, which is active, leaves. If it cannot, because there is news, the
    /// parts are given back.
    fn leave(&self, mut parts: ThreadBuilderParts) -> Option<ThreadBuilderParts> {
        let vacancies = self.vacancies.as_ref().expect("somebody keeps the seat of a worker that leaves");
        let index = parts.index;
        parts.was_absent = true;
        vacancies.deposit(parts);
        let home = self.threads[index].terminate.word();
        let host = Leaver { registry: self, index };
        // If it is not there any more, the pool has ended.
        if self.sleep.leave(index, home, &host) { None } else { vacancies.take(index) }
    }
}

/// A worker that leaves, as the sleep protocol sees it.
struct Leaver<'r> {
    registry: &'r Registry,
    index: usize,
}

impl Host for Leaver<'_> {
    fn work_visible(&self) -> bool {
        self.registry.work_visible()
            || self.registry.has_letter(self.index)
            || self.registry.must_yield_place(Some(self.index))
    }
}

#[cfg(all(test, not(any(drowse_loom, drowse_shuttle))))]
mod tests;
