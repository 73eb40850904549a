//! Entry into a pool: a closure is run on one of its workers.
//!
//! All of this is compiled once, as the closure is passed as a [`Call`].

use super::ancestry::Ancestors;
use super::bench::NoTaker;
use super::context::Inherited;
use super::isolate::is_isolated;
use super::registry::Registry;
use super::sites::Tried;
use super::worker::WorkerThread;
use crate::diagnose::{OutsideWait, WaitFor};
use crate::job::{Call, JobRef, Run, StackJob, call_once};
use crate::latch::CountLatch;
use crate::unwind;
use drowse_sync::{Counter, Stopwatch, hint, omittable};
use std::thread;
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
        call_once(op, |call| self.enter_or_block(call.function(), call, true))
    }

    /// Runs `call` on a worker of this pool: in place if this thread is one. `site` identifies the
    /// place in the program that it comes from.
    pub(crate) fn enter(&self, site: usize, call: Call<'_>) {
        self.enter_or_block(site, call, false);
    }

    fn enter_or_block(&self, site: usize, mut call: Call<'_>, blocks: bool) {
        WorkerThread::with_current(|worker| match worker {
            Some(worker) if worker.registry().id() == self.id() => call.run(worker, false),
            worker => self.enter_from(worker, site, call, blocks),
        });
    }

    /// Runs `call` on a worker of this pool, for a thread that is not one. A worker of another pool
    /// helps its own pool meanwhile, unless it `blocks`. A thread that is no worker takes the seat
    /// of one that sleeps, if guests are let in and there is one; otherwise it blocks.
    #[cold]
    #[inline(never)]
    fn enter_from(&self, worker: Option<&WorkerThread>, site: usize, call: Call<'_>, blocks: bool) {
        let inherited = self.inherit();
        self.assert_here();
        let (isolated, progress) = (is_isolated(), Progress::default());
        let waits = self.probe.note_waiter(WaitFor::Install);
        let (ancestors, progress) = (None, &progress);
        let mut entry = Entry { call, inherited, isolated, ancestors, waits, progress };
        let outcome = match worker {
            Some(worker) if blocks => {
                let _lent = worker.lend_place(NoTaker::GiveUpUnlessLast);
                self.block_for(&mut entry, site, worker.registry())
            }
            Some(worker) => self.help_for(&mut entry, worker),
            None => match self.sit_down() {
                Some(guest) => {
                    guest.work(self.callers.sites.of(site), |worker| entry.begin(worker, false));
                    return;
                }
                None => self.block_for(&mut entry, site, self),
            },
        };
        drop(entry);
        outcome.unwrap_or_else(|payload| unwind::resume_unwinding(payload));
    }

    /// Blocks this thread until a worker of this pool has run the entry. Calls the release and
    /// acquire handlers of `told`: the pool of this thread if it is a worker, else this pool.
    fn block_for(&self, entry: &mut Entry<'_>, site: usize, told: &Self) -> thread::Result<()> {
        let progress = entry.progress;
        let job = StackJob::new(entry, CountLatch::new(1, None));
        // SAFETY: `send` returns when the job has run, so the job outlives its execution. `Call` is
        // `Send`, and what else it borrows is `Sync`. Our callers hold the pool, so it has not
        // ended. Afterwards the latch is set.
        unsafe {
            unwind::or_abort(|| self.send(job.as_job_ref(), site, progress, &job.latch, told));
            job.take_result()
        }
    }

    /// Sends `job` to the workers and waits until it has set `latch`. If the calling thread is a
    /// worker of the pool `told`, another thread may run in its place meanwhile.
    ///
    /// # Safety
    ///
    /// As for [`inject`](Self::inject).
    unsafe fn send(
        &self,
        job: JobRef,
        site: usize,
        progress: &Progress,
        latch: &CountLatch,
        told: &Self,
    ) {
        let (site, latch) = (self.callers.sites.of(site), latch.of_outside());
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
            self.insist(&progress.begun, latch);
            latch.wait();
        });
        let took = Duration::from_nanos(progress.took.get());
        if defers {
            site.record_tried(Tried { took, forked, was_late })
        } else {
            site.record_not_tried(took)
        }
    }

    /// Sends the entry to the workers of this pool. `worker`, which is this thread and of another
    /// pool, helps its own pool until it has run.
    fn help_for(&self, entry: &mut Entry<'_>, worker: &WorkerThread) -> thread::Result<()> {
        // Jobs sent back to the worker's own pool descend from this point: see `ancestry`.
        let since = worker.point();
        entry.ancestors = entry.isolated.then(|| worker.ancestors_of_sent());
        let job = StackJob::new(entry, CountLatch::since(since, 1, Some(worker)));
        // SAFETY: we wait for the job, so it outlives its execution. For the rest see `block_for`.
        unsafe {
            unwind::or_abort(|| {
                self.inject(job.as_job_ref());
                job.latch.help(worker, WaitFor::Install);
            });
            job.take_result()
        }
    }
}

/// A closure that enters a pool, with what it takes along from the thread that waits for it.
struct Entry<'a> {
    call: Call<'a>,
    inherited: Inherited,
    isolated: bool,
    ancestors: Option<Ancestors>,
    waits: OutsideWait<'a>,
    progress: &'a Progress,
}

impl Entry<'_> {
    /// Runs the closure on this worker.
    #[inline(never)]
    fn begin(&mut self, worker: &WorkerThread, migrated: bool) {
        self.waits.note_begun(worker.index());
        let _region = self.isolated.then(|| worker.enter_region());
        let _branch = self.ancestors.take().and_then(|ancestors| worker.branch(Some(ancestors)));
        worker.registry().run_in(&self.inherited, &mut || self.call.run(worker, migrated));
    }
}

impl Run<()> for &mut Entry<'_> {
    fn run(self, worker: &WorkerThread, migrated: bool) {
        self.progress.begun.set_mine(1);
        let clock = Stopwatch::start();
        self.begin(worker, migrated);
        let took = u64::try_from(clock.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.progress.took.set_mine(took);
    }
}

/// Progress of an entry, for the thread that waits for it.
#[derive(Debug, Default)]
struct Progress {
    /// 1 when the closure has begun.
    begun: Counter,
    /// Nanoseconds that it took.
    took: Counter,
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
