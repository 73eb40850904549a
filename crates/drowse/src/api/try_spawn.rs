//! Closures that run later, but not too many at once.

use super::global::current_registry;
use super::spawn::spawn_in;
use crate::engine::{Bounded, Registry};
use std::error::Error;
use std::fmt;

/// Like [`spawn`](crate::spawn()), if fewer than `limit` closures that were spawned this way into
/// the current pool are under way; else gives the closure back.
///
/// For those who produce work faster than the pool gets it done, and must not fill the memory with
/// it. A closure is *under way* from the moment it is taken until it has run, or panicked, and what
/// it captured is gone. The count is exact, over all threads that spawn: there are never more than
/// `limit`, and a closure is refused only if there are as many. What was spawned in other ways does
/// not count, and pays nothing for it. If there is room once more, what the closures before have
/// done is visible.
///
/// # Errors
///
/// If there are `limit` already: a [`TrySpawnError`] with the closure.
///
/// # Panics
///
/// A panic of the closure is that of a [`spawn`](crate::spawn())ed one, and leaves its place free.
///
/// # What to do with what is refused
///
/// The simplest: run it here. That takes as long as it has to, meanwhile the pool gets on with what
/// it has, and nobody waits idly.
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

pub(super) fn try_spawn_in<F>(limit: usize, func: F, registry: &Registry) -> Result<(), TrySpawnError<F>>
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

/// Why a closure was not taken: there are as many under way as there may be. It holds the closure.
/// See [`try_spawn`].
///
/// ```
/// let refused = drowse::try_spawn(0, || unreachable!()).unwrap_err();
/// assert_eq!(refused.to_string(), "as many closures are under way as there may be");
/// drop(refused); // and the closure with it
/// ```
pub struct TrySpawnError<F>(F);

impl<F> TrySpawnError<F> {
    /// Of a closure that is given back.
    pub(super) fn new(func: F) -> Self {
        Self(func)
    }

    /// The closure that was refused.
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
