//! The engine of `join`: the fast path, which is compiled for each pair of closures, and the rest,
//! which is compiled once.

use super::current::End;
use super::lineage::Found;
use super::worker::WorkerThread;
use crate::diagnose::WaitFor;
use crate::job::{Call, JobRef, Run, StackJob, was_not_called};
use crate::latch::SpinLatch;
use crate::unwind::{self, Payload};
use std::thread;

/// Second half of a join: a closure that is told whether it has moved to another thread. Takes no
/// worker: `join_at` calls it in place, where it has no reference to one.
pub(crate) struct Half<F>(F);

impl<R, F: FnOnce(bool) -> R> Run<R> for Half<F> {
    #[inline(always)]
    fn run(self, _: &WorkerThread, migrated: bool) -> R {
        (self.0)(migrated)
    }
}

/// The job of a second half.
pub(crate) type HalfJob<B, R> = StackJob<SpinLatch, Half<B>, R>;

/// Pushes B, runs A, takes B back, runs it: the hot path of a join. All else is out of line. If
/// `end` is that of nobody's deque, `elsewhere` runs both halves on a worker: it returns the result
/// of A, and leaves the result of B in the job with its latch set.
#[inline(always)]
pub(crate) fn join_at<A, B, RA, RB>(
    end: End,
    oper_a: A,
    oper_b: B,
    elsewhere: impl FnOnce(A, &HalfJob<B, RB>) -> RA,
) -> (RA, RB)
where
    A: FnOnce(bool) -> RA,
    B: FnOnce(bool) -> RB + Send,
    RB: Send,
{
    // SAFETY: `end` is that of this thread's own deque, or of nobody's deque.
    let position = unsafe { end.position() };
    // SAFETY: only workers of the pool take jobs from its deques. For nobody's deque, `elsewhere`
    // lets the job run: `join_elsewhere` waits for its call, and no worker for the latch; and
    // `set_end` is given a worker of the pool that runs the job.
    let job_b = StackJob::new(Half(oper_b), unsafe { SpinLatch::new(end, position) });
    // SAFETY: this frame is not left before the job was taken back or its latch is set: a panic of
    // A is halted, and `join_elsewhere` returns or unwinds only when the job has run or its closure
    // was taken out. B and RB are `Send`.
    let job_ref = unsafe { job_b.as_job_ref() };
    // SAFETY: `end` is that of this thread's own deque, or of nobody's deque.
    let must_slow_down = unsafe { end.push(position, job_ref.into_word()) };
    let (result_a, is_back) = if must_slow_down && !pushed_slow(&job_b.latch) {
        (elsewhere(oper_a, &job_b), false)
    } else {
        let result_a = match unwind::halt_unwinding(|| oper_a(false)) {
            Ok(result_a) => result_a,
            Err(payload) => end_with_panic(&job_b, payload),
        };
        // Reloaded from the job in this frame, so that no register is kept for them during A. The
        // position is negative if the latch is set.
        let (end, position) = (job_b.latch.end(), job_b.latch.position());
        // SAFETY: `end` is that of this thread's own deque, or `elsewhere` would have run.
        let is_back = unsafe {
            if end.is_covered(position) {
                take_back_covered(&job_b.latch, job_ref)
            } else {
                end.take_back(position) || take_back_slow(&job_b.latch, end, position, job_ref)
            }
        };
        (result_a, is_back)
    };
    let result_b = if is_back {
        // SAFETY: the job was taken back, so no other thread has run it, or will.
        (unsafe { job_b.take_func() }.0)(false)
    } else {
        result_of(&job_b)
    };
    (result_a, result_b)
}

/// Returns the result of a second half that was run elsewhere, or resumes its panic.
#[cold]
#[inline(never)]
fn result_of<B: FnOnce(bool) -> R, R>(job_b: &HalfJob<B, R>) -> R {
    // SAFETY: the latch is set, and this is the only place on this path that takes the result.
    unsafe { job_b.take_result() }.unwrap_or_else(|payload| unwind::resume_unwinding(payload))
}

/// Ends a join whose A has panicked: waits for B, drops its result, and resumes the panic of A.
#[cold]
#[inline(never)]
fn end_with_panic<B: FnOnce(bool) -> R, R>(job_b: &HalfJob<B, R>, payload: Payload) -> ! {
    wait_after_panic(&job_b.latch);
    // SAFETY: the latch is set, and this is the only place on this path that takes the result.
    unwind::drop_result(unsafe { job_b.take_result() });
    unwind::resume_unwinding(payload)
}

/// Calls `f` with the worker that this thread is.
fn on_this_worker<R>(f: impl FnOnce(&WorkerThread) -> R) -> R {
    unwind::or_abort(|| {
        WorkerThread::with_current(|worker| f(worker.expect("a join is on a worker")))
    })
}

/// Ends the push of the job with this latch. Returns `false` if it was to nobody's deque.
#[cold]
#[inline(never)]
fn pushed_slow(latch: &SpinLatch) -> bool {
    // SAFETY: the end is that of this thread's own deque, or of nobody's deque, whose limit is
    // `ASKED`, so that this returns `false`.
    if unsafe { latch.end().pushed_fenced() } {
        return true;
    }
    unwind::or_abort(|| {
        WorkerThread::with_current(|worker| {
            let worker = worker.filter(|worker| worker.end_of_deque().is(latch.end()));
            let position = worker.map(WorkerThread::pushed_half_slow);
            position.inspect(|position| latch.set_position(*position)).is_some()
        })
    })
}

/// Ends a join whose second half is covered, or done. Returns `true` if the caller has the job
/// again, and `false` if it was run.
#[cold]
#[inline(never)]
fn take_back_covered(latch: &SpinLatch, job: JobRef) -> bool {
    on_this_worker(|worker| worker.take_back(job) || worker.wait_for_half(latch, job))
}

/// Ends a join whose second half is not covered, and was not found to be private by
/// `End::take_back`. Returns what [`take_back_covered`] returns.
#[cold]
#[inline(never)]
fn take_back_slow(latch: &SpinLatch, end: End, position: i64, job: JobRef) -> bool {
    // SAFETY: it is the end of this thread's own deque.
    let is_back = unsafe { end.taken_back_fenced(position) };
    is_back
        || on_this_worker(|worker| {
            worker.take_back_slow(position) || worker.wait_for_half(latch, job)
        })
}

/// Waits until the second half of a join is done, after the first one has panicked.
#[cold]
#[inline(never)]
fn wait_after_panic(latch: &SpinLatch) {
    // If the latch is set, `join_elsewhere` may have run B, and this thread need not be a worker.
    if !latch.probe() {
        let since = latch.position();
        on_this_worker(|worker| {
            worker.wait_until(latch.word(), WaitFor::Join, worker.point_at(since))
        });
    }
}

impl WorkerThread {
    /// Waits for a second half that was stolen, or is covered by jobs that the first half has
    /// spawned. Runs what is in the deque until it comes to the job; if the job is not there, helps
    /// until it is done. Returns `true` if the caller has the job.
    fn wait_for_half(&self, latch: &SpinLatch, job: JobRef) -> bool {
        loop {
            if let Some(is_back) = self.run_jobs_above(latch, job) {
                return is_back;
            }
            let since = self.point_at(latch.position());
            self.wait_until(latch.word(), WaitFor::Join, since);
        }
    }

    /// Runs jobs of the worker's own until it comes to this one, which is the caller's then; in
    /// isolation, none that are older. Returns `Some(false)` if the latch is set, and `None` if
    /// there are no more jobs.
    fn run_jobs_above(&self, latch: &SpinLatch, job: JobRef) -> Option<bool> {
        let _loop = self.begin_loop();
        while !latch.probe() {
            let position = latch.position();
            if position < 0 {
                continue; // The latch was set since.
            }
            let found = match self.is_isolated() {
                false => self.take_local_job_fairly(),
                true => self.pop_in_order(position).map(Found::from),
            };
            match found? {
                found if found.job == job => return Some(true),
                found => self.run_local(found),
            }
        }
        Some(false)
    }
}

/// Function that runs a call on a worker of the current pool, or else of the global one. The first
/// argument identifies the call's place in the program.
pub(crate) type Enter = fn(usize, Call<'_>);

/// Runs both halves as a join on a worker, where `join_at` has no deque to push to: the thread is
/// not a worker, or jobs of its pool inherit something. Returns the result of the first half, or
/// resumes its panic; the result of the second half is in its job.
#[cold]
#[inline(never)]
pub(crate) fn join_elsewhere<A, B, RA, RB>(oper_a: A, job_b: &HalfJob<B, RB>, enter: Enter) -> RA
where
    A: FnOnce(bool) -> RA + Send,
    B: FnOnce(bool) -> RB + Send,
    RA: Send,
    RB: Send,
{
    let (mut oper_a, mut result) = (Some(oper_a), None);
    let mut first =
        |_: &WorkerThread, migrated| result = oper_a.take().map(|oper_a| oper_a(migrated));
    // SAFETY: no worker's queue holds the job. `WorkerThread::join_calls` runs it once and waits
    // for it, or unwinds before any worker has it. B and RB are `Send`.
    let second = Second { job: unsafe { job_b.as_job_ref() }, latch: &job_b.latch };
    match (join_calls(Call::new(&mut first), &second, enter), result) {
        (Ok(()), Some(result)) => result,
        (Err(payload), _) if job_b.latch.probe() => end_with_panic(job_b, payload),
        (Err(payload), _) => {
            // SAFETY: the latch is not set, so `join_calls` has unwound before its `join_at`: the
            // job has not run, and is in no worker's queue.
            unwind::drop_quietly(unsafe { job_b.take_func() }.0);
            unwind::resume_unwinding(payload)
        }
        (Ok(()), None) => was_not_called(),
    }
}

/// The second half of a join that `join_elsewhere` runs.
struct Second<'a> {
    job: JobRef,
    latch: &'a SpinLatch,
}

// SAFETY: the job may run on any thread, by the promise of `JobRef::new`. The latch is used by the
// worker that runs the call, while its owner waits for the call, and then by the worker that runs
// the job.
unsafe impl Sync for Second<'_> {}

/// Joins `first` and the job of the second half on a worker.
fn join_calls(mut first: Call<'_>, second: &Second<'_>, enter: Enter) -> thread::Result<()> {
    let mut run = |worker: &WorkerThread, migrated| worker.join_calls(&mut first, second, migrated);
    unwind::halt_unwinding(|| enter(second.job.function(), Call::new(&mut run)))
}

impl WorkerThread {
    fn join_calls(&self, first: &mut Call<'_>, second: &Second<'_>, migrated: bool) {
        if !migrated {
            // The call was not moved, so the half has not migrated if this worker runs it:
            // `SpinLatch::migrated` compares this end.
            // SAFETY: this worker's pool runs the job, which is pushed below; its owner waits for
            // the call, and does not use the latch.
            unsafe { second.latch.set_end(self.end_of_deque()) };
        }
        let inherited = self.registry().inherit();
        let run_second = |_| {
            WorkerThread::with_current(|worker| {
                let worker = worker.expect("jobs are run by workers");
                // SAFETY: `run_in` calls this once, and this job is the only one that executes
                // `second.job`.
                worker.registry().run_in(&inherited, &mut || unsafe { second.job.execute(worker) });
            });
        };
        join_at(
            self.end_of_deque(),
            |_| first.run(self, migrated),
            run_second,
            |_, _| unreachable!("a worker has a deque"),
        );
    }
}
