//! chili, a pool that shares work by heartbeat.

use super::{Can, Contender, NO_HEARTBEAT, Pool, Reason, fork};
use chili::{Config, Scope, ThreadPool};
use std::num::NonZero;

/// A pool of chili's.
#[derive(Debug)]
pub struct Chili(ThreadPool);

/// Forks with a scope of chili's, which the thread that has it alone may use.
#[derive(Debug)]
pub struct ChiliFork(*mut Scope<'static>);

impl ChiliFork {
    fn within<R>(scope: &mut Scope<'_>, f: impl FnOnce(&mut Self) -> R) -> R {
        f(&mut Self(std::ptr::from_mut(scope).cast()))
    }
}

fork! {
    #[inline(always)]
    fn join(self: ChiliFork, a, b) {
        // SAFETY: made by `within` from a scope that is borrowed until the closure that calls us
        // has returned, and that nobody else uses until then. What its lifetime says does not
        // matter to `join`.
        let scope = unsafe { &mut *self.0 };
        scope.join(|scope| Self::within(scope, a), |scope| Self::within(scope, b))
    }
}

impl Contender for Chili {
    const NAME: &'static str = "chili";
    const ABOUT: &'static str =
        "chili 0.2: shares a job each heartbeat, and runs most joins as plain calls";
    type Pool = Self;

    fn new(threads: usize) -> Result<Self, Reason> {
        let config = Config { thread_count: NonZero::new(threads), ..Config::default() };
        Ok(Self(ThreadPool::with_config(config)))
    }
}

impl Pool for Chili {
    type Fork = ChiliFork;

    fn run<R: Send>(&self, f: impl FnOnce(&mut ChiliFork) -> R + Send) -> R {
        ChiliFork::within(&mut self.0.scope(), f)
    }

    const CAN_SPAWN: Can = Err("it takes no jobs that nobody waits for");

    fn spawn<J: FnOnce() + Send + 'static>(&self, _job: J) -> Result<(), Reason> {
        Self::CAN_SPAWN
    }

    const CAN_WAIT_IN_HALVES: Can = Err(NO_HEARTBEAT);
}
