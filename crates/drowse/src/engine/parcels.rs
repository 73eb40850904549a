//! Jobs that are not in a deque, with their origins.

use super::lineage::{Found, Origin, Origins};
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

    /// Takes the first job that `by` may run, and returns it with the origin by which it may: a job
    /// may have two. `None`: a worker that may run any job.
    #[inline]
    pub(super) fn take(&self, by: Option<&dyn Waiter>) -> Option<Found> {
        if self.are_there() { self.take_first(by) } else { None }
    }

    #[cold]
    #[inline(never)]
    fn take_first(&self, by: Option<&dyn Waiter>) -> Option<Found> {
        let mut jobs = self.jobs.lock();
        let (place, origin) = first_for(by, &jobs)?;
        let (job, _) = jobs.remove(place)?;
        // ORDERING: relaxed; the lock orders the stores. A reader that misses this one sees a count
        // that is too high, and finds no job under the lock.
        self.count.store(jobs.len(), Ordering::Relaxed);
        Some(Found { job, origin })
    }

    /// Returns `true` if there is a job that `by` may run.
    pub(super) fn have(&self, by: Option<&dyn Waiter>) -> bool {
        self.are_there() && first_for(by, &self.jobs.lock()).is_some()
    }
}

/// A worker that may take only some jobs.
pub(super) trait Waiter {
    /// Returns `true` if it may run jobs with this origin.
    fn may_run(&self, origin: Origin) -> bool;
}

/// Returns the position of the first job that `by` may run, and the origin by which it may.
#[inline(never)]
fn first_for(by: Option<&dyn Waiter>, jobs: &VecDeque<Parcel>) -> Option<(usize, Option<Origin>)> {
    for (position, (_, origins)) in jobs.iter().enumerate() {
        let mut origin = origins.map(|origins| origins.from);
        let mut also = origins.and_then(|origins| origins.also);
        loop {
            if by.is_none_or(|by| origin.is_some_and(|origin| by.may_run(origin))) {
                return Some((position, origin));
            }
            if also.is_none() {
                break;
            }
            origin = also.take();
        }
    }
    None
}
