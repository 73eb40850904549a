//! How a pool begins.

use super::isolate::Since;
use super::recruit::{Presence, Recruiter};
use super::registry::{Handlers, Registry};
use super::trail::WaitFor;
use super::turns::after_slow_push;
use super::worker::WorkerThread;
use crate::deque::{self, Owner, Stealer};
use crate::job::{JobHeader, Slabs};
use crate::trace::Recorder;
use crate::unwind;
use drowse_sleep::{Policy, Sleep, SleepProtocol, Steering};
use drowse_sync::atomic::Ordering;
use drowse_sync::{Arc, LightFences, Prepared};
use std::io;
use std::mem;
use std::ptr::{self, NonNull};

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
    /// Whether threads outside may take the seats of workers that sleep.
    pub(crate) guests: bool,
    pub(crate) recorder: Option<Recorder>,
    pub(crate) handlers: Arc<Handlers>,
    pub(crate) recruiter: Recruiter,
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
}

impl ThreadBuilderParts {
    pub(crate) fn recruiter(&self) -> &Arc<Recruiter> {
        &self.registry.recruiter
    }
}

impl StartPlan<'_> {
    pub(super) fn start(self) -> Result<Arc<Registry>, Refused> {
        let prepared = LightFences::prepare();
        let (owners, stealers): (Vec<_>, Vec<_>) = (0..self.num_threads).map(|_| new_deque(prepared)).unzip();
        let mut sleep = Sleep::new(self.num_threads, self.protocol, self.policy).with_steering(self.steering);
        if cfg!(drowse_shuttle) {
            // So that there is a crowd to be seen.
            sleep = sleep.with_room(1);
        }
        if self.handlers.deadlock.is_some() {
            sleep = sleep.with_deadlock_detection();
        }
        if self.guests {
            sleep = sleep.with_guests();
        }
        if let Some(recorder) = &self.recorder {
            sleep = sleep.with_observer(Arc::new(recorder.clone()));
        }
        let registry = Registry::new(
            stealers,
            sleep,
            self.oldest_first,
            self.isolates,
            self.recorder,
            self.handlers,
            self.recruiter,
        );
        let mut unfinished = StopUnlessStarted { registry: &registry, adopted: None };
        for (index, deque) in owners.into_iter().enumerate() {
            let is_adopted = index == 0 && self.use_current_thread;
            let recruiter = &registry.recruiter;
            let presence = (!is_adopted).then(|| recruiter.expect(Some(index), recruiter.name(index)));
            let parts = ThreadBuilderParts { index, deque, registry: Arc::clone(&registry), presence };
            if is_adopted {
                unfinished.adopted = Some(adopt_current_thread(parts));
            } else {
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

fn new_deque(prepared: Prepared) -> (Owner<JobHeader>, Stealer<JobHeader>) {
    let (owner, stealer) = deque::new(DEQUE_CAPACITY, prepared);
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
            // has borrowed it, by `WorkerThread::with_current`, and that has returned. Its drop
            // un-sets it.
            drop(unsafe { Box::from_raw(worker.as_ptr()) });
        }
    }
}

/// Makes the calling thread a worker, for the rest of its life. The worker is leaked.
fn adopt_current_thread(parts: ThreadBuilderParts) -> NonNull<WorkerThread> {
    let worker = NonNull::from(Box::leak(Box::new(WorkerThread::new(parts, true))));
    // SAFETY: leaked, so it stays where it is, unless `StopUnlessStarted` drops it, on this thread.
    unsafe { WorkerThread::make_current(worker.as_ptr()) };
    worker
}

/// The life of a worker: started, waiting for the end, exited.
pub(crate) fn run_worker(mut parts: ThreadBuilderParts) {
    // Until everything else that belongs to the worker is gone.
    let _presence = parts.presence.take();
    let worker = WorkerThread::new(parts, false);
    // SAFETY: it stays in this frame, and its drop un-sets it.
    unsafe { WorkerThread::make_current(&worker) };
    let registry = Arc::clone(worker.registry());
    // ORDERING: relaxed; whoever reads it has acquired that the worker sleeps.
    registry.threads[worker.index()].seat.store(ptr::from_ref(&worker).cast_mut(), Ordering::Relaxed);
    // Jobs and handlers are caught one by one. A panic that got here would leave the pool without a
    // worker, and those who wait for it waiting.
    unwind::or_abort(|| live(&worker, &registry));
}

/// What a worker does from its start handler to its exit handler.
fn live(worker: &WorkerThread, registry: &Registry) {
    let index = worker.index();
    if let Some(start) = &registry.handlers.start {
        registry.catch_unwind(|| start(index));
    }
    registry.acquire_thread();
    worker.wait_until(registry.threads[index].terminate.word(), WaitFor::Home, Since::Now);
    // The pool ends when nothing is left to do. But handlers may spawn too, and by then there may
    // be no other worker left to run it.
    worker.run_local_jobs();
    if let Some(exit) = &registry.handlers.exit {
        registry.catch_unwind(|| exit(index));
        worker.run_local_jobs();
    }
    // Nobody else may come to sleep for long.
    Slabs::give_memory_back();
    registry.sleep.mark_gone(index, &|deadlock| registry.handle_deadlock(deadlock));
    registry.release_thread();
}
