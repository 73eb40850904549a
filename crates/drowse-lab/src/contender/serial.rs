//! One thread, and nothing else.

use super::{Pool, Reason, fork};

/// Calls one after the other.
#[derive(Debug)]
pub struct Serial;

fork! {
    fn join(self: Serial, a, b) {
        let result = a(self);
        (result, b(self))
    }
}

impl Pool for Serial {
    const NAME: &'static str = "serial";
    const ABOUT: &'static str = "plain calls on one thread";
    type Fork = Self;

    fn new(_threads: usize) -> Result<Self, Reason> {
        Ok(Self)
    }

    fn run<R: Send>(&self, f: impl FnOnce(&mut Self) -> R + Send) -> R {
        f(&mut Self)
    }

    fn can_spawn() -> Result<(), Reason> {
        Err("there is no pool to give a job to")
    }

    fn spawn<J: FnOnce() + Send + 'static>(&self, _job: J) -> Result<(), Reason> {
        Self::can_spawn()
    }

    fn is_parallel() -> bool {
        false
    }
}
