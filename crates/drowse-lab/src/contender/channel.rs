//! The pool that people write themselves: some threads and a channel.

use super::serial::Serial;
use super::{Job, Pool, Reason};
use crossbeam_channel::Sender;
use std::thread;

/// Threads that take jobs from a channel.
#[derive(Debug)]
pub struct Channel {
    jobs: Sender<Job>,
}

impl Pool for Channel {
    const NAME: &'static str = "channel";
    const ABOUT: &'static str = "threads that take jobs from a crossbeam channel";
    type Fork = Serial;

    fn new(threads: usize) -> Result<Self, Reason> {
        let (jobs, queue) = crossbeam_channel::unbounded::<Job>();
        for _ in 0..threads {
            let queue = queue.clone();
            thread::spawn(move || queue.into_iter().for_each(|job| job()));
        }
        Ok(Self { jobs })
    }

    fn can_fork(&self) -> Result<(), Reason> {
        Err("a channel does not fork: who waits for a job on a thread of the pool blocks it")
    }

    fn run<R: Send>(&self, f: impl FnOnce(&mut Serial) -> R + Send) -> R {
        let (send, receive) = crossbeam_channel::bounded(1);
        let job: Box<dyn FnOnce() + Send + '_> = Box::new(move || {
            let _ = send.send(f(&mut Serial));
        });
        // SAFETY: the job is waited for right here, so what it borrows outlives it; if the pool dropped it unrun, `recv` would
        // return as well, and panic.
        let job: Job = unsafe { std::mem::transmute(job) };
        self.jobs.send(job).unwrap_or_else(|_| unreachable!("the threads live as long as the channel"));
        receive.recv().expect("the job ran")
    }

    fn spawn(&self, job: Job) -> Result<(), Reason> {
        self.jobs.send(job).map_err(|_| "its threads have ended")
    }
}
