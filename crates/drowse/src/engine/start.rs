//! Start of a pool, and the life of a worker.

use super::crew::Role;
use super::current::IsCurrent;
use super::recruit::{Presence, Recruiter};
use super::registry::{Handlers, Registry, RegistryParts};
use super::worker::WorkerThread;
use crate::diagnose::Probe;
use crate::job::Slabs;
use crate::unwind::{self, Payload};
use drowse_sleep::{Policy, Sleep, SleepProtocol, Steering};
use drowse_sync::{Arc, LightFences, Outlined};
use std::io;
use std::mem;
use std::time::Duration;

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
    pub(crate) recruiter: Arc<Recruiter>,
    /// `true` if all threads are started now, `false` if each is started when it is needed.
    pub(crate) is_eager: bool,
    /// Time that a worker sleeps before its thread leaves.
    pub(crate) idle_timeout: Option<Duration>,
    pub(crate) threads: &'a mut dyn Threads,
}

/// Names and starts the threads of a pool.
pub(crate) trait Threads {
    /// Returns the name of a worker's thread, if it has one. `Err`: a name that the system cannot
    /// take. Called before the thread is started; if it is started later, when the pool is built.
    fn name(&mut self, worker: usize) -> Result<Option<String>, String>;

    /// Starts a thread that [runs](ThreadBuilderParts::run) this worker.
    fn spawn(&mut self, parts: ThreadBuilderParts) -> io::Result<()>;
}

/// Error of a pool that could not be started.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) cause: Cause,
    /// Number of workers that were started. Their threads end again, which can be waited for.
    pub(crate) started: usize,
    pub(crate) recruiter: Arc<Recruiter>,
}

#[derive(Debug)]
pub(crate) enum Cause {
    /// A thread could not be started.
    System(io::Error),
    /// The system cannot take this name of a thread.
    Name(String),
    /// Naming a thread has panicked.
    Panic(Payload),
}

/// A worker that a thread is going to run. The thread counts as present.
#[derive(Debug)]
pub(crate) struct ThreadBuilderParts {
    // The registry is dropped first.
    registry: Arc<Registry>,
    pub(crate) index: usize,
    /// `true` if the worker was absent, and counts as searching.
    was_absent: bool,
    presence: Presence,
}

impl ThreadBuilderParts {
    /// Returns `None` if the pool has ended.
    pub(super) fn of(registry: Arc<Registry>, index: usize, was_absent: bool) -> Option<Self> {
        let presence = registry.recruiter.expect(Role::Worker(index))?;
        Some(Self { registry, index, was_absent, presence })
    }

    /// Returns the name that the thread should have.
    pub(crate) fn name(&self) -> Option<&str> {
        self.presence.name()
    }

    pub(crate) fn stack_size(&self) -> Option<usize> {
        self.registry.recruiter.stack_size()
    }

    /// Starts a thread of the pool for the worker.
    pub(crate) fn start(self) -> io::Result<()> {
        let Self { registry, index, was_absent, presence } = self;
        presence.start(Box::new(move |_| registry.run_worker(index, was_absent)))
    }

    /// Makes the calling thread the worker, until the pool ends, or the worker has no work for
    /// long.
    pub(crate) fn run(self) {
        let _enlisted = self.registry.recruiter.enlist();
        self.registry.run_worker(self.index, self.was_absent);
    }
}

impl StartPlan<'_> {
    /// Builds a pool as planned. On an error, the threads that were started end again.
    pub(crate) fn start(self) -> Result<Arc<Registry>, Refused> {
        let prepared = LightFences::prepare();
        let mut sleep = Sleep::new(self.num_threads, self.protocol, self.policy)
            .with_spares(self.max_spare_threads)
            .with_steering(self.steering);
        if cfg!(drowse_shuttle) {
            // Lets a model reach the states in which more workers are awake than can run at once.
            sleep = sleep.with_room(1);
        }
        if self.guests {
            sleep = sleep.with_guests();
        }
        // Workers that always have a thread. The adopted caller is not enough, because it runs
        // other code: if the system refuses more threads, one other worker must still run jobs.
        let stay = 1 + usize::from(self.use_current_thread);
        let can_be_absent = !self.is_eager || self.idle_timeout.is_some();
        let registry = Registry::new(RegistryParts {
            sleep,
            oldest_first: self.oldest_first,
            isolates: self.isolates,
            probe: self.probe,
            handlers: self.handlers,
            recruiter: self.recruiter,
            adopts_caller: self.use_current_thread,
            prepared,
            absence: can_be_absent.then_some((stay, self.idle_timeout)),
        });
        let refused =
            |started, cause| Refused { cause, started, recruiter: Arc::clone(&registry.recruiter) };
        let mut unfinished = StopUnlessStarted { registry: &registry, has_adopted: false };
        let at_once = if self.is_eager { self.num_threads } else { stay.min(self.num_threads) };
        if at_once < self.num_threads {
            // Named in the order of indices, before a thread runs that could start another.
            for index in 0..self.num_threads {
                name_worker(&registry, index, self.threads).map_err(|cause| refused(0, cause))?;
            }
        }
        // Done before a thread runs that could need them.
        for index in at_once..self.num_threads {
            registry.begin_absent(index);
        }
        for index in 0..at_once {
            if index == 0 && self.use_current_thread {
                adopt_current_thread(&registry);
                unfinished.has_adopted = true;
            } else {
                name_worker(&registry, index, self.threads)
                    .map_err(|cause| refused(index, cause))?;
                let parts = ThreadBuilderParts::of(Arc::clone(&registry), index, false);
                let parts = parts.expect("we hold a reason for the pool to live");
                self.threads.spawn(parts).map_err(|error| refused(index, Cause::System(error)))?;
            }
        }
        mem::forget(unfinished);
        Ok(registry)
    }
}

/// Names the threads of a worker.
#[inline(never)]
fn name_worker(registry: &Registry, index: usize, threads: &mut dyn Threads) -> Result<(), Cause> {
    let name = unwind::halt_unwinding(|| threads.name(index));
    registry.recruiter.set_name(index, name.map_err(Cause::Panic)?.map_err(Cause::Name)?);
    Ok(())
}

/// Guard of a start that may fail: the threads that were started end again, and the calling thread
/// is no longer a worker.
struct StopUnlessStarted<'a> {
    registry: &'a Arc<Registry>,
    /// `true` if the calling thread has become the first worker.
    has_adopted: bool,
}

impl Drop for StopUnlessStarted<'_> {
    fn drop(&mut self) {
        self.registry.release();
        if self.has_adopted {
            // SAFETY: this thread has it, since `adopt_current_thread`.
            let worker = unsafe { self.registry.core(0) };
            worker.tidy_up();
            drop(IsCurrent::of(worker));
            // SAFETY: the count that `adopt_current_thread` has kept. Only code of this thread has
            // borrowed the worker, by `WorkerThread::with_current`, which has returned.
            unsafe { Arc::decrement_strong_count(Arc::as_ptr(self.registry)) };
        }
    }
}

/// Makes the calling thread the first worker, for the rest of its life. So the pool is never freed.
fn adopt_current_thread(registry: &Arc<Registry>) {
    // SAFETY: no other thread has the core.
    let worker = unsafe { registry.core(0) };
    // SAFETY: the count that is kept below keeps the registry, which owns the core, unless
    // `StopUnlessStarted` gives it back, after it has dropped what `make_current` returns.
    mem::forget(unsafe { WorkerThread::make_current(worker) });
    mem::forget(Arc::clone(registry));
    worker.begin_thread();
    LightFences::at_end_of_thread(rest_for_good);
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

impl Registry {
    /// Runs a worker on the calling thread, from its start handler to its exit handler; once more
    /// from the beginning if its thread was to leave and there was news.
    fn run_worker(&self, index: usize, mut was_absent: bool) {
        // SAFETY: the worker is new, or the calling thread was started because a waker has claimed
        // it while it had no thread.
        let worker = unsafe { self.core(index) };
        loop {
            // SAFETY: the registry is borrowed for longer than `current` lives.
            let current = unsafe { WorkerThread::make_current(worker) };
            worker.begin_thread();
            // Each job and handler catches its panics. A panic that got here would leave the pool
            // without a worker, and threads that wait for it would wait for ever.
            let may_leave = unwind::or_abort(|| live(worker, self, was_absent));
            drop(current);
            if !may_leave || self.leave(index) {
                return;
            }
            was_absent = true;
        }
    }
}

/// Runs the handlers and the main loop of a worker. Returns `true` if the worker has slept for
/// long, and its thread may leave; `false` if the pool has ended.
fn live(worker: &WorkerThread, registry: &Registry, was_absent: bool) -> bool {
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
    worker.tidy_up();
    if !may_leave {
        registry.sleep.mark_gone(index);
    }
    registry.release_own_thread();
    may_leave
}

#[cfg(all(test, not(any(drowse_loom, drowse_shuttle))))]
mod tests;
