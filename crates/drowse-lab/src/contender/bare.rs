//! The limit: what the operating system does, with nothing around it.

use super::borrowed::{Job, forever};
use super::serial::Serial;
use super::{Can, Contender, Pool, Reason};
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Thread};

/// One thread that parks until somebody leaves it a job and unparks it.
#[derive(Debug)]
pub struct Bare {
    place: Arc<Place>,
    thread: Thread,
}

#[derive(Default)]
struct Place(Mutex<Vec<Job>>);

impl std::fmt::Debug for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Place")
    }
}

impl Bare {
    fn give(&self, job: Job) {
        self.place.0.lock().unwrap_or_else(PoisonError::into_inner).push(job);
        self.thread.unpark();
    }
}

impl Contender for Bare {
    const NAME: &'static str = "bare";
    const ABOUT: &'static str =
        "the limit: one thread, parked and unparked by the standard library";
    type Pool = Self;

    fn new(_threads: usize) -> Result<Self, Reason> {
        let place = Arc::new(Place::default());
        let taker = Arc::clone(&place);
        let thread = thread::spawn(move || {
            loop {
                let jobs =
                    std::mem::take(&mut *taker.0.lock().unwrap_or_else(PoisonError::into_inner));
                if jobs.is_empty() {
                    thread::park();
                }
                jobs.into_iter().for_each(|job| job());
            }
        });
        Ok(Self { place, thread: thread.thread().clone() })
    }
}

impl Pool for Bare {
    type Fork = Serial;

    const CAN_FORK: Can = Err("one thread: nothing to fork to");

    fn run<R: Send>(&self, f: impl FnOnce(&mut Serial) -> R + Send) -> R {
        let (result, caller) = (Arc::new(Mutex::new(None)), thread::current());
        let to = Arc::clone(&result);
        let job = Box::new(move || {
            let value = panic::catch_unwind(AssertUnwindSafe(|| f(&mut Serial)));
            *to.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
            caller.unpark();
        });
        // SAFETY: it panics nowhere below before the result is there, which the job leaves when it
        // is done with what it borrows.
        self.give(unsafe { forever(job) });
        loop {
            if let Some(value) = result.lock().unwrap_or_else(PoisonError::into_inner).take() {
                return value.unwrap_or_else(|payload| panic::resume_unwind(payload));
            }
            thread::park();
        }
    }

    fn spawn<J: FnOnce() + Send + 'static>(&self, job: J) -> Result<(), Reason> {
        self.give(Box::new(job));
        Ok(())
    }

    const IS_PARALLEL: bool = false;
}
