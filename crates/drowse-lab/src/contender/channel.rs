//! The pool that people write themselves: some threads and a channel.

use super::borrowed::{Job, forever};
use super::serial::Serial;
use super::{Can, Contender, Pool, Reason};
use crossbeam_channel::Sender;
use std::panic::{self, AssertUnwindSafe};
use std::{process, thread};

/// Threads that take jobs from a channel.
#[derive(Debug)]
pub struct Channel {
    jobs: Sender<Job>,
}

impl Contender for Channel {
    const NAME: &'static str = "channel";
    const ABOUT: &'static str = "threads that take jobs from a crossbeam channel";
    type Pool = Self;

    fn new(threads: usize) -> Result<Self, Reason> {
        let (jobs, queue) = crossbeam_channel::unbounded::<Job>();
        for _ in 0..threads {
            let queue = queue.clone();
            thread::spawn(move || queue.into_iter().for_each(|job| job()));
        }
        Ok(Self { jobs })
    }
}

impl Pool for Channel {
    type Fork = Serial;

    const CAN_FORK: Can =
        Err("a channel does not fork: who waits for a job on a thread of the pool blocks it");

    fn run<R: Send>(&self, f: impl FnOnce(&mut Serial) -> R + Send) -> R {
        let (send, receive) = crossbeam_channel::bounded(1);
        let job = Box::new(move || {
            let _ = send.send(panic::catch_unwind(AssertUnwindSafe(|| f(&mut Serial))));
        });
        // SAFETY: the result comes when the job is done with what it borrows. Without one, the
        // process ends here; and a job that cannot be sent is dropped here.
        let job = unsafe { forever(job) };
        self.jobs
            .send(job)
            .unwrap_or_else(|_| unreachable!("the threads live as long as the channel"));
        match receive.recv() {
            Ok(result) => result.unwrap_or_else(|payload| panic::resume_unwind(payload)),
            Err(_) => process::abort(),
        }
    }

    fn spawn<J: FnOnce() + Send + 'static>(&self, job: J) -> Result<(), Reason> {
        self.jobs.send(Box::new(job)).map_err(|_| "its threads have ended")
    }
}
