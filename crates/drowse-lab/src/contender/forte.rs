//! forte, a pool that shares work by heartbeat and runs futures.

use super::{Can, Contender, NO_HEARTBEAT, Pool, Reason, fork};
use forte::{ThreadPool, Worker};

/// A pool of forte's, which lives as long as the process.
pub struct Forte(&'static ThreadPool);

impl std::fmt::Debug for Forte {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Forte")
    }
}

/// Forks with a worker of forte's, on the worker's own thread.
#[derive(Debug)]
pub struct ForteFork(*const Worker);

impl ForteFork {
    fn within<R>(worker: &Worker, f: impl FnOnce(&mut Self) -> R) -> R {
        f(&mut Self(worker))
    }

    fn worker(&self) -> &Worker {
        // SAFETY: made by `within` from a worker that is borrowed until the closure that has us has
        // returned.
        unsafe { &*self.0 }
    }
}

fork! {
    #[inline(always)]
    fn join(self: ForteFork, a, b) {
        let worker = self.worker();
        worker.join(|worker| Self::within(worker, a), |worker| Self::within(worker, b))
    }

    const CAN_SPAWN: Can = Ok(());

    fn scope<J: FnOnce() + Send>(&mut self, jobs: impl Iterator<Item = J> + Send) -> Result<(), Reason> {
        self.worker().scope(|scope| jobs.for_each(|job| scope.spawn(move |_| job())));
        Ok(())
    }

    fn spawn<J: FnOnce() + Send + 'static>(&mut self, job: J) -> Result<(), Reason> {
        self.worker().spawn(move |_| job());
        Ok(())
    }
}

impl Contender for Forte {
    const NAME: &'static str = "forte";
    const ABOUT: &'static str = "forte 1.0.0-alpha.4 (1.0.0-beta asks for Rust 1.96)";
    type Pool = Self;

    fn new(threads: usize) -> Result<Self, Reason> {
        let pool: &'static ThreadPool = Box::leak(Box::new(ThreadPool::new()));
        if pool.resize_to(threads) == threads {
            Ok(Self(pool))
        } else {
            Err("it did not start that many threads")
        }
    }
}

impl Pool for Forte {
    type Fork = ForteFork;

    fn run<R: Send>(&self, f: impl FnOnce(&mut ForteFork) -> R + Send) -> R {
        self.0.with_worker(|worker| ForteFork::within(worker, f))
    }

    fn spawn<J: FnOnce() + Send + 'static>(&self, job: J) -> Result<(), Reason> {
        self.0.spawn(move |_| job());
        Ok(())
    }

    const CAN_WAIT_IN_HALVES: Can = Err(NO_HEARTBEAT);
}
