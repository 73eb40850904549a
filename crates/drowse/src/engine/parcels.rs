//! Jobs that are not in a deque, with where they come from.

use super::isolate::Found;
use super::lineage::Stolen;
use crate::job::JobRef;
use drowse_sync::Mutex;
use drowse_sync::atomic::{AtomicUsize, Ordering};
use std::collections::VecDeque;

/// Where a job comes from: the worker that made it, and how far its deque had got; `None` if that
/// was none of the pool.
pub(super) type Origin = Option<Stolen>;

/// Jobs in the order in which they came, for somebody who may run some of them only. There are few.
#[derive(Debug)]
pub(super) struct Parcels {
    jobs: Mutex<VecDeque<(JobRef, Origin)>>,
    count: AtomicUsize,
}

impl Parcels {
    pub(super) fn new() -> Self {
        Self { jobs: Mutex::new(VecDeque::new()), count: AtomicUsize::new(0) }
    }

    pub(super) fn push(&self, job: JobRef, origin: Origin) {
        self.jobs.lock().push_back((job, origin));
        // ORDERING: release pairs with the acquire in `are_there`. Belt and braces: the job is
        // behind the lock. The caller goes on to post, by a fence.
        self.count.fetch_add(1, Ordering::Release);
    }

    pub(super) fn are_there(&self) -> bool {
        // ORDERING: acquire, see above. Whoever must not miss one has executed a fence.
        self.count.load(Ordering::Acquire) > 0
    }

    /// The first that the caller may run.
    pub(super) fn take_if(&self, may_run: impl Fn(Origin) -> bool) -> Option<Found> {
        if !self.are_there() {
            return None;
        }
        let mut jobs = self.jobs.lock();
        let place = jobs.iter().position(|(_, origin)| may_run(*origin))?;
        let (job, stolen) = jobs.remove(place)?;
        // ORDERING: relaxed; it may be too high for a moment, never too low.
        self.count.fetch_sub(1, Ordering::Relaxed);
        Some(Found { job, stolen })
    }

    /// Whether there is one that the caller may run.
    pub(super) fn have(&self, may_run: impl Fn(Origin) -> bool) -> bool {
        self.are_there() && self.jobs.lock().iter().any(|(_, origin)| may_run(*origin))
    }
}
