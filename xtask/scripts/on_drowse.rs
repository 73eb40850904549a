//! What `futures::executor` has, with drowse in the place of its `block_on` and its pool. The tests
//! of futures use this.

use futures::future::FutureObj;
pub use futures::executor::*;
use futures::task::{Spawn, SpawnError};
use std::future::Future;
use std::io;
use std::sync::Arc;

pub fn block_on<F: Future>(future: F) -> F::Output {
    drowse::block_on(future)
}

#[derive(Clone, Debug)]
pub struct ThreadPool(Arc<drowse::ThreadPool>);

impl ThreadPool {
    pub fn new() -> io::Result<Self> {
        Self::builder().create()
    }

    pub fn builder() -> ThreadPoolBuilder {
        ThreadPoolBuilder { size: 0 }
    }

    pub fn spawn_ok(&self, future: impl Future<Output = ()> + Send + 'static) {
        drop(self.0.spawn_future(future));
    }
}

impl Spawn for ThreadPool {
    fn spawn_obj(&self, future: FutureObj<'static, ()>) -> Result<(), SpawnError> {
        self.spawn_ok(future);
        Ok(())
    }
}

#[derive(Debug)]
pub struct ThreadPoolBuilder {
    size: usize,
}

impl ThreadPoolBuilder {
    pub fn pool_size(&mut self, size: usize) -> &mut Self {
        self.size = size;
        self
    }

    pub fn create(&mut self) -> io::Result<ThreadPool> {
        let pool = drowse::ThreadPoolBuilder::new().num_threads(self.size).build().map_err(io::Error::other)?;
        Ok(ThreadPool(Arc::new(pool)))
    }
}
