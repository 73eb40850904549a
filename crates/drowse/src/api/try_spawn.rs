//! Closures that run later, with a limit on how many are under way.

use super::global::current_registry;
use super::spawn::spawn_in;
use crate::engine::{Bounded, Registry};
use std::error::Error;
use std::fmt;

/// Runs a closure later, like [`spawn`](crate::spawn()), unless `limit` closures are under way
/// already.
///
/// Use it where work is produced faster than the pool finishes it, to bound the memory that it
/// takes. A closure is *under way* from when it is accepted until it has run, or panicked, and
/// everything it captured was dropped. The count is for the current pool and over all threads that
/// spawn, and is exact: there are never more than `limit`, and a closure is refused only if there
/// are `limit`. Jobs spawned in other ways do not count, and cost nothing more. A call that
/// succeeds because a place became free sees everything that the ended closure did.
///
/// # Errors
///
/// If `limit` closures are under way already: a [`TrySpawnError`] with the closure.
///
/// # Panics
///
/// A panic of the closure is treated as in [`spawn`](crate::spawn()), and frees its place.
///
/// # After a refusal
///
/// The simplest way is to run the closure in place. That takes as long as it takes; meanwhile the
/// pool works on what it has, and no thread is idle.
///
/// ```
/// let pool = drowse::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
/// let (sender, receiver) = std::sync::mpsc::channel();
/// for number in 1..=100 {
///     let sender = sender.clone();
///     let job = move || sender.send(number).unwrap();
///     if let Err(refused) = pool.try_spawn(8, job) {
///         pool.install(refused.into_inner());
///     }
/// }
/// drop(sender);
/// assert_eq!(receiver.iter().sum::<i32>(), 5050);
/// ```
///
/// Or do something else and try again. A worker can run other jobs meanwhile, which makes room:
///
/// ```
/// let pool = drowse::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
/// let (sender, receiver) = std::sync::mpsc::channel();
/// pool.install(|| {
///     for number in 0..10 {
///         let sender = sender.clone();
///         let mut job = move || sender.send(number).unwrap();
///         while let Err(refused) = drowse::try_spawn(3, job) {
///             job = refused.into_inner();
///             drowse::yield_now();
///         }
///     }
/// });
/// drop(sender);
/// assert_eq!(receiver.iter().sum::<i32>(), 45);
/// ```
pub fn try_spawn<F>(limit: usize, func: F) -> Result<(), TrySpawnError<F>>
where
    F: FnOnce() + Send + 'static,
{
    try_spawn_in(limit, func, &current_registry())
}

pub(super) fn try_spawn_in<F>(
    limit: usize,
    func: F,
    registry: &Registry,
) -> Result<(), TrySpawnError<F>>
where
    F: FnOnce() + Send + 'static,
{
    // SAFETY: the job runs, or is dropped, on a worker of this pool, which holds the registry; or
    // neither ever happens.
    let bounded = unsafe { Bounded::new(&registry.spawned, limit, func) };
    let bounded = bounded.map_err(TrySpawnError::new)?;
    spawn_in(move || bounded.call(|func| func()), registry);
    Ok(())
}

/// Error of [`try_spawn`]: `limit` closures are under way already. Holds the refused closure.
///
/// ```
/// let refused = drowse::try_spawn(0, || unreachable!()).unwrap_err();
/// assert_eq!(refused.to_string(), "as many closures are under way as there may be");
/// drop(refused); // and the closure with it
/// ```
pub struct TrySpawnError<F>(F);

impl<F> TrySpawnError<F> {
    /// Wraps a closure that is given back.
    pub(super) fn new(func: F) -> Self {
        Self(func)
    }

    /// Returns the refused closure.
    ///
    /// ```
    /// let refused = drowse::try_spawn(0, || println!("a nap in time")).unwrap_err();
    /// refused.into_inner()();
    /// ```
    pub fn into_inner(self) -> F {
        self.0
    }
}

impl<F> fmt::Debug for TrySpawnError<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TrySpawnError").finish_non_exhaustive()
    }
}

impl<F> fmt::Display for TrySpawnError<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("as many closures are under way as there may be")
    }
}

impl<F> Error for TrySpawnError<F> {}
