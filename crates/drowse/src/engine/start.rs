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
use crate::trace::Recorder;
use crate::unwind;
use drowse_sleep::{Host, Policy, Posters, Sleep, SleepProtocol, Starter, Steering};
use drowse_sync::atomic::Ordering;
use drowse_sync::{Arc, LightFences, Prepared};
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
    pub(crate) recorder: Option<Recorder>,
    pub(crate) handlers: Arc<Handlers>,
    pub(crate) recruiter: Recruiter,
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
    pub(crate) error: io::Error,
    /// Workers that there would have been. Their threads end again, which can be waited for.
    pub(crate) started: usize,
    pub(crate) recruiter: Arc<Recruiter>,
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
        self.presence = Some(recruiter.expect(Some(self.index), recruiter.name(self.index)));
    }
}

impl StartPlan<'_> {
    pub(super) fn start(self) -> Result<Arc<Registry>, Refused> {
        let prepared = LightFences::prepare();
        let mut sleep = Sleep::new(self.num_threads, self.protocol, self.policy)
            .with_spares(self.max_spare_threads)
            .with_steering(self.steering);
        let (mut owners, stealers): (Vec<_>, Vec<_>) =
            (0..sleep.seats()).map(|index| new_deque(index, prepared)).unzip();
        sleep = sleep.with_posters(Arc::new(Limits(stealers.clone())));
        let spares = owners.split_off(self.num_threads);
        if cfg!(drowse_shuttle) {
            // So that there is a crowd to be seen.
            sleep = sleep.with_room(1);
        }
        if self.guests {
            sleep = sleep.with_guests();
        }
        if let Some(recorder) = &self.recorder {
            sleep = sleep.with_observer(Arc::new(recorder.clone()));
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
            spares: Spares::new(spares),
            vacancies,
        };
        let registry = Registry::new(stealers, parts);
        let mut unfinished = StopUnlessStarted { registry: &registry, adopted: None };
        let mut all = owners.into_iter().enumerate().map(|(index, deque)| {
            let registry = Arc::clone(&registry);
            ThreadBuilderParts { index, deque, registry, presence: None, was_absent: false }
        });
        let at_once = if self.is_eager { self.num_threads } else { stay };
        let first: Vec<_> = all.by_ref().take(at_once).collect();
        // Before anybody is there who could need them.
        all.for_each(|parts| registry.begin_absent(parts));
        for mut parts in first {
            let index = parts.index;
            if index == 0 && self.use_current_thread {
                unfinished.adopted = Some(adopt_current_thread(parts));
            } else {
                parts.expect_thread();
                (self.spawn)(parts).map_err(|error| Refused {
                    error,
                    started: index,
                    recruiter: Arc::clone(&registry.recruiter),
                })?;
            }
        }
        mem::forget(unfinished);
        Ok(registry)
    }
}

/// What tells workers, with their next push, that somebody sleeps.
#[derive(Debug)]
struct Limits(Vec<Stealer<JobHeader>>);

impl Posters for Limits {
    fn alert(&self, worker: usize) {
        self.0[worker].alert();
    }
}

fn new_deque(index: usize, prepared: Prepared) -> (Owner<JobHeader>, Stealer<JobHeader>) {
    let (owner, stealer) = deque::new(index, DEQUE_CAPACITY, prepared);
    (owner.with_hook(after_slow_push), stealer)
}

/// If a thread cannot be started, those that were end again, and the calling thread is no longer a
/// worker.
struct StopUnlessStarted<'a> {
    registry: &'a Arc<Registry>,
    /// The worker that the calling thread was made.
    adopted: Option<NonNull<WorkerThread>>,
}

impl Drop for StopUnlessStarted<'_> {
    fn drop(&mut self) {
        self.registry.release();
        if let Some(worker) = self.adopted {
            // SAFETY: the box that `adopt_current_thread` leaked. Nobody but code of this thread
            // has borrowed it, by `WorkerThread::with_current`, and that has returned.
            drop(unsafe { (IsCurrent::of(worker.as_ptr()), Box::from_raw(worker.as_ptr())) });
        }
    }
}

/// Makes the calling thread a worker, for the rest of its life. The worker is leaked.
fn adopt_current_thread(parts: ThreadBuilderParts) -> NonNull<WorkerThread> {
    let worker = NonNull::from(Box::leak(Box::new(WorkerThread::new(parts, true))));
    // SAFETY: it was leaked just now.
    unsafe { worker.as_ref() }.trail().begin();
    // SAFETY: leaked, so it stays where it is, unless `StopUnlessStarted` drops it, on this thread,
    // which un-sets it first.
    mem::forget(unsafe { WorkerThread::make_current(worker.as_ptr()) });
    worker
}

/// The life of a worker: started, waiting for the end, exited. And once more from the beginning, if
/// it would leave and cannot.
pub(crate) fn run_worker(mut parts: ThreadBuilderParts) {
    // Until everything else that belongs to the worker is gone.
    let _presence = parts.presence.take();
    let mut next = Some(parts);
    while let Some(parts) = next {
        next = be_worker(parts);
    }
}

/// Returns the parts if the worker was to leave, and there was news.
fn be_worker(parts: ThreadBuilderParts) -> Option<ThreadBuilderParts> {
    let was_absent = parts.was_absent;
    let worker = WorkerThread::new(parts, false);
    // SAFETY: it stays in this frame, and this is dropped before it.
    let current = unsafe { WorkerThread::make_current(&worker) };
    let registry = Arc::clone(worker.registry());
    worker.trail().begin();
    let seat = &registry.threads[worker.index()].seat;
    // ORDERING: relaxed; whoever reads it has acquired that the worker sleeps.
    seat.store(ptr::from_ref(&worker).cast_mut(), Ordering::Relaxed);
    // Jobs and handlers are caught one by one. A panic that got here would leave the pool without a
    // worker, and those who wait for it waiting.
    match unwind::or_abort(|| live(&worker, &registry, was_absent)) {
        Life::Ended => None,
        Life::Bored => {
            // ORDERING: relaxed; as above. It counts as active: nobody takes the seat.
            seat.store(ptr::null_mut(), Ordering::Relaxed);
            drop(current);
            registry.leave(worker.into_parts())
        }
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
        searching.take().into_iter().for_each(|idle| {
            registry.sleep.stop_looking(idle, || registry.work_visible());
        });
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
    if is_bored {
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
        self.registry.work_visible() || self.registry.has_letter(self.index)
    }
}
