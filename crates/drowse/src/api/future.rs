//! Futures that run on a pool.

use super::global::current_registry;
use super::home::{Order, spawn_task};
use super::{Task, ThreadPool};
use crate::engine::Registry;
use crate::task::Polled;
use drowse_sync::Arc;
use std::future::Future;

/// Runs a future in the current pool: that of the calling worker, else the global one.
///
/// The pool's workers poll it, whenever it was woken, among their other jobs. It is never polled by
/// two of them at once, and it is dropped on the pool too. As long as it waits for something it
/// costs nothing but its memory.
///
/// A pool that is dropped goes on until the futures that were spawned into it have ended, or nobody
/// is left who could wake them.
///
/// There are no timers and no sockets here. Those of another runtime can be awaited, where that one
/// drives them by threads of its own, as tokio's multi-threaded one does.
///
/// # Panics
///
/// A panic of the future is kept in the [handle](crate::JoinHandle), and is nobody else's.
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
    /// [`spawn_future`] into this pool.
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
