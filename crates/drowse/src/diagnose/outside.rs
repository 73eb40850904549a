//! Threads outside that wait for a pool, recorded for its stall watch, in pools that have one.

use super::WaitFor;
use super::report::WaitingThread;
use drowse_sync::{Mutex, Process, Stopwatch, ThreadId, thread};

/// The threads that wait for one pool and are not its workers: also workers of others, and guests.
#[derive(Debug)]
pub(super) struct Outside {
    waiters: Mutex<Waiters>,
    /// The process that may lock that: in a forked child, a thread of the parent may hold the lock.
    process: Process,
}

#[derive(Debug, Default)]
struct Waiters {
    next_number: u64,
    all: Vec<Waiter>,
}

#[derive(Debug)]
struct Waiter {
    number: u64,
    name: Option<String>,
    thread: ThreadId,
    waits_for: WaitFor,
    clock: Stopwatch,
    /// The worker that has begun the closure that the thread waits for, if it is one closure.
    begun_by: Option<usize>,
}

/// Guard of the calling thread's wait. Does nothing in a pool without a stall watch.
#[derive(Debug)]
pub(crate) struct OutsideWait<'p>(Option<(&'p Outside, u64)>);

impl Outside {
    pub(super) fn new() -> Self {
        Self { waiters: Mutex::new(Waiters::default()), process: Process::this() }
    }

    /// Notes that the calling thread begins to wait.
    pub(super) fn wait(&self, waits_for: WaitFor) -> OutsideWait<'_> {
        OutsideWait(self.process.is_this().then(|| (self, self.note_waiter(waits_for))))
    }

    #[cold]
    fn note_waiter(&self, waits_for: WaitFor) -> u64 {
        let name = thread::current().name().map(str::to_owned);
        let (thread, clock) = (ThreadId::current(), Stopwatch::start());
        let mut waiters = self.waiters.lock();
        let number = waiters.next_number;
        waiters.next_number += 1;
        waiters.all.push(Waiter { number, name, thread, waits_for, clock, begun_by: None });
        number
    }

    /// Returns the waiting threads, the longest wait first, each with the worker that has begun the
    /// job.
    pub(super) fn waiters(&self) -> Vec<(WaitingThread, Option<usize>)> {
        let waiters = self.waiters.lock();
        // They are in the order in which they came.
        let mut reports = Vec::with_capacity(waiters.all.len());
        for waiter in &waiters.all {
            reports.push((waiter.report(), waiter.begun_by));
        }
        reports
    }
}

impl Waiter {
    fn report(&self) -> WaitingThread {
        WaitingThread {
            name: self.name.clone(),
            thread: Some(self.thread.to_bits()),
            waits_for: self.waits_for,
            since: self.clock.elapsed(),
        }
    }
}

impl OutsideWait<'_> {
    /// Returns a guard for a wait that is not noted.
    pub(super) fn none() -> Self {
        Self(None)
    }

    /// Notes that this worker has begun the closure that the thread waits for.
    pub(crate) fn note_begun(&self, worker: usize) {
        self.change(&|all, own| all[own].begun_by = Some(worker));
    }

    /// Calls `change` with all notes, and the position of this one among them.
    fn change(&self, change: &dyn Fn(&mut Vec<Waiter>, usize)) {
        let Some((outside, number)) = self.0.filter(|(outside, _)| outside.process.is_this())
        else {
            return;
        };
        let mut waiters = outside.waiters.lock();
        if let Some(own) = waiters.all.iter().position(|waiter| waiter.number == number) {
            change(&mut waiters.all, own);
        }
    }
}

impl Drop for OutsideWait<'_> {
    fn drop(&mut self) {
        self.change(&|all, own| drop(all.remove(own)));
    }
}
