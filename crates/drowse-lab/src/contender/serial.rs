//! One thread, and nothing else.

use super::{Can, Contender, Pool, Reason, fork};

/// Calls one after the other.
#[derive(Debug)]
pub struct Serial;

fork! {
    fn join(self: Serial, a, b) {
        let result = a(self);
        (result, b(self))
    }
}

impl Contender for Serial {
    const NAME: &'static str = "serial";
    const ABOUT: &'static str = "plain calls on one thread";
    type Pool = Self;

    fn new(_threads: usize) -> Result<Self, Reason> {
        Ok(Self)
    }
}

impl Pool for Serial {
    type Fork = Self;

    fn run<R: Send>(&self, f: impl FnOnce(&mut Self) -> R + Send) -> R {
        f(&mut Self)
    }

    const CAN_SPAWN: Can = Err("there is no pool to give a job to");

    fn spawn<J: FnOnce() + Send + 'static>(&self, _job: J) -> Result<(), Reason> {
        Self::CAN_SPAWN
    }

    const IS_PARALLEL: bool = false;
}
