//! What a worker runs while it waits.

use crate::engine::Region;

/// What the workers of a pool run while they wait for something, in the middle of a job. Chosen by
/// [`ThreadPoolBuilder::waiting`](crate::ThreadPoolBuilder::waiting).
///
/// ```
/// assert_eq!(drowse::Waiting::default(), drowse::Waiting::Help);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Waiting {
    /// Any job of the pool: no processor is idle while there is something to do.
    #[default]
    Help,
    /// Nothing but what was spawned inside of what they wait for, as if all of the pool were in one
    /// [`isolate`]. But [`yield_now`](crate::yield_now) runs any job: whoever calls it asks for
    /// that.
    Isolate,
}

/// Calls a closure in isolation: while it waits, in `join`, `scope` and so on, the worker that
/// calls this runs nothing but descendants of what it waits for, and sleeps if there are none.
///
/// A worker that waits usually runs whatever job it finds. If it holds a lock, or has borrowed a
/// `RefCell`, or is at initialising a `OnceLock`, and that job wants the same, it waits for itself,
/// for ever. In isolation it does not come to that: what it runs is what the closure itself has
/// forked, and would have run if nobody else had taken it.
///
/// - Descendants are what is forked or spawned *inside* of what the worker waits for, on whichever
///   worker. (Also what is spawned there into a scope outside, or with [`spawn`](crate::spawn()).)
/// - Whoever steals a job that was forked in isolation runs it in isolation.
/// - What was forked in isolation can be stolen by everybody at any time. So two halves of a `join`
///   that wait for each other get done, in isolation too, if there are two workers for them.
/// - In the middle of an `install` into another pool, the closure there runs in isolation as well,
///   and the worker here runs nothing. Called on a thread outside, this goes for what the closure
///   sends to a pool.
/// - [`yield_now`](crate::yield_now) runs a job of the region, or none.
///
/// It costs nothing but the help: a worker that waits in isolation is idle if nobody has left
/// anything for it. To isolate all that a pool does, without touching the code, there are
/// [`ThreadPoolBuilder::waiting`](crate::ThreadPoolBuilder::waiting) and the environment variable
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
