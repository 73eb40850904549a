//! Who is what.

use super::lookout::Keeper;
use drowse_sync::{Motion, ThreadId};
use std::panic::Location;

#[derive(Debug)]
pub(super) struct Census {
    active: usize,
    blocked: usize,
    gone: usize,
    /// Those that are away, or sleep alone: they wait for something, and not for work.
    waiting: usize,
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
    /// It sleeps [alone](crate::Sleep::sleep_alone).
    pub(super) alone: bool,
    /// The thread that blocks there, where another one may have its place meanwhile.
    pub(super) away: Option<ThreadId>,
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
        !self.asleep && !self.gone && self.marks.is_empty() && self.away.is_none()
    }

    /// Its mark may outlive it, but a worker that has ended keeps nobody waiting.
    fn is_blocked(&self) -> bool {
        !self.gone && !self.marks.is_empty()
    }

    fn is_waiting(&self) -> bool {
        !self.gone && (self.alone || self.away.is_some())
    }

    /// Whether it counts as active, blocked, gone, waiting.
    fn counts(&self) -> [bool; 4] {
        [self.is_active(), self.is_blocked(), self.gone, self.is_waiting()]
    }
}

impl Census {
    /// All workers active, and nobody in the other seats.
    pub(super) fn new(workers: usize, seats: usize) -> Self {
        let mut seated = vec![Worker::default(); seats];
        for empty in &mut seated[workers..] {
            empty.gone = true;
        }
        Self {
            active: workers,
            blocked: 0,
            gone: seats - workers,
            waiting: 0,
            workers: seated.into_boxed_slice(),
            changes: 0,
            raised: None,
            lookout: Keeper::Nobody,
            is_over: false,
        }
    }

    #[inline(never)]
    pub(super) fn change(&mut self, index: usize, change: &dyn Fn(&mut Worker)) {
        let worker = &mut self.workers[index];
        let before = worker.counts();
        change(worker);
        let after = worker.counts();
        let counts = [&mut self.active, &mut self.blocked, &mut self.gone, &mut self.waiting];
        for (count, (before, after)) in counts.into_iter().zip(before.into_iter().zip(after)) {
            *count = *count + usize::from(after) - usize::from(before);
        }
        self.changes += 1;
    }

    /// Whether nobody is active, and somebody is blocked, or no spare is left for those that wait.
    pub(super) fn is_suspect(&self) -> bool {
        self.active == 0 && (self.blocked > 0 || self.is_out_of_spares())
    }

    /// Whether workers wait in a way in which another thread should work in their place, and all
    /// seats are taken.
    fn is_out_of_spares(&self) -> bool {
        self.waiting > 0 && self.gone == 0
    }

    /// Whether all workers have ended.
    pub(super) fn nobody_is_left(&self) -> bool {
        self.gone == self.workers.len()
    }

    /// What everybody is, when nobody is active.
    pub(super) fn standstill(&self) -> Standstill {
        let stopped = |worker: &Worker| match (worker.marks.last(), worker.away) {
            _ if worker.gone => Stopped::Gone,
            (Some(mark), _) => Stopped::Blocked(*mark),
            (None, Some(thread)) if !worker.asleep => Stopped::Away(thread),
            (None, _) => Stopped::Asleep,
        };
        let mut workers = Vec::with_capacity(self.workers.len());
        for worker in &self.workers {
            workers.push(stopped(worker));
        }
        Standstill { workers, is_out_of_spares: self.is_out_of_spares() }
    }
}

/// A pool in which nothing moves: no worker is active; and at least one is blocked in the user's
/// code, or no thread is left that could work in the place of those that wait.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Standstill {
    /// What each worker is.
    pub workers: Vec<Stopped>,
    /// Whether workers wait that would let another thread work in their place, and all seats are
    /// taken. It depends on what is queued whether that matters.
    pub is_out_of_spares: bool,
}

/// What a worker is that is not active.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// It sleeps until there is work, or what it waits for has happened.
    Asleep,
    /// It is blocked, since the last of its marks that lives.
    Blocked(Mark),
    /// This thread of it is [away](crate::Sleep::mark_away).
    Away(ThreadId),
    /// It has ended.
    Gone,
}

impl Standstill {
    /// Whether a worker is marked as blocked.
    pub fn has_marks(&self) -> bool {
        self.workers.iter().any(|worker| matches!(worker, Stopped::Blocked(_)))
    }

    /// How the threads that are blocked, or away, have moved so far, as far as the system tells;
    /// `None` if one of them does not wait: it runs, or could.
    pub fn motions(&self) -> Option<Vec<Option<Motion>>> {
        let mut motions = Vec::new();
        for worker in &self.workers {
            let thread = match worker {
                Stopped::Blocked(mark) => mark.thread,
                Stopped::Away(thread) => *thread,
                Stopped::Asleep | Stopped::Gone => continue,
            };
            let motion = thread.motion();
            if motion.is_some_and(|motion| !motion.waits) {
                return None;
            }
            motions.push(motion);
        }
        Some(motions)
    }
}
