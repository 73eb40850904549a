//! Who is what.

use super::lookout::Keeper;
use drowse_sync::{Motion, ThreadId};
use std::panic::Location;

#[derive(Debug)]
pub(super) struct Census {
    active: usize,
    blocked: usize,
    workers: Box<[Worker]>,
    /// How often anything of the above has changed.
    pub(super) changes: u64,
    /// What `changes` was when the last alarm was raised.
    pub(super) raised: Option<u64>,
    pub(super) lookout: Keeper,
    /// The pool is gone.
    pub(super) is_over: bool,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Worker {
    pub(super) asleep: bool,
    pub(super) gone: bool,
    /// How it was marked as blocked, oldest first.
    pub(super) marks: Vec<Mark>,
}

/// That a worker is about to block: on what, where, and on which thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mark {
    /// What it blocks on, if it said so.
    pub what: Option<&'static str>,
    /// Where it said that it blocks.
    pub at: &'static Location<'static>,
    /// The thread that said so.
    pub thread: ThreadId,
}

impl Mark {
    /// The calling thread, at the place of the call.
    #[track_caller]
    pub fn here(what: Option<&'static str>) -> Self {
        Self { what, at: Location::caller(), thread: ThreadId::current() }
    }
}

impl Worker {
    fn is_active(&self) -> bool {
        !self.asleep && !self.gone && self.marks.is_empty()
    }

    /// Its mark may outlive it, but a worker that has ended keeps nobody waiting.
    fn is_blocked(&self) -> bool {
        !self.gone && !self.marks.is_empty()
    }
}

impl Census {
    /// All workers active.
    pub(super) fn new(workers: usize) -> Self {
        Self {
            active: workers,
            blocked: 0,
            workers: vec![Worker::default(); workers].into_boxed_slice(),
            changes: 0,
            raised: None,
            lookout: Keeper::Nobody,
            is_over: false,
        }
    }

    pub(super) fn change(&mut self, index: usize, change: impl FnOnce(&mut Worker)) {
        let worker = &mut self.workers[index];
        let before = (worker.is_active(), worker.is_blocked());
        change(worker);
        let after = (worker.is_active(), worker.is_blocked());
        self.active = self.active + usize::from(after.0) - usize::from(before.0);
        self.blocked = self.blocked + usize::from(after.1) - usize::from(before.1);
        self.changes += 1;
    }

    /// Whether nobody is active, and somebody blocked.
    pub(super) fn is_suspect(&self) -> bool {
        self.active == 0 && self.blocked > 0
    }

    /// Whether all workers have ended.
    pub(super) fn nobody_is_left(&self) -> bool {
        self.workers.iter().all(|worker| worker.gone)
    }

    /// What everybody is, when nobody is active.
    pub(super) fn standstill(&self) -> Standstill {
        let stopped = |worker: &Worker| match worker.marks.last() {
            _ if worker.gone => Stopped::Gone,
            Some(mark) => Stopped::Blocked(*mark),
            None => Stopped::Asleep,
        };
        Standstill { workers: self.workers.iter().map(stopped).collect() }
    }
}

/// A pool in which nothing moves: no worker is active, and at least one is blocked in the user's
/// code.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Standstill {
    /// What each worker is.
    pub workers: Vec<Stopped>,
}

/// What a worker is that is not active.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// It sleeps until there is work, or what it waits for has happened.
    Asleep,
    /// It is blocked, since the last of its marks that lives.
    Blocked(Mark),
    /// It has ended.
    Gone,
}

impl Standstill {
    /// How the threads that are blocked have moved so far, as far as the system tells; `None` if
    /// one of them does not wait: it runs, or could.
    pub fn motions(&self) -> Option<Vec<Option<Motion>>> {
        let marks = self.workers.iter().filter_map(|worker| match worker {
            Stopped::Blocked(mark) => Some(mark),
            Stopped::Asleep | Stopped::Gone => None,
        });
        let motions = marks.map(|mark| mark.thread.motion());
        motions.map(|motion| motion.is_none_or(|motion| motion.waits).then_some(motion)).collect()
    }
}
