//! Choice of the jobs that a worker runs while it waits.

use crate::engine::Region;

/// Kind of jobs that a pool's workers run while they wait in the middle of a job.
///
/// Set by [`ThreadPoolBuilder::waiting`](crate::ThreadPoolBuilder::waiting).
///
/// ```
/// assert_eq!(drowse::Waiting::default(), drowse::Waiting::Help);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Waiting {
    /// Any job of the pool: no processor is idle while there is work.
    #[default]
    Help,
    /// Only jobs that were spawned by what the worker waits for, as if all code of the pool ran
    /// inside [`isolate`]. But [`yield_now`](crate::yield_now), which asks for any job, runs any
    /// job.
    Isolate,
}

/// Calls a closure in isolation: while it waits, its worker runs no unrelated jobs.
///
/// Whenever the closure waits, in `join`, `scope` and so on, the calling worker runs only
/// descendants of what it waits for, and sleeps if there are none.
///
/// Outside isolation, a worker that waits runs any job that it finds. If it holds a lock, or has
/// borrowed a `RefCell`, or is initialising a `OnceLock`, and that job needs the same one, the
/// worker waits for itself for ever. In isolation this cannot happen: the worker runs only what the
/// closure itself has forked, and would have run without thieves.
///
/// - Descendants are jobs forked or spawned *inside* what the worker waits for, on any worker; also
///   jobs spawned there into an outer scope, or with [`spawn`](crate::spawn()).
/// - A worker that steals a job forked in isolation runs it in isolation.
/// - Any worker can steal a job forked in isolation at any time. So two halves of a `join` that
///   wait for each other finish, in isolation too, if there are two workers for them.
/// - If the closure calls `install` on another pool, the closure there runs in isolation as well,
///   and the worker here runs nothing meanwhile. On a thread that is not a worker, isolation
///   applies to what the closure sends to a pool.
/// - [`yield_now`](crate::yield_now) runs a job of the region, or none.
///
/// The cost is lost help: a worker that waits in isolation is idle if thieves have left it no job.
/// To isolate all jobs of a pool without changing the code, use
/// [`ThreadPoolBuilder::waiting`](crate::ThreadPoolBuilder::waiting) or the environment variable
/// `DROWSE_WAITING=isolate`.
///
/// # Example
///
/// ```
/// use std::sync::Mutex;
///
/// fn sum(numbers: &[u64]) -> u64 {
///     match numbers {
///         [] => 0,
///         [number] => *number,
///         _ => {
///             let (left, right) = numbers.split_at(numbers.len() / 2);
///             let (left, right) = drowse::join(|| sum(left), || sum(right));
///             left + right
///         }
///     }
/// }
///
/// let total = Mutex::new(0);
/// drowse::scope(|s| {
///     for _ in 0..64 {
///         s.spawn(|_| {
///             drowse::isolate(|| {
///                 let mut total = total.lock().unwrap(); // held across a join
///                 *total += sum(&[1, 2, 3, 4]);
///             });
///         });
///     }
/// });
/// assert_eq!(total.into_inner().unwrap(), 640);
/// ```
pub fn isolate<R>(f: impl FnOnce() -> R) -> R {
    let _region = Region::begin();
    f()
}
