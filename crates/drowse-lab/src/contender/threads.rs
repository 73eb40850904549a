//! A thread per fork: what the standard library has.

use super::{Can, Contender, Pool, Reason, fork};
use std::thread;

/// `std::thread::scope`, for each fork while there are few threads.
#[derive(Debug)]
pub struct Threads(usize);

/// How many threads may still be started below this place.
#[derive(Debug)]
pub struct ThreadsFork(usize);

fork! {
    fn join(self: ThreadsFork, a, b) {
        if self.0 < 2 {
            let result = a(self);
            return (result, b(self));
        }
        let (left, right) = (self.0 / 2, self.0 - self.0 / 2);
        thread::scope(|scope| {
            let b = scope.spawn(move || b(&mut Self(left)));
            let a = a(&mut Self(right));
            (a, b.join().unwrap_or_else(|payload| std::panic::resume_unwind(payload)))
        })
    }

    const CAN_SPAWN: Can = Err("a thread a job: so many jobs would be too many threads");
}

impl Contender for Threads {
    const NAME: &'static str = "threads";
    const ABOUT: &'static str =
        "std::thread::scope: a new thread a fork, until there are enough; then plain calls";
    type Pool = Self;

    fn new(threads: usize) -> Result<Self, Reason> {
        Ok(Self(threads))
    }
}

impl Pool for Threads {
    type Fork = ThreadsFork;

    const CAN_ENTER: Can =
        Err("no thread waits for work: the caller does it, and starts threads when it forks");

    fn run<R: Send>(&self, f: impl FnOnce(&mut ThreadsFork) -> R + Send) -> R {
        f(&mut ThreadsFork(self.0))
    }

    fn spawn<J: FnOnce() + Send + 'static>(&self, job: J) -> Result<(), Reason> {
        thread::Builder::new().spawn(job).map(drop).map_err(|_| "no more threads could be started")
    }
}
