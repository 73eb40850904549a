//! `join`: two closures, possibly in parallel.

use super::FnContext;
use super::global::{enter, in_worker};
use crate::engine::{WorkerThread, join_at, join_elsewhere};

/// Runs two closures, possibly in parallel, and returns both results.
///
/// The calling worker offers `oper_b` to the other workers and runs `oper_a` itself. If no worker
/// has taken `oper_b` by then, the caller runs it as well: without a thief, `join` costs a few
/// nanoseconds more than two plain calls. Otherwise the caller runs other jobs until `oper_b` is
/// done.
///
/// Called outside any pool, it runs in the global pool, and the caller blocks until it is done.
///
/// # Panics
///
/// Both closures are always run. If one panics, `join` panics with its payload once the other has
/// ended. If both panic, the payload is that of `oper_a`.
///
/// # Blocking
///
/// While it waits, a worker may run *any* job. So a thread that holds a lock across a `join` may
/// run a job that wants the same lock, and wait for itself. Where a lock must be held across a
/// `join`, use [`isolate`](crate::isolate()).
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
    let oper_a = |migrated| oper_a(FnContext::new(migrated));
    let oper_b = |migrated| oper_b(FnContext::new(migrated));
    match WorkerThread::current_end() {
        Some(end) => {
            join_at(end, oper_a, oper_b, |oper_a, job_b| join_elsewhere(oper_a, job_b, enter))
        }
        // (Only in a model, where it makes no difference whether the closures have moved.)
        None => in_worker(|worker| {
            join_at(worker.end_of_deque(), oper_a, oper_b, |_, _| {
                unreachable!("a worker has a deque")
            })
        }),
    }
}
