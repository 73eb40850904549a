//! Jobs that are not in a deque, with where they come from.

use super::isolate::Found;
use super::lineage::{Origin, Origins};
use crate::job::JobRef;
use drowse_sync::Mutex;
use drowse_sync::atomic::{AtomicUsize, Ordering};
use std::collections::VecDeque;

/// Jobs in the order in which they came, for somebody who may run some of them only. They have an
/// origin unless they come from outside of the pool.
#[derive(Debug)]
pub(super) struct Parcels {
    jobs: Mutex<VecDeque<(JobRef, Option<Origins>)>>,
    count: AtomicUsize,
}

impl Parcels {
    pub(super) fn new() -> Self {
        Self { jobs: Mutex::new(VecDeque::new()), count: AtomicUsize::new(0) }
    }

    pub(super) fn push(&self, job: JobRef, origins: Option<Origins>) {
        let mut jobs = self.jobs.lock();
        jobs.push_back((job, origins));
        // ORDERING: release pairs with the acquire in `are_there`. Belt and braces: the job is
        // behind the lock. The caller goes on to post, by a fence.
        self.count.store(jobs.len(), Ordering::Release);
    }

    pub(super) fn are_there(&self) -> bool {
        // ORDERING: acquire, see above. Whoever must not miss one has executed a fence.
        self.count.load(Ordering::Acquire) > 0
    }

    /// The first that the caller may run, by where it comes from, with that: one may come from more
    /// than one place.
    pub(super) fn take_if(&self, may_run: impl Fn(Option<Origin>) -> bool) -> Option<Found> {
        if !self.are_there() {
            return None;
        }
        let mut jobs = self.jobs.lock();
        let origin_of = |(_, origins): &(JobRef, Option<Origins>)| places(*origins).find(|it| may_run(*it));
        let (place, origin) =
            jobs.iter().enumerate().find_map(|(place, job)| Some((place, origin_of(job)?)))?;
        let (job, _) = jobs.remove(place)?;
        // ORDERING: relaxed; under the lock, so that it is right, and before that too high.
        self.count.store(jobs.len(), Ordering::Relaxed);
        Some(Found { job, origin })
    }

    /// Whether there is one that the caller may run.
    pub(super) fn have(&self, may_run: impl Fn(Option<Origin>) -> bool) -> bool {
        self.are_there() && self.jobs.lock().iter().any(|(_, origins)| places(*origins).any(&may_run))
    }
}

/// Where a job comes from: from one or more places in the pool, or from outside.
fn places(origins: Option<Origins>) -> impl Iterator<Item = Option<Origin>> {
    let outside = origins.is_none().then_some(None);
    origins.into_iter().flat_map(Origins::all).map(Some).chain(outside)
}
