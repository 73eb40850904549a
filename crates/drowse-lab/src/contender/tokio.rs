//! tokio: its threads for blocking work, its own tasks, and the crate that brings it to rayon.

use super::awaited::for_tasks_only;
use super::serial::Serial;
use super::{Can, Contender, Pool, Rayon, Reason};
use std::future::Future;
use tokio::runtime::{Builder, Runtime};
use tokio_rayon::AsyncThreadPool;

/// A runtime with so many threads for tasks, and as many for what blocks.
#[derive(Debug)]
pub struct Tokio(Runtime);

impl Contender for Tokio {
    const NAME: &'static str = "tokio";
    const ABOUT: &'static str = "tokio 1: jobs by spawn_blocking, futures by spawn";
    type Pool = Self;

    fn new(threads: usize) -> Result<Self, Reason> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(threads)
            .max_blocking_threads(threads)
            .build();
        runtime.map(Self).map_err(|_| "its threads could not be started")
    }
}

impl Pool for Tokio {
    type Fork = Serial;

    for_tasks_only!();

    fn spawn_job<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> impl Future<Output = T> + Send + 'static {
        let handle = self.0.spawn_blocking(job);
        async { handle.await.expect("a job does not panic") }
    }

    const CAN_POLL: Can = Ok(());

    fn spawn_future<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> impl Future<Output = T> + Send + 'static {
        let handle = self.0.spawn(future);
        async { handle.await.expect("a future does not panic") }
    }
}

/// rayon's pool, awaited through tokio-rayon.
#[derive(Debug)]
pub struct TokioRayon(rayon::ThreadPool);

impl Contender for TokioRayon {
    const NAME: &'static str = "tokio-rayon";
    const ABOUT: &'static str = "tokio-rayon 2: rayon's pool, awaited through a channel of tokio's";
    type Pool = Self;

    fn new(threads: usize) -> Result<Self, Reason> {
        // Whose core rayon has is a question for rayon.
        Rayon::new(1)?;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.map(Self).map_err(|_| "its threads could not be started")
    }
}

impl Pool for TokioRayon {
    type Fork = Serial;

    for_tasks_only!();

    fn spawn_job<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> impl Future<Output = T> + Send + 'static {
        self.0.spawn_async(job)
    }
}
