//! The census: the state of each worker, and counts of the states.

use super::Mark;
use super::lookout::Keeper;
use drowse_sync::{Motion, ThreadId};

#[derive(Debug)]
pub(super) struct Census {
    active: usize,
    blocked: usize,
    gone: usize,
    /// Workers that are away, or sleep alone: they wait for something other than work.
    waiting: usize,
    workers: Box<[Worker]>,
    /// Number of changes of the above.
    pub(super) changes: u64,
    /// Value of `changes` when the last alarm was raised.
    pub(super) raised: Option<u64>,
    pub(super) lookout: Keeper,
    /// `true` once the pool is gone.
    pub(super) is_over: bool,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Worker {
    pub(super) asleep: bool,
    /// `true` if it sleeps [alone](crate::Sleep::sleep_alone).
    pub(super) alone: bool,
    /// The thread that blocks there, while another one may have its place.
    pub(super) away: Option<ThreadId>,
    pub(super) gone: bool,
    /// Marks of the worker as blocked, oldest first.
    pub(super) marks: Vec<Mark>,
}

impl Worker {
    fn is_active(&self) -> bool {
        !self.asleep && !self.gone && self.marks.is_empty() && self.away.is_none()
    }

    /// Returns `true` if it is marked and has not ended: its mark may outlive it, but an ended
    /// worker blocks no other.
    fn is_blocked(&self) -> bool {
        !self.gone && !self.marks.is_empty()
    }

    fn is_waiting(&self) -> bool {
        !self.gone && (self.alone || self.away.is_some())
    }

    /// Returns its membership: active, blocked, gone, waiting.
    fn counts(&self) -> [bool; 4] {
        [self.is_active(), self.is_blocked(), self.gone, self.is_waiting()]
    }
}

impl Census {
    /// Creates a census with all workers active, and no thread in the other seats.
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

    /// Returns `true` if no worker is active, and one is blocked or spares have run out.
    pub(super) fn is_suspect(&self) -> bool {
        self.active == 0 && (self.blocked > 0 || self.is_out_of_spares())
    }

    /// Returns `true` if a worker waits, another thread should work in its place, and all seats are
    /// taken.
    fn is_out_of_spares(&self) -> bool {
        self.waiting > 0 && self.gone == 0
    }

    pub(super) fn nobody_is_left(&self) -> bool {
        self.gone == self.workers.len()
    }

    /// Describes the state of each worker, when none is active.
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
    /// State of each worker.
    pub workers: Vec<Stopped>,
    /// `true` if workers wait, other threads should work in their place, and all seats are taken.
    /// This matters only if a job is queued.
    pub is_out_of_spares: bool,
}

/// State of a worker that is not active.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// Asleep until there is work, or what it waits for has happened.
    Asleep,
    /// Blocked, with its newest remaining mark.
    Blocked(Mark),
    /// [Away](crate::Sleep::mark_away), on this thread.
    Away(ThreadId),
    /// Ended.
    Gone,
}

impl Standstill {
    /// Returns `true` if a worker is marked as blocked.
    pub fn has_marks(&self) -> bool {
        self.workers.iter().any(|worker| matches!(worker, Stopped::Blocked(_)))
    }

    /// Returns the motions so far of the blocked and away threads, as far as the system tells;
    /// `None` if one of them runs, or could.
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
