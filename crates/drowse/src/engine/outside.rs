//! Threads outside that wait for a pool, recorded for its stall watch, in pools that have one.

use super::registry::Registry;
use super::trail::WaitFor;
use super::worker::WorkerThread;
use crate::report::WaitingThread;
use drowse_sync::{Mutex, Stopwatch, ThreadId, thread};

/// The threads that wait for one pool and are not its workers: also workers of others, and guests.
#[derive(Debug)]
pub(super) struct Outside {
    waiters: Mutex<Waiters>,
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

/// Guard of the calling thread's wait.
#[derive(Debug)]
pub(crate) struct OutsideWait<'r> {
    registry: &'r Registry,
    number: u64,
}

impl Registry {
    /// Notes that the calling thread begins to wait for this pool, for the pool's stall watch.
    /// Returns `None` where there is no watch, and does nothing.
    pub(crate) fn note_waiter(&self, waits_for: WaitFor) -> Option<OutsideWait<'_>> {
        // In a forked child, a thread of the parent may hold the lock.
        let outside = self.outside.as_ref().filter(|_| !self.is_left_behind())?;
        let number = outside.note_waiter(waits_for);
        Some(OutsideWait { registry: self, number })
    }

    /// Returns `true` if the pool has a stall watch, which wants to know of threads that wait.
    pub(crate) fn notes_waiters(&self) -> bool {
        self.outside.is_some()
    }
}

impl Outside {
    pub(super) fn new() -> Self {
        Self { waiters: Mutex::new(Waiters::default()) }
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
    /// Notes that the calling worker has begun the closure that the thread waits for.
    #[cold]
    pub(super) fn note_begun(&self) {
        let worker = WorkerThread::with_current(|worker| worker.map(WorkerThread::index));
        self.change(&|all, own| all[own].begun_by = worker);
    }

    /// Calls `change` with all notes, and the position of this one among them.
    #[cold]
    #[inline(never)]
    fn change(&self, change: &dyn Fn(&mut Vec<Waiter>, usize)) {
        // In a forked child, a thread of the parent may hold the lock.
        let Some(outside) =
            self.registry.outside.as_ref().filter(|_| !self.registry.is_left_behind())
        else {
            return;
        };
        let mut waiters = outside.waiters.lock();
        if let Some(own) = waiters.all.iter().position(|waiter| waiter.number == self.number) {
            change(&mut waiters.all, own);
        }
    }
}

impl Drop for OutsideWait<'_> {
    fn drop(&mut self) {
        self.change(&|all, own| drop(all.remove(own)));
    }
}
