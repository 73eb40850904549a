//! Jobs that are not in a deque, with where they come from.

use super::isolate::Found;
use super::lineage::{Origin, Origins};
use crate::job::JobRef;
use drowse_sync::atomic::{AtomicUsize, Ordering};
use drowse_sync::{Mutex, Outlined};
use std::collections::VecDeque;

/// Jobs in the order in which they came, for somebody who may run some of them only. They have an
/// origin unless they come from outside of the pool.
#[derive(Debug)]
pub(super) struct Parcels {
    jobs: Mutex<Outlined<VecDeque<Parcel>>>,
    count: AtomicUsize,
}

/// A job, and where it comes from; `None` if it comes from outside.
type Parcel = (JobRef, Option<Origins>);

impl Parcels {
    pub(super) fn new() -> Self {
        Self { jobs: Mutex::new(Outlined::new(VecDeque::new())), count: AtomicUsize::new(0) }
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
    #[inline]
    pub(super) fn take_if(&self, may_run: impl Fn(Option<Origin>) -> bool) -> Option<Found> {
        if self.are_there() { self.take_first(&may_run) } else { None }
    }

    #[inline(never)]
    fn take_first(&self, may_run: &dyn Fn(Option<Origin>) -> bool) -> Option<Found> {
        let mut jobs = self.jobs.lock();
        let (place, origin) = find(&jobs, may_run)?;
        let (job, _) = jobs.remove(place)?;
        // ORDERING: relaxed; under the lock, so that it is right, and before that too high.
        self.count.store(jobs.len(), Ordering::Relaxed);
        Some(Found { job, origin })
    }

    /// Whether there is one that the caller may run.
    pub(super) fn have(&self, may_run: impl Fn(Option<Origin>) -> bool) -> bool {
        self.are_there() && find(&self.jobs.lock(), &may_run).is_some()
    }
}

/// Returns the first job that may be run, by its position, and the origin by which it may.
#[inline(never)]
fn find(
    jobs: &VecDeque<Parcel>,
    may_run: &dyn Fn(Option<Origin>) -> bool,
) -> Option<(usize, Option<Origin>)> {
    for (position, (_, origins)) in jobs.iter().enumerate() {
        let (first, second) = match origins {
            Some(origins) => (Some(origins.from), origins.also),
            None => (None, None),
        };
        if may_run(first) {
            return Some((position, first));
        }
        if second.is_some() && may_run(second) {
            return Some((position, second));
        }
    }
    None
}
