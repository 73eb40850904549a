//! async-executor, which smol is made of.

use super::awaited::for_tasks_only;
use super::serial::Serial;
use super::{Can, Contender, Pool, Reason};
use async_executor::Executor;
use std::future::{Future, pending};
use std::sync::Arc;
use std::thread;

/// Threads that run one executor.
#[derive(Debug)]
pub struct AsyncExecutor(Arc<Executor<'static>>);

impl Contender for AsyncExecutor {
    const NAME: &'static str = "async-executor";
    const ABOUT: &'static str =
        "async-executor 1, run by some threads; a job is a future that is ready";
    type Pool = Self;

    fn new(threads: usize) -> Result<Self, Reason> {
        let executor = Arc::new(Executor::new());
        for _ in 0..threads {
            let executor = Arc::clone(&executor);
            thread::spawn(move || futures_lite::future::block_on(executor.run(pending::<()>())));
        }
        Ok(Self(executor))
    }
}

impl Pool for AsyncExecutor {
    type Fork = Serial;

    for_tasks_only!();

    fn spawn_job<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> impl Future<Output = T> + Send + 'static {
        self.0.spawn(async { job() })
    }

    const CAN_POLL: Can = Ok(());

    fn spawn_future<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> impl Future<Output = T> + Send + 'static {
        self.0.spawn(future)
    }
}
