//! async-executor, which smol is made of.

use super::serial::Serial;
use super::{Pool, Reason, for_tasks_only};
use async_executor::Executor;
use std::future::{Future, pending};
use std::sync::Arc;
use std::thread;

/// Threads that run one executor.
#[derive(Debug)]
pub struct AsyncExecutor(Arc<Executor<'static>>);

impl Pool for AsyncExecutor {
    const NAME: &'static str = "async-executor";
    const ABOUT: &'static str = "async-executor 1, run by some threads; a job is a future that is ready";
    type Fork = Serial;

    fn new(threads: usize) -> Result<Self, Reason> {
        let executor = Arc::new(Executor::new());
        for _ in 0..threads {
            let executor = Arc::clone(&executor);
            thread::spawn(move || futures_lite::future::block_on(executor.run(pending::<()>())));
        }
        Ok(Self(executor))
    }

    for_tasks_only!();

    fn spawn_job<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> impl Future<Output = T> + Send + 'static {
        self.0.spawn(async { job() })
    }

    fn can_poll() -> Result<(), Reason> {
        Ok(())
    }

    fn spawn_future<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> impl Future<Output = T> + Send + 'static {
        self.0.spawn(future)
    }
}
