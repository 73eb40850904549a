//! The probe of a pool: what the engine tells, and the threads that watch.

use super::WaitFor;
use super::alarm::with_alarm;
use super::outside::{Outside, OutsideWait};
use super::plan::{Plan, Ready};
use super::pool::Pool;
use super::stall::StallWatch;
use super::trace::{Recorder, Trace, TraceEvent};
use super::trail::{Before, Trail};
use drowse_sleep::Sleep;
use drowse_sync::{Arc, CachePadded, OnceLock, Process, Table, Weak};
use std::fmt;

/// The engine's only way to the alarms and the trace of a pool. Workers are named by their indices.
pub(crate) struct Probe {
    pub(super) plan: Arc<Plan>,
    /// One trail a seat; those of spares are made on demand.
    trails: Table<CachePadded<Trail>>,
    recorder: Option<Recorder>,
    /// Threads outside that wait for the pool, if there is a stall watch.
    pub(super) outside: Option<Outside>,
    /// Stall watch, which ends when this is dropped.
    stall_watch: OnceLock<StallWatch>,
    process: Process,
}

impl Probe {
    /// Returns the probe of a pool with this number of workers and of seats.
    pub(crate) fn new(plan: &Ready, tracing: &Tracing, workers: usize, seats: usize) -> Self {
        Self {
            plan: Arc::clone(plan),
            trails: Table::new(workers, seats, |_| CachePadded::new(Trail::default())),
            recorder: tracing.begun.as_ref().map(|(_, recorder)| recorder.clone()),
            outside: plan.stall_after.map(|_| Outside::new()),
            stall_watch: OnceLock::new(),
            process: Process::this(),
        }
    }

    /// Returns `sleep` with what the trace and the deadlock alarm of the pool need.
    pub(crate) fn watch<P: Pool + 'static>(&self, mut sleep: Sleep, pool: &Weak<P>) -> Sleep {
        if let Some(recorder) = &self.recorder {
            let address = pool.as_ptr().addr();
            sleep = sleep.with_observer(recorder.observer(address, P::current_in));
        }
        if self.plan.deadlock.is_some() {
            sleep = with_alarm(sleep, self.plan.deadlock_after(), pool.clone());
        }
        sleep
    }

    /// Starts the stall watch, if the user has asked for it.
    pub(crate) fn begin<P: Pool + 'static>(&self, pool: &Arc<P>) {
        if let Some(after) = self.plan.stall_after {
            let pool: Arc<dyn Pool> = Arc::<P>::clone(pool);
            if let Some(watch) = StallWatch::start(&pool, self.trails.most(), after) {
                let _ = self.stall_watch.set(watch);
            }
        }
    }

    /// Ends the stall watch, because the pool ends.
    pub(crate) fn end(&self) {
        if let Some(watch) = self.stall_watch.get() {
            watch.end();
        }
    }

    pub(super) fn trail(&self, worker: usize) -> &Trail {
        self.trails.get_or_grow(worker, |_| CachePadded::new(Trail::default()))
    }

    /// Records what the worker does, or a thread outside, if the pool has a trace.
    fn record(&self, worker: Option<usize>, what: TraceEvent) {
        // In a forked child, a thread of the parent may hold the lock of a ring.
        if let Some(recorder) = self.recorder.as_ref().filter(|_| self.process.is_this()) {
            recorder.record(worker, what);
        }
    }

    /// Records that the calling thread begins to be the worker.
    pub(crate) fn begin_thread(&self, worker: usize) {
        self.trail(worker).begin();
    }

    /// Records that the worker begins to wait.
    pub(crate) fn begin_wait(&self, worker: usize, what: WaitFor) -> Before {
        self.trail(worker).begin_wait(what)
    }

    /// Records that the worker has what it waited for.
    pub(crate) fn end_wait(&self, worker: usize, before: Before) {
        self.trail(worker).end_wait(before);
    }

    /// Records that the worker searches, until it begins a job or has what it waits for.
    pub(crate) fn begin_search(&self, worker: usize) {
        self.trail(worker).begin_search();
    }

    /// Records that the worker does not search any more: it goes on with something of its own, or a
    /// guest takes its seat.
    pub(crate) fn end_search(&self, worker: usize) {
        self.trail(worker).end_search();
    }

    /// Records that the worker has found a job from outside, which it runs next.
    pub(crate) fn took_injected(&self, worker: usize) {
        self.trail(worker).found_outside();
        self.record(Some(worker), TraceEvent::TookInjected);
    }

    /// Records that the worker has stolen a job, which it runs next.
    pub(crate) fn stole(&self, worker: usize, victim: usize) {
        self.trail(worker).stole_from(victim);
        self.record(Some(worker), TraceEvent::Stole { from: victim });
    }

    /// Records that the worker begins the job that it found last.
    pub(crate) fn begin_job(&self, worker: usize) -> Before {
        self.record(Some(worker), TraceEvent::Begin);
        self.trail(worker).begin_job()
    }

    /// Records that the innermost job of the worker has ended.
    pub(crate) fn end_job(&self, worker: usize, before: Before) {
        self.trail(worker).end_job(before);
        self.record(Some(worker), TraceEvent::End);
    }

    /// Records that the worker was marked as blocked.
    pub(crate) fn blocked(&self, worker: usize) {
        self.record(Some(worker), TraceEvent::Blocked);
    }

    /// Records that `by`, a worker of the pool or a thread outside, has removed a worker's mark.
    pub(crate) fn unblocked(&self, by: Option<usize>, worker: usize) {
        self.record(by, TraceEvent::Unblocked { worker });
    }

    /// Notes for the stall watch that the calling thread begins to wait for this pool.
    pub(crate) fn note_waiter(&self, waits_for: WaitFor) -> OutsideWait<'_> {
        self.outside.as_ref().map_or_else(OutsideWait::none, |outside| outside.wait(waits_for))
    }

    /// Returns `true` if the pool has a stall watch, which wants to know of threads that wait.
    pub(crate) fn notes_waiters(&self) -> bool {
        self.outside.is_some()
    }
}

impl fmt::Debug for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Probe").field("plan", &self.plan).finish_non_exhaustive()
    }
}

/// Trace attached to a pool that is being built; detached again if this is dropped.
pub(crate) struct Tracing {
    begun: Option<(Trace, Recorder)>,
}

impl Tracing {
    /// Attaches the pool's trace, if it has one. Returns `None` if it belongs to another pool.
    pub(crate) fn begin(plan: &Ready, seats: usize) -> Option<Self> {
        let Some(trace) = &plan.trace else { return Some(Self { begun: None }) };
        let recorder = trace.attach(seats)?;
        Some(Self { begun: Some((trace.clone(), recorder)) })
    }

    /// Records the name that a worker was given.
    pub(crate) fn name(&self, worker: usize, name: &str) {
        if let Some((trace, _)) = &self.begun {
            trace.set_worker_name(worker, name);
        }
    }

    /// Leaves the trace to the pool, which runs.
    pub(crate) fn keep(mut self) {
        self.begun = None;
    }
}

impl Drop for Tracing {
    fn drop(&mut self) {
        if let Some((trace, _)) = &self.begun {
            trace.detach();
        }
    }
}
