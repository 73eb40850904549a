//! Futures that run on a pool.

use super::global::current_registry;
use super::home::{Order, spawn_task};
use super::{Task, ThreadPool};
use crate::engine::Registry;
use crate::task::Polled;
use drowse_sync::Arc;
use std::future::Future;

/// Runs a future in the current pool: that of the calling worker, else the global pool.
///
/// The pool's workers poll it when it is woken, among their other jobs. Two workers never poll it
/// at once, and it is dropped on the pool too. While it waits, it costs only its memory.
///
/// A pool that is dropped goes on until each future spawned into it has ended, or has no waker
/// left.
///
/// drowse has no timers and no sockets. A future can await those of another runtime if that runtime
/// drives them by threads of its own, as tokio's multi-threaded runtime does.
///
/// # Panics
///
/// A panic of the future is kept in the [handle](crate::JoinHandle) and goes nowhere else.
///
/// # Example
///
/// ```
/// let halves = [(0, 500), (500, 1000)].map(|(from, to)| {
///     drowse::spawn_future(async move { (from..to).sum::<u32>() })
/// });
/// let sum = drowse::spawn_future(async {
///     let mut sum = 0;
///     for half in halves {
///         sum += half.await.unwrap();
///     }
///     sum
/// });
/// assert_eq!(sum.join().unwrap(), 499_500);
/// ```
pub fn spawn_future<F>(future: F) -> Task<F::Output>
where
    F: Future<Output: Send> + Send + 'static,
{
    spawn_future_in(future, &current_registry())
}

impl ThreadPool {
    /// Runs a future in this pool. See [`spawn_future`].
    ///
    /// ```
    /// let pool = drowse::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    /// let task = pool.spawn_future(async { drowse::current_num_threads() });
    /// assert_eq!(task.join().unwrap(), 1);
    /// ```
    pub fn spawn_future<F>(&self, future: F) -> Task<F::Output>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        spawn_future_in(future, &self.registry())
    }
}

fn spawn_future_in<F>(future: F, registry: &Arc<Registry>) -> Task<F::Output>
where
    F: Future<Output: Send> + Send + 'static,
{
    spawn_task(Polled(future), registry, Order::NewestFirst)
}
