//! Start of a pool, and the life of a worker.

use super::absent::Vacancies;
use super::current::IsCurrent;
use super::push::after_slow_push;
use super::recruit::{Presence, Recruiter};
use super::registry::{Handlers, Registry, RegistryParts};
use super::spare::Spares;
use super::worker::WorkerThread;
use crate::deque::{self, Owner, Stealer};
use crate::diagnose::Probe;
use crate::job::{JobHeader, Slabs};
use crate::unwind::{self, Payload};
use drowse_sleep::{Host, Policy, Posters, Sleep, SleepProtocol, Starter, Steering};
use drowse_sync::atomic::Ordering;
use drowse_sync::{Arc, CachePadded, LightFences, Outlined, Prepared, Table};
use std::fmt;
use std::io;
use std::mem;
use std::ptr::{self, NonNull};
use std::time::Duration;

/// Initial capacity of a worker's deque, which grows as needed. (A model pays for each slot.)
const DEQUE_CAPACITY: usize = if cfg!(drowse_loom) { 2 } else { 64 };

/// Configuration of a pool that is to be started.
pub(crate) struct StartPlan<'a> {
    pub(crate) num_threads: usize,
    /// The calling thread becomes worker 0. It must not be a worker yet.
    pub(crate) use_current_thread: bool,
    pub(crate) protocol: SleepProtocol,
    pub(crate) policy: Policy,
    pub(crate) steering: Steering,
    pub(crate) oldest_first: bool,
    /// `true` if every job runs in isolation.
    pub(crate) isolates: bool,
    /// Most threads that may run in the place of workers that block.
    pub(crate) max_spare_threads: usize,
    /// `true` if threads outside may take the seats of workers that sleep.
    pub(crate) guests: bool,
    pub(crate) probe: Probe,
    pub(crate) handlers: Arc<Outlined<Handlers>>,
    pub(crate) recruiter: Recruiter,
    /// Names the thread of a worker. Called before the thread is started; if it is started later,
    /// called when the pool is built.
    pub(crate) name: &'a mut NameWorker<'a>,
    /// `true` if all threads are started now, `false` if each is started when it is needed.
    pub(crate) is_eager: bool,
    /// Time that a worker sleeps before its thread leaves.
    pub(crate) idle_timeout: Option<Duration>,
    /// Starts a thread that calls [`run_worker`] with these parts.
    pub(crate) spawn: &'a mut dyn FnMut(ThreadBuilderParts) -> io::Result<()>,
}

/// Error of a pool that could not be started.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) cause: Cause,
    /// Number of workers that were started. Their threads end again, which can be waited for.
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
    /// Naming a thread has panicked.
    Panic(Payload),
}

/// Parts of a worker that a thread needs to run it.
#[derive(Debug)]
pub(crate) struct ThreadBuilderParts {
    pub(crate) index: usize,
    pub(super) deque: Owner<JobHeader>,
    pub(super) registry: Arc<Registry>,
    /// `None` if the thread was adopted: it existed before, and stays.
    pub(super) presence: Option<Presence>,
    /// `true` if the worker was absent, and counts as searching.
    pub(super) was_absent: bool,
}

impl ThreadBuilderParts {
    pub(crate) fn recruiter(&self) -> &Arc<Recruiter> {
        &self.registry.recruiter
    }

    /// Counts the thread that is going to be started for this worker as present.
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
            // Lets a model reach the states in which more workers are awake than can run at once.
            sleep = sleep.with_room(1);
        }
        if self.guests {
            sleep = sleep.with_guests();
        }
        let recruiter = Arc::new(self.recruiter);
        // Workers that always have a thread. The adopted caller is not enough, because it runs
        // other code: if the system refuses more threads, one other worker must still run jobs.
        let stay = 1 + usize::from(self.use_current_thread);
        let vacancies = (!self.is_eager || self.idle_timeout.is_some())
            .then(|| Arc::new(Vacancies::new(self.num_threads, Arc::clone(&recruiter))));
        if let Some(vacancies) = &vacancies {
            sleep = sleep.with_absence(
                Arc::clone(vacancies) as Arc<dyn Starter>,
                stay,
                self.idle_timeout,
            );
        }
        let parts = RegistryParts {
            sleep,
            oldest_first: self.oldest_first,
            isolates: self.isolates,
            probe: self.probe,
            handlers: self.handlers,
            recruiter,
            spares: Spares::new(most_spares, limits, prepared),
            vacancies,
        };
        let registry = Registry::new(stealers, parts);
        let refused =
            |started, cause| Refused { cause, started, recruiter: Arc::clone(&registry.recruiter) };
        let mut unfinished = StopUnlessStarted { registry: &registry, adopted: None };
        let mut first = Vec::with_capacity(owners.len());
        for (index, deque) in owners.into_iter().enumerate() {
            let registry = Arc::clone(&registry);
            first.push(ThreadBuilderParts {
                index,
                deque,
                registry,
                presence: None,
                was_absent: false,
            });
        }
        let at_once = if self.is_eager { self.num_threads } else { stay };
        let later = first.split_off(at_once.min(first.len()));
        let name_worker = |index: usize, name: &mut NameWorker<'_>| {
            let name = unwind::halt_unwinding(|| name(index))
                .map_err(Cause::Panic)?
                .map_err(Cause::Name)?;
            registry.recruiter.set_name(index, name);
            Ok(())
        };
        if at_once < self.num_threads {
            // Named in the order of indices, before a thread runs that could start another.
            for index in 0..self.num_threads {
                name_worker(index, self.name).map_err(|cause| refused(0, cause))?;
            }
        }
        // Done before a thread runs that could need them.
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

/// Limits of all workers: the sleep protocol lowers them, so that a worker posts its next push.
pub(super) struct Limits(pub(super) Table<Stealer<JobHeader>>);

/// Prints the name only: the sleep protocol has this as a trait object, so what this calls is in
/// each program.
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

pub(super) fn new_deque(
    index: usize,
    prepared: Prepared,
) -> (Owner<JobHeader>, Stealer<JobHeader>) {
    let (owner, stealer) = deque::new(index, DEQUE_CAPACITY, prepared);
    (owner.with_hook(after_slow_push), stealer)
}

/// Guard of a start that may fail: the threads that were started end again, and the calling thread
/// is no longer a worker.
struct StopUnlessStarted<'a> {
    registry: &'a Arc<Registry>,
    /// The worker that the calling thread has become.
    adopted: Option<NonNull<CachePadded<WorkerThread>>>,
}

impl Drop for StopUnlessStarted<'_> {
    fn drop(&mut self) {
        self.registry.release();
        if let Some(leaked) = self.adopted {
            // SAFETY: `adopt_current_thread` has leaked the box. Only code of this thread has
            // borrowed it, by `WorkerThread::with_current`, which has returned.
            let worker = unsafe { Box::from_raw(leaked.as_ptr()) };
            drop(IsCurrent::of(&raw const **worker));
        }
    }
}

/// Returns a new worker on the heap, which the caller has to free.
///
/// Not on its thread's stack: a guest may fork, and in the child that thread does not exist, and
/// its stack is used again for the next thread that the child starts.
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
    worker.begin_thread();
    // SAFETY: leaked, so it stays where it is, unless `StopUnlessStarted` drops it, on this thread,
    // after it has dropped what `make_current` returns.
    mem::forget(unsafe { WorkerThread::make_current(worker) });
    LightFences::at_end_of_thread(rest_for_good);
    leaked
}

/// Makes an adopted worker use full fences at the end of its thread: thread-locals of the user that
/// are dropped later may join.
fn rest_for_good() {
    WorkerThread::with_current(|worker| {
        if let Some(worker) = worker {
            worker.deque.rest();
        }
    });
}

/// Runs a worker from its start handler to its exit handler; once more from the beginning if its
/// thread was to leave and there was news.
pub(crate) fn run_worker(mut parts: ThreadBuilderParts) {
    // Dropped after everything else that belongs to the worker.
    let _presence = parts.presence.take();
    let _enlisted = parts.registry.recruiter.enlist();
    let mut next = Some(parts);
    while let Some(parts) = next {
        next = be_worker(parts);
    }
}

/// Runs a worker once. Returns the parts if the thread was to leave, and there was news.
fn be_worker(parts: ThreadBuilderParts) -> Option<ThreadBuilderParts> {
    let was_absent = parts.was_absent;
    let registry = Arc::clone(&parts.registry);
    let index = parts.index;
    let leaked = leak_worker(parts, false);
    // SAFETY: freed by `Box::from_raw` below, after the last use of `worker`.
    let worker: &WorkerThread = unsafe { leaked.as_ref() };
    // SAFETY: `current` is dropped before the worker is freed.
    let current = unsafe { WorkerThread::make_current(worker) };
    worker.begin_thread();
    let seat = &registry.threads[index].seat;
    // ORDERING: relaxed; `sit_down` reads it after `Slots::sit` has acquired the slot, which this
    // thread releases when it parks.
    seat.store(ptr::from_ref(worker).cast_mut(), Ordering::Relaxed);
    // Each job and handler catches its panics. A panic that got here would leave the pool without a
    // worker, and threads that wait for it would wait for ever.
    let life = unwind::or_abort(|| live(worker, &registry, was_absent));
    // ORDERING: relaxed; the worker counts as active, so `Slots::sit` fails: no guest reads this.
    seat.store(ptr::null_mut(), Ordering::Relaxed);
    drop(current);
    // SAFETY: leaked above, and freed here only. This thread no longer uses a reference to it, and
    // no guest has one: a guest gives the seat back before this thread wakes up.
    let worker = unsafe { Box::from_raw(leaked.as_ptr()) };
    match life {
        Life::Ended => None,
        Life::Bored => registry.leave(worker.into_inner().into_parts()),
    }
}

/// Reasons for which a worker ends.
enum Life {
    /// The pool has ended.
    Ended,
    /// The worker has slept for long, and its thread may leave.
    Bored,
}

/// Runs the handlers and the main loop of a worker.
fn live(worker: &WorkerThread, registry: &Registry, was_absent: bool) -> Life {
    let index = worker.index();
    // A waker that started an absent worker relies on it to search.
    let mut searching = was_absent.then(|| registry.sleep.arrive(index, worker.end()));
    if registry.handlers.start.is_some() {
        // WAKE: `Sleep::post` may rely on us to search, and the start handler may take long. If
        // there is work, `stop_looking` wakes another worker.
        if let Some(idle) = searching.take() {
            registry.sleep.stop_looking(idle, || registry.work_visible());
        }
        registry.call_start_handler(index);
    }
    registry.acquire_thread();
    let is_bored = unwind::or_abort(|| worker.work_until_end(searching));
    // When the pool ends, nothing is left to do. But handlers may spawn too, and then there may be
    // no other worker left to run that.
    worker.run_local_jobs();
    registry.call_exit_handler(index);
    worker.run_local_jobs();
    // There may be no worker left that sleeps for long, and gives the memory back then.
    Slabs::give_memory_back();
    // The exit handler, or a job that it has spawned, may have blocked and come back without a
    // place. The next thread of this worker begins with the place.
    let may_leave = is_bored && worker.wait_for_place();
    if may_leave {
        worker.tidy_up();
        registry.release_own_thread();
        return Life::Bored;
    }
    registry.sleep.mark_gone(index);
    registry.release_own_thread();
    Life::Ended
}

impl Registry {
    /// Begins a worker that has no thread yet.
    fn begin_absent(&self, parts: ThreadBuilderParts) {
        self.sleep.report_for_absent();
        let back = self.leave(parts);
        assert!(back.is_none(), "nobody else is there yet");
    }

    /// Leaves an active worker without a thread. Returns the parts if there is news for the worker.
    fn leave(&self, mut parts: ThreadBuilderParts) -> Option<ThreadBuilderParts> {
        let vacancies = self.vacancies.as_ref().expect("a pool whose workers leave has vacancies");
        let index = parts.index;
        parts.was_absent = true;
        vacancies.deposit(parts);
        let home = self.threads[index].terminate.word();
        let host = Leaver { registry: self, index };
        // If the parts are gone, the pool has ended.
        if self.sleep.leave(index, home, &host) { None } else { vacancies.take(index) }
    }
}

/// A worker that leaves, for the callbacks of the sleep protocol.
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
