//! How a closure gets to run on a worker.

use super::context::Inherited;
use super::isolate::{Since, is_isolated};
use super::place::IfNobody;
use super::registry::Registry;
use super::trail::WaitFor;
use super::worker::WorkerThread;
use crate::job::{JobRef, StackJob};
use crate::latch::{CrossLatch, LatchRef, LockLatch};
use crate::unwind;
use drowse_sync::{Arc, Counter, Stopwatch, hint, omittable};
use std::time::Duration;

impl Registry {
    /// Runs `op` on a worker of this pool: here if this thread is one. The flag tells whether it
    /// moved to another thread.
    pub(crate) fn in_worker<OP, R>(self: &Arc<Self>, op: OP) -> R
    where
        OP: FnOnce(&WorkerThread, bool) -> R + Send,
        R: Send,
    {
        self.in_worker_or(Self::in_worker_from_other_pool, self.with_context(op))
    }

    /// The same closure, with what it inherits, if it goes to another thread.
    fn with_context<R>(
        &self,
        op: impl FnOnce(&WorkerThread, bool) -> R + Send,
    ) -> impl FnOnce(&WorkerThread, bool) -> R + Send {
        let is_here = self.with_worker(|worker| worker.is_some());
        let inherited = if is_here { Inherited::nothing() } else { self.inherit() };
        move |worker: &WorkerThread, migrated| worker.registry().run_in(&inherited, || op(worker, migrated))
    }

    /// The same, but a worker of another pool blocks.
    pub(crate) fn in_worker_blocking<OP, R>(self: &Arc<Self>, op: OP) -> R
    where
        OP: FnOnce(&WorkerThread, bool) -> R + Send,
        R: Send,
    {
        let block = |this: &Self, worker: &WorkerThread, op| {
            worker.while_away(IfNobody::GiveUp, |_| this.in_worker_while_blocked(op, worker.registry()))
        };
        self.in_worker_or(block, self.with_context(op))
    }

    /// The same, with what a worker of another pool does.
    fn in_worker_or<OP, R>(&self, elsewhere: impl FnOnce(&Self, &WorkerThread, OP) -> R, op: OP) -> R
    where
        OP: FnOnce(&WorkerThread, bool) -> R + Send,
        R: Send,
    {
        WorkerThread::with_current(|worker| match worker {
            None => self.in_worker_from_outside(op),
            Some(worker) if worker.registry().id() == self.id() => op(worker, false),
            Some(worker) => {
                self.assert_here();
                elsewhere(self, worker, op)
            }
        })
    }

    /// This thread takes the seat of a worker that sleeps, if guests are let in; otherwise it
    /// blocks.
    #[cold]
    fn in_worker_from_outside<OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&WorkerThread, bool) -> R + Send,
        R: Send,
    {
        self.assert_here();
        // Before it is somebody else.
        let isolated = is_isolated();
        if let Some(guest) = self.sit_down() {
            let site = self.sites.of(on_this_worker::<R, OP> as fn(OP, bool, bool) -> R as usize);
            return guest.work(site, |_| on_this_worker(op, false, isolated));
        }
        self.in_worker_while_blocked(op, self)
    }

    /// This thread blocks until `op` has run on a worker, and the pool `of` it is told.
    fn in_worker_while_blocked<OP, R>(&self, op: OP, of: &Self) -> R
    where
        OP: FnOnce(&WorkerThread, bool) -> R + Send,
        R: Send,
    {
        with_lock_latch(|latch| {
            let (entry, isolated) = (Entry::default(), is_isolated());
            let run = |migrated| entry.run(|| on_this_worker(op, migrated, isolated));
            let job = StackJob::new(run, LatchRef::new(latch));
            // SAFETY: we wait for the job right here, so it outlives its execution; `OP` and `R`
            // are `Send`. Whoever calls us holds the pool, so it has not ended.
            unwind::or_abort(|| unsafe { self.send(job.as_job_ref(), &entry, latch, of) });
            // SAFETY: the latch was set.
            unsafe { job.take_result() }
        })
        .unwrap_or_else(|payload| unwind::resume_unwinding(payload))
    }

    /// Sends a job to the workers and waits until it is done, and has set this latch. The place of
    /// the calling thread in the pool `of` it is free meanwhile.
    ///
    /// # Safety
    ///
    /// As for [`inject`](Self::inject).
    unsafe fn send(&self, job: JobRef, entry: &Entry, latch: &LockLatch, of: &Self) {
        let site = self.sites.of(job.function());
        // What a handler does before we wait may take long.
        let may_owe = of.handlers.release_thread.is_none();
        let owes = may_owe && site.seems_short() && self.sleep.owe();
        let begins_at_once = owes && self.sleep.somebody_searches();
        // SAFETY: the caller's promise.
        unsafe { self.inject(job) };
        let mut forks = true;
        of.wait_outside(|| {
            if owes {
                if let Some(usual) = site.usual().filter(|_| begins_at_once) {
                    spin_until(|| latch.is_set(), usual * 2);
                }
                latch.wait_for(GRACE);
                // WAKE: those whom the job's forks have not woken, if there is anything left.
                omittable!("engine/never-pays", forks = self.sleep.pay(|| self.work_visible()));
            }
            self.insist(&entry.begun, latch);
            latch.wait_and_reset();
        });
        let took = Duration::from_nanos(entry.took.get());
        if owes { site.was_tried(took, forks) } else { site.was_not_tried(took) }
    }

    /// This thread goes on helping its own pool.
    #[cold]
    fn in_worker_from_other_pool<OP, R>(&self, worker: &WorkerThread, op: OP) -> R
    where
        OP: FnOnce(&WorkerThread, bool) -> R + Send,
        R: Send,
    {
        let isolated = worker.is_isolated();
        let job = StackJob::new(|migrated| on_this_worker(op, migrated, isolated), CrossLatch::new(worker));
        // SAFETY: we wait for the job right here, so it outlives its execution; `OP` and `R` are
        // `Send`. Whoever calls us holds the pool, so it has not ended.
        unwind::or_abort(|| unsafe {
            self.inject(job.as_job_ref());
            worker.wait_until(job.latch.word(), WaitFor::Install, Since::Now);
        });
        // SAFETY: the latch is set.
        unsafe { job.take_result() }.unwrap_or_else(|payload| unwind::resume_unwinding(payload))
    }
}

/// How long a thread outside waits for its job before it pays for the wakes that it owes, if nobody
/// else has done so before. (To set a timer that is due sooner than the system's own costs more
/// than a wake, in a virtual machine.)
const GRACE: Duration = Duration::from_millis(5);

/// Waits for something that comes so soon that to sleep would take longer; but no longer than this.
fn spin_until(is_over: impl Fn() -> bool, time: Duration) {
    if cfg!(any(drowse_loom, drowse_shuttle)) {
        return; // They know no time.
    }
    let clock = Stopwatch::start();
    while !is_over() && clock.elapsed() < time {
        (0..SPINS).for_each(|_| hint::spin_loop());
    }
}

/// Between two looks at the clock.
const SPINS: u32 = 8;

/// What a thread that waits for a job knows of it.
#[derive(Debug, Default)]
struct Entry {
    /// 1 when it has begun.
    begun: Counter,
    /// Nanoseconds that it took.
    took: Counter,
}

impl Entry {
    fn run<R>(&self, op: impl FnOnce() -> R) -> R {
        self.begun.set_mine(1);
        let clock = Stopwatch::start();
        let result = op();
        self.took.set_mine(u64::try_from(clock.elapsed().as_nanos()).unwrap_or(u64::MAX));
        result
    }
}

/// Calls `op` with the worker that this thread is, now that a worker runs it; in isolation, if
/// whoever waits for it is isolated.
fn on_this_worker<R, OP>(op: OP, migrated: bool, isolated: bool) -> R
where
    OP: FnOnce(&WorkerThread, bool) -> R,
{
    WorkerThread::with_current(|worker| {
        let worker = worker.expect("jobs are run by workers");
        if isolated { worker.isolate(|| op(worker, migrated)) } else { op(worker, migrated) }
    })
}

drowse_sync::thread_local! {
    /// The latch that this thread blocks on, kept from one call to the next.
    static LATCH: std::cell::Cell<Option<LockLatch>> = const { std::cell::Cell::new(None) };
}

/// Calls `f` with this thread's latch, not set. `f` must leave it like that.
fn with_lock_latch<R>(f: impl FnOnce(&LockLatch) -> R) -> R {
    // Taken out while in use. A thread that is about to exit may no longer have one.
    let latch = LATCH.try_with(std::cell::Cell::take).ok().flatten().unwrap_or_else(LockLatch::new);
    let result = f(&latch);
    let _ = LATCH.try_with(|kept| kept.set(Some(latch)));
    result
}
