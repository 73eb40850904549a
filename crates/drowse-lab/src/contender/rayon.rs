//! rayon.

use super::{Fork, Job, Pool, Reason};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// rayon's own pool.
#[derive(Debug)]
pub struct Rayon(ThreadPool);

/// Forks with `rayon::join`.
#[derive(Debug)]
pub struct RayonFork;

impl Fork for RayonFork {
    #[inline(always)]
    fn join<A, B, RA, RB>(&mut self, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(&mut Self) -> RA + Send,
        B: FnOnce(&mut Self) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        rayon::join(|| a(&mut Self), || b(&mut Self))
    }
}

impl Pool for Rayon {
    const NAME: &'static str = "rayon";
    const ABOUT: &'static str = "rayon 1.12 on its own core";
    type Fork = RayonFork;

    fn new(threads: usize) -> Result<Self, Reason> {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        pool.map(Self).map_err(|_| "its threads could not be started")
    }

    fn run<R: Send>(&self, f: impl FnOnce(&mut RayonFork) -> R + Send) -> R {
        self.0.install(|| f(&mut RayonFork))
    }

    fn spawn(&self, job: Job) -> Result<(), Reason> {
        self.0.spawn(job);
        Ok(())
    }
}
