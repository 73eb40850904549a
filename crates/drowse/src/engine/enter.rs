//! Entry into a pool: a closure is run on one of its workers.
//!
//! All of this is compiled once, as the closure is passed as a [`Call`].

use super::context::Inherited;
use super::isolate::{Since, is_isolated};
use super::place::IfNobody;
use super::registry::Registry;
use super::sites::Tried;
use super::worker::WorkerThread;
use crate::diagnose::WaitFor;
use crate::job::{Call, JobRef, StackJob, call_once};
use crate::latch::{CrossLatch, LatchRef, LockLatch};
use crate::unwind;
use drowse_sync::{Counter, Stopwatch, hint, omittable};
use std::time::Duration;

impl Registry {
    /// Runs `op` on a worker of this pool: in place if this thread is one.
    pub(crate) fn in_worker<OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&WorkerThread) -> R + Send,
        R: Send,
    {
        call_once(op, |call| self.enter(call.function(), call))
    }

    /// Runs `op` as [`in_worker`](Self::in_worker) does, but a worker of another pool blocks.
    pub(crate) fn in_worker_blocking<OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&WorkerThread) -> R + Send,
        R: Send,
    {
        call_once(op, |call| self.enter_blocking(call))
    }

    /// Runs `call` on a worker of this pool: in place if this thread is one. `site` identifies the
    /// place in the program that it comes from.
    pub(crate) fn enter(&self, site: usize, mut call: Call<'_>) {
        WorkerThread::with_current(|worker| match worker {
            Some(worker) if worker.registry().id() == self.id() => call.run(worker, false),
            Some(worker) => self.enter_from_other_pool(worker, call),
            None => self.enter_from_outside(site, call),
        });
    }

    fn enter_blocking(&self, mut call: Call<'_>) {
        WorkerThread::with_current(|worker| match worker {
            Some(worker) if worker.registry().id() == self.id() => call.run(worker, false),
            Some(worker) => {
                let inherited = self.inherit();
                self.assert_here();
                worker.while_away(IfNobody::GiveUp, |_| {
                    self.enter_while_blocked(call.function(), call, inherited, worker.registry());
                });
            }
            None => self.enter_from_outside(call.function(), call),
        });
    }

    /// Runs `call` on this thread, in the seat of a worker that sleeps, if guests are let in and
    /// there is one; otherwise blocks this thread.
    #[cold]
    fn enter_from_outside(&self, site: usize, mut call: Call<'_>) {
        let inherited = self.inherit();
        self.assert_here();
        // Read before this thread becomes a worker.
        let isolated = is_isolated();
        let Some(guest) = self.sit_down() else {
            return self.enter_while_blocked(site, call, inherited, self);
        };
        let waits = self.probe.note_waiter(WaitFor::Install);
        waits.note_begun(guest.worker().index());
        guest.work(self.sites.of(site), |worker| {
            let _region = isolated.then(|| worker.enter_region());
            self.run_in(&inherited, &mut || call.run(worker, false));
        });
    }

    /// Blocks this thread until `call` has run on a worker of this pool. Calls the release and
    /// acquire handlers of `told`: the pool of this thread if it is a worker, else this pool.
    fn enter_while_blocked(
        &self,
        site: usize,
        mut call: Call<'_>,
        inherited: Inherited,
        told: &Self,
    ) {
        let outcome = with_lock_latch(|latch| {
            let (entry, isolated) = (Entry::default(), is_isolated());
            let waits = self.probe.note_waiter(WaitFor::Install);
            let run = |worker: &WorkerThread, migrated| {
                waits.note_begun(worker.index());
                let _region = isolated.then(|| worker.enter_region());
                entry.time(|| self.run_in(&inherited, &mut || call.run(worker, migrated)));
            };
            let job = StackJob::new(run, LatchRef::new(latch));
            // SAFETY: `send` returns when the job has run, so the job outlives its execution.
            // `Call` is `Send`, what else it borrows is `Sync`. Our callers hold the pool, so it
            // has not ended.
            unwind::or_abort(|| unsafe { self.send(job.as_job_ref(), site, &entry, latch, told) });
            // SAFETY: the latch was set.
            unsafe { job.take_result() }
        });
        drop(inherited);
        outcome.unwrap_or_else(|payload| unwind::resume_unwinding(payload));
    }

    /// Sends `job` to the workers and waits until it has set `latch`. If the calling thread is a
    /// worker of the pool `told`, another thread may run in its place meanwhile.
    ///
    /// # Safety
    ///
    /// As for [`inject`](Self::inject).
    unsafe fn send(&self, job: JobRef, site: usize, entry: &Entry, latch: &LockLatch, told: &Self) {
        let site = self.sites.of(site);
        // A release handler, which runs before we wait, may take long.
        let may_defer = told.handlers.release_thread.is_none();
        let defers = may_defer && site.seems_short() && self.sleep.defer_wakes();
        let begins_at_once = defers && self.sleep.has_searchers();
        // SAFETY: the caller's promise.
        unsafe { self.inject(job) };
        let (mut forked, mut was_late) = (true, false);
        told.wait_outside(|| {
            self.abort_if_left_behind();
            if defers {
                if let Some(usual) = site.usual().filter(|_| begins_at_once) {
                    spin_until(|| latch.is_set(), usual * 2);
                }
                was_late = !latch.wait_for(site.grace());
                // WAKE: a worker for jobs that woke none because we deferred the wakes, if any is
                // left.
                omittable!(
                    "engine/never-resumes",
                    forked = self.sleep.resume_wakes(|| self.work_visible())
                );
            }
            self.insist(&entry.begun, latch);
            latch.wait_and_reset();
        });
        let took = Duration::from_nanos(entry.took.get());
        if defers {
            site.was_tried(Tried { took, forked, was_late })
        } else {
            site.was_not_tried(took)
        }
    }

    /// Runs `call` on a worker of this pool. `worker`, which is this thread and of another pool,
    /// helps its own pool meanwhile.
    #[cold]
    fn enter_from_other_pool(&self, worker: &WorkerThread, mut call: Call<'_>) {
        let inherited = self.inherit();
        self.assert_here();
        let isolated = worker.is_isolated();
        let waits = self.probe.note_waiter(WaitFor::Install);
        // Jobs sent back to the worker's own pool descend from this point: see `ancestry`.
        let since = worker.point();
        let ancestors = isolated.then(|| worker.ancestors_of_sent());
        let run = |this: &WorkerThread, migrated| {
            waits.note_begun(this.index());
            let _region = isolated.then(|| this.enter_region());
            this.with_ancestors(ancestors, || {
                self.run_in(&inherited, &mut || call.run(this, migrated))
            });
        };
        let job = StackJob::new(run, CrossLatch::new(worker));
        // SAFETY: we wait for the job, so it outlives its execution. A `Call` is `Send`, and what
        // else it borrows is `Sync`. Our callers hold the pool, so it has not ended.
        unwind::or_abort(|| unsafe {
            self.inject(job.as_job_ref());
            worker.wait_until(job.latch.word(), WaitFor::Install, Since::Then(since));
        });
        // SAFETY: the latch is set.
        let outcome = unsafe { job.take_result() };
        outcome.unwrap_or_else(|payload| unwind::resume_unwinding(payload));
    }
}

/// Spins until `is_over`, for what comes sooner than a thread can sleep, but at most for `time`.
fn spin_until(is_over: impl Fn() -> bool, time: Duration) {
    if cfg!(any(drowse_loom, drowse_shuttle)) {
        return; // The model checkers have no clock.
    }
    let clock = Stopwatch::start();
    while !is_over() && clock.elapsed() < time {
        (0..SPINS).for_each(|_| hint::spin_loop());
    }
}

/// Spins between two looks at the clock.
const SPINS: u32 = 8;

/// Progress of a job, for the thread that waits for it.
#[derive(Debug, Default)]
struct Entry {
    /// 1 when the job has begun.
    begun: Counter,
    /// Nanoseconds that the job took.
    took: Counter,
}

impl Entry {
    /// Calls `run`, the job itself, and records that it has begun and how long it took.
    fn time(&self, run: impl FnOnce()) {
        self.begun.set_mine(1);
        let clock = Stopwatch::start();
        run();
        self.took.set_mine(u64::try_from(clock.elapsed().as_nanos()).unwrap_or(u64::MAX));
    }
}

drowse_sync::thread_local! {
    /// The latch that this thread blocks on, kept from one call to the next.
    static LATCH: std::cell::Cell<Option<LockLatch>> = const { std::cell::Cell::new(None) };
}

/// Calls `f` with this thread's latch, which is not set. `f` must leave it so.
fn with_lock_latch<R>(f: impl FnOnce(&LockLatch) -> R) -> R {
    // Taken out while in use. A thread that is about to exit may have lost the thread-local.
    let latch = LATCH.try_with(std::cell::Cell::take).ok().flatten().unwrap_or_else(LockLatch::new);
    let result = f(&latch);
    let _ = LATCH.try_with(|kept| kept.set(Some(latch)));
    result
}
