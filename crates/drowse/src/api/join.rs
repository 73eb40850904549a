//! Two closures, possibly in parallel.

use super::FnContext;
use super::global::in_worker;
use crate::engine::{Above, End, Since, WaitFor, WorkerThread};
use crate::job::{JobRef, StackJob};
use crate::latch::SpinLatch;
use crate::unwind::{self, Payload};

/// Runs two closures, possibly in parallel, and returns both results.
///
/// The calling worker offers `oper_b` to the others and runs `oper_a` itself. If nobody has taken
/// `oper_b` by then, it runs that as well: where nobody helps, `join` costs a few nanoseconds more
/// than two plain calls. If somebody has, it helps with other jobs until `oper_b` is done.
///
/// Called outside any pool, it runs in the global pool, and the caller blocks until it is done.
///
/// # Panics
///
/// Both closures are always run. If one panics, `join` panics with its payload once the other has
/// ended; if both do, with that of `oper_a`.
///
/// # Blocking
///
/// While it waits, a worker may run *any* job. So a thread that holds a lock across a `join` may
/// run a job that wants the same lock, and wait for itself. Where a lock must be held across a
/// `join`, [isolate](crate::isolate()) it.
///
/// # Example
///
/// ```
/// fn quicksort<T: Ord + Send>(items: &mut [T]) {
///     if items.len() <= 1 {
///         return;
///     }
///     let pivot = items.len() - 1;
///     let mut middle = 0;
///     for i in 0..pivot {
///         if items[i] <= items[pivot] {
///             items.swap(i, middle);
///             middle += 1;
///         }
///     }
///     items.swap(middle, pivot);
///     let (low, high) = items.split_at_mut(middle);
///     drowse::join(|| quicksort(low), || quicksort(&mut high[1..]));
/// }
///
/// let mut numbers = [5, 1, 8, 22, 0, 44];
/// quicksort(&mut numbers);
/// assert_eq!(numbers, [0, 1, 5, 8, 22, 44]);
/// ```
#[inline]
pub fn join<A, B, RA, RB>(oper_a: A, oper_b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    join_context(|_| oper_a(), |_| oper_b())
}

/// Like [`join`], but tells each closure whether it moved to another thread.
///
/// # Example
///
/// ```
/// let pool = drowse::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
/// let moved = pool.install(|| drowse::join_context(|a| a.migrated(), |b| b.migrated()));
/// assert_eq!(moved, (false, false)); // there is only one worker
/// ```
#[inline]
pub fn join_context<A, B, RA, RB>(oper_a: A, oper_b: B) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{
    let func_b = |migrated| oper_b(FnContext::new(migrated));
    match WorkerThread::current_end() {
        Some(end) => join_at(end, oper_a, func_b, join_from_outside),
        None => join_from_outside(oper_a, func_b),
    }
}

/// The hot path: push, run A, take B back, run it. Everything else is out of line. `outside` is
/// what is done where `end` is nobody's.
#[inline(always)]
fn join_at<A, B, RA, RB>(end: End, oper_a: A, func_b: B, outside: fn(A, B) -> (RA, RB)) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA,
    B: FnOnce(bool) -> RB + Send,
    RB: Send,
{
    // SAFETY: it is the end of this thread's own deque, or nobody's.
    let position = unsafe { end.position() };
    // SAFETY: only workers of the pool take jobs from its deques. From nobody's, nobody does.
    let job_b = StackJob::new(func_b, unsafe { SpinLatch::new(end, position) });
    // SAFETY: we do not leave this frame before the job was taken back or its latch is set,
    // whatever A does: its panic is halted. B and RB are `Send`.
    let job_ref = unsafe { job_b.as_job_ref() };
    // SAFETY: as above.
    let must_slow_down = unsafe { end.push(position, job_ref.into_word()) };
    if must_slow_down && !pushed_slow(&job_b.latch) {
        // SAFETY: it is in nobody's deque.
        return outside(oper_a, unsafe { job_b.take_func() });
    }
    let result_a = match unwind::halt_unwinding(|| oper_a(FnContext::new(false))) {
        Ok(result_a) => result_a,
        Err(payload) => end_with_panic(&job_b, payload),
    };
    // From the frame, where they are anyway: so no register is saved for them. The position is a
    // negative one if B is done.
    let (end, position) = (job_b.latch.end(), job_b.latch.position());
    // SAFETY: as above; and this thread is a worker, or we would not be here.
    let is_back = unsafe {
        if end.is_covered(position) {
            take_back_covered(job_ref)
        } else {
            end.take_back(position) || take_back_slow(end, position)
        }
    };
    let result_b = if is_back {
        // SAFETY: we have it back, so nobody else has, or will.
        unsafe { job_b.run_inline(false) }
    } else {
        wait_for_b(&job_b, job_ref)
    };
    (result_a, result_b)
}

/// Calls `f` with the worker that this thread is.
fn on_this_worker<R>(f: impl FnOnce(&WorkerThread) -> R) -> R {
    unwind::or_abort(|| WorkerThread::with_current(|worker| f(worker.expect("a join is on a worker"))))
}

/// The rest of a push. False if it was to nobody's deque.
#[cold]
#[inline(never)]
fn pushed_slow(latch: &SpinLatch) -> bool {
    // SAFETY: it is the end of this thread's own deque, or nobody's, which is never without fences.
    if unsafe { latch.end().pushed_fenced() } {
        return true;
    }
    unwind::or_abort(|| {
        WorkerThread::with_current(|worker| {
            let worker = worker.filter(|worker| worker.end_of_deque().is(latch.end()));
            let position = worker.map(WorkerThread::pushed_slow);
            position.inspect(|position| latch.set_position(*position)).is_some()
        })
    })
}

#[cold]
#[inline(never)]
fn take_back_covered(job: JobRef) -> bool {
    on_this_worker(|worker| worker.take_back(job))
}

#[cold]
#[inline(never)]
fn take_back_slow(end: End, position: i64) -> bool {
    // SAFETY: it is the end of this thread's own deque.
    let is_back = unsafe { end.taken_back_fenced(position) };
    is_back || on_this_worker(|worker| worker.take_back_slow(position))
}

#[cold]
#[inline(never)]
fn join_from_outside<A, B, RA, RB>(oper_a: A, oper_b: B) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA + Send,
    B: FnOnce(bool) -> RB + Send,
    RA: Send,
    RB: Send,
{
    in_worker(|worker, migrated| {
        // They have moved once already, whoever runs them in the end.
        let oper_a = |_: FnContext| oper_a(FnContext::new(migrated));
        let inherited = worker.registry().inherit();
        let func_b = move |again| {
            let oper_b = || oper_b(migrated || again);
            WorkerThread::with_current(|worker| match worker {
                Some(worker) => worker.registry().run_in(&inherited, oper_b),
                None => unreachable!("jobs are run by workers"),
            })
        };
        join_at(worker.end_of_deque(), oper_a, func_b, |_, _| unreachable!("it has a deque"))
    })
}

/// B was stolen, or is covered by jobs that A spawned. Runs what is in the deque, possibly B; then
/// helps until B is done.
#[cold]
#[inline(never)]
fn wait_for_b<F, R>(job_b: &StackJob<SpinLatch, F, R>, job_ref: JobRef) -> R
where
    F: FnOnce(bool) -> R,
{
    let is_back = on_this_worker(|worker| {
        while !job_b.latch.probe() {
            match worker.run_job_above(job_ref) {
                Above::Awaited => {
                    worker.settle();
                    return true;
                }
                Above::Other => (),
                Above::Nothing => worker.wait_until(
                    job_b.latch.word(),
                    WaitFor::Join,
                    Since::Position(job_b.latch.position()),
                ),
            }
        }
        worker.settle();
        false
    });
    if is_back {
        // SAFETY: B, taken out of the only queue it was in.
        return unsafe { job_b.run_inline(false) };
    }
    // SAFETY: the latch is set, and this is the only place on this path that takes the result.
    unsafe { job_b.take_result() }.unwrap_or_else(|payload| unwind::resume_unwinding(payload))
}

/// A panicked. B still runs; then the panic goes on.
#[cold]
#[inline(never)]
fn end_with_panic<F, R>(job_b: &StackJob<SpinLatch, F, R>, payload: Payload) -> !
where
    F: FnOnce(bool) -> R,
{
    let since = Since::Position(job_b.latch.position());
    on_this_worker(|worker| worker.wait_until(job_b.latch.word(), WaitFor::Join, since));
    // SAFETY: the latch is set, and this is the only place on this path that takes the result.
    unwind::drop_quietly(unsafe { job_b.take_result() });
    unwind::resume_unwinding(payload)
}
