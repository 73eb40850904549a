//! Jobs that are not in a deque, with their origins.

use super::lineage::{Origin, Origins};
use super::run::Found;
use crate::job::JobRef;
use drowse_sync::atomic::{AtomicUsize, Ordering};
use drowse_sync::{Mutex, Outlined};
use std::collections::VecDeque;

/// Queue of jobs, oldest first, from which a worker may take only some. A job has an origin unless
/// it comes from outside of the pool.
#[derive(Debug)]
pub(super) struct Parcels {
    jobs: Mutex<Outlined<VecDeque<Parcel>>>,
    count: AtomicUsize,
}

/// A job and its origins; `None` if it comes from outside.
type Parcel = (JobRef, Option<Origins>);

impl Parcels {
    pub(super) fn new() -> Self {
        Self { jobs: Mutex::new(Outlined::new(VecDeque::new())), count: AtomicUsize::new(0) }
    }

    pub(super) fn push(&self, job: JobRef, origins: Option<Origins>) {
        let mut jobs = self.jobs.lock();
        jobs.push_back((job, origins));
        // ORDERING: release pairs with the acquire in `are_there`. Relaxed would do: the lock
        // publishes the job, and all callers go on to a post, which executes a full fence.
        self.count.store(jobs.len(), Ordering::Release);
    }

    pub(super) fn are_there(&self) -> bool {
        // ORDERING: acquire pairs with the release in `push`. A worker on its way to sleep calls
        // this after a fence of its own, which pairs with that of the post: no job is missed.
        self.count.load(Ordering::Acquire) > 0
    }

    /// Takes the first job that the caller may run, and returns it with the origin that `may_run`
    /// has accepted: a job may have two.
    #[inline]
    pub(super) fn take_if(&self, may_run: impl Fn(Option<Origin>) -> bool) -> Option<Found> {
        if self.are_there() { self.take_first(&may_run) } else { None }
    }

    #[inline(never)]
    fn take_first(&self, may_run: &dyn Fn(Option<Origin>) -> bool) -> Option<Found> {
        let mut jobs = self.jobs.lock();
        let (place, origin) = find(&jobs, may_run)?;
        let (job, _) = jobs.remove(place)?;
        // ORDERING: relaxed; the lock orders the stores. A reader that misses this one sees a count
        // that is too high, and finds no job under the lock.
        self.count.store(jobs.len(), Ordering::Relaxed);
        Some(Found { job, origin })
    }

    /// Returns `true` if there is a job that the caller may run.
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
