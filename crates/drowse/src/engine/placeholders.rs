//! Record of the [placeholders](Placeholder) in a worker's own deque.

use crate::job::{JobFifo, JobRef, Placeholder};
use drowse_sync::{Arc, Outlined, faulty};
use std::cell::{Cell, RefCell, RefMut};
use std::collections::VecDeque;

/// The placeholders in a worker's own deque.
#[derive(Debug, Default)]
pub(super) struct Placeholders {
    lists: RefCell<Outlined<Lists>>,
    pub(super) is_used: Cell<bool>,
}

#[derive(Debug, Default)]
pub(super) struct Lists {
    /// Placeholders with jobs, oldest first. Also those from which thieves have taken the job.
    pub(super) queued: VecDeque<Queued>,
    /// Placeholders that the worker has emptied, and that may still be in the deque.
    pub(super) emptied: Vec<Queued>,
}

#[derive(Debug)]
pub(super) struct Queued {
    pub(super) position: i64,
    /// For comparison only: the fifo may be gone when the job has run.
    pub(super) fifo: *const JobFifo,
    pub(super) placeholder: Arc<Placeholder>,
    /// The reference that the deque holds.
    pub(super) reference: JobRef,
}

impl Placeholders {
    /// Returns `true` if there may be placeholders in the deque.
    pub(super) fn is_used(&self) -> bool {
        self.is_used.get()
    }

    /// Returns the lists, without outdated placeholders: those at `end` or after it have been
    /// popped, and thieves take the oldest first.
    #[inline(never)]
    pub(super) fn lists(&self, end: i64) -> RefMut<'_, Outlined<Lists>> {
        let mut lists = self.lists.borrow_mut();
        while lists.queued.back().is_some_and(|newest| newest.position >= end) {
            lists.queued.pop_back();
        }
        while lists.queued.front().is_some_and(|oldest| oldest.placeholder.is_empty()) {
            lists.queued.pop_front();
        }
        lists
    }
}

impl Lists {
    /// Takes the oldest job of the fifo that `newest` belongs to, at `since` or after it. `None` if
    /// `newest`, which was popped at `position`, is the oldest, or belongs to no fifo.
    pub(super) fn take_older(
        &mut self,
        newest: JobRef,
        position: i64,
        since: i64,
    ) -> Option<JobRef> {
        let is_newest = |it: &&Queued| it.position == position && it.reference == newest;
        let fifo = self.queued.back().filter(is_newest)?.fifo;
        let since = faulty!("fifo/older-than-the-wait", since, i64::MIN);
        let first = self.queued.partition_point(|it| it.position < since);
        for i in first..self.queued.len() - 1 {
            let it = &self.queued[i];
            if let Some(job) = if it.fifo == fifo { it.placeholder.take() } else { None } {
                self.emptied.extend(self.queued.remove(i));
                return Some(job);
            }
        }
        self.queued.pop_back();
        None
    }
}
