//! Jobs that are not in a deque, with their origins.

use super::lineage::{Found, Origin, Origins, Point};
use super::worker::WorkerThread;
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

    /// Takes the first of these jobs, and returns it with the origin by which it is one: a job may
    /// have two.
    #[inline]
    pub(super) fn take(&self, which: Which<'_>) -> Option<Found> {
        if self.are_there() { self.take_first(which) } else { None }
    }

    #[cold]
    #[inline(never)]
    fn take_first(&self, which: Which<'_>) -> Option<Found> {
        let mut jobs = self.jobs.lock();
        let (place, origin) = which.first_of(&jobs)?;
        let (job, _) = jobs.remove(place)?;
        // ORDERING: relaxed; the lock orders the stores. A reader that misses this one sees a count
        // that is too high, and finds no job under the lock.
        self.count.store(jobs.len(), Ordering::Relaxed);
        Some(Found { job, origin })
    }

    /// Returns `true` if there is one of these jobs.
    pub(super) fn have(&self, which: Which<'_>) -> bool {
        self.are_there() && which.first_of(&self.jobs.lock()).is_some()
    }
}

/// Jobs that a worker may take.
#[derive(Debug, Clone, Copy)]
pub(super) enum Which<'w> {
    Any,
    /// Those that descend from what this worker waits for in isolation, since that point.
    Descendants(&'w WorkerThread, Point),
}

impl Which<'_> {
    /// Returns the position of the first of these jobs, and the origin by which it is one.
    #[inline(never)]
    fn first_of(self, jobs: &VecDeque<Parcel>) -> Option<(usize, Option<Origin>)> {
        for (position, (_, origins)) in jobs.iter().enumerate() {
            let mut origin = origins.map(|origins| origins.from);
            let mut also = origins.and_then(|origins| origins.also);
            loop {
                if self.includes(origin) {
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

    fn includes(self, origin: Option<Origin>) -> bool {
        match self {
            Self::Any => true,
            Self::Descendants(worker, since) => {
                origin.is_some_and(|origin| worker.comes_from(origin, since))
            }
        }
    }
}
