//! The `Spawn` trait of the `futures` crates, for code that is generic over executors.

use super::ThreadPool;
use futures_task::{FutureObj, Spawn, SpawnError};

/// With the feature `futures`. The future runs on the pool. There is no handle, and a panic of the
/// future is dropped.
///
/// ```
/// use futures_task::{FutureObj, Spawn};
///
/// let pool = drowse::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
/// let (send, receive) = std::sync::mpsc::channel();
/// pool.spawn_obj(FutureObj::new(Box::new(async move { send.send(42).unwrap() }))).unwrap();
/// assert_eq!(receive.recv(), Ok(42));
/// ```
impl Spawn for ThreadPool {
    fn spawn_obj(&self, future: FutureObj<'static, ()>) -> Result<(), SpawnError> {
        drop(self.spawn_future(future));
        Ok(())
    }
}
