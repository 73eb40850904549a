//! Deadlock detection: a census of active, sleeping and blocked workers, and a lookout that
//! confirms a suspicion.
//!
//! For the census a worker is **active** unless it sleeps, is blocked, or has ended: a searching
//! worker is active too. When none is active and at least one is blocked, the pool is *suspect*:
//! sleepers sleep until work is posted, and no worker is left that could post it. (If none is
//! blocked the pool is merely idle.)
//!
//! A worker that blocks in a way in which another thread may work in its place is *away*, and not
//! active. A worker that sleeps alone is not active either. A pool with such workers, and no active
//! one, is suspect too if a thread sits in every spare seat: no further one can be started for
//! queued jobs. Whether a job is queued is for the pool to say, when the lookout asks.
//!
//! A suspicion is not a deadlock. A blocked worker may have been unblocked already, without having
//! unmarked itself yet; or a thread outside the pool is about to unblock it. So the pool's
//! *lookout*, a thread of its own, waits to confirm the suspicion: if nothing at all has changed in
//! the census for a stated time, and the system says that the blocked threads have not moved
//! either, it is a [`Standstill`].
//!
//! Falling asleep and being woken happen *under the census's lock*, slot and census in one step.
//! Otherwise a worker could be woken by a second one that then falls asleep itself, and the pool
//! would look dead between the two. If one thread wakes many, all of them become active in one
//! step, for this reason: the first may run and block before the others are woken.

mod census;
mod lookout;
#[cfg(all(test, not(any(drowse_loom, drowse_shuttle))))]
mod tests;

pub use census::{Mark, Standstill, Stopped};
pub use lookout::{Lookout, Moment};

use crate::slots::Claim;
use census::Census;
use drowse_sync::{Arc, MutexGuard, ThreadId, faulty, omittable};
use lookout::{Keeper, Post};
use std::fmt;
use std::time::Duration;

/// The census of one pool, behind a lock that is taken where a worker sleeps, is woken, blocks or
/// is unblocked: never on the hot path.
pub(crate) struct Detector {
    post: Arc<Post>,
    start: Box<StartLookout>,
}

/// Starts a thread that keeps the lookout. Returns `false` if no thread can be started.
type StartLookout = dyn Fn(Lookout) -> bool + Send + Sync;

/// Counts a claimed worker as awake.
type Awake<'a> = dyn FnMut(usize, Claim) + 'a;

impl Detector {
    /// Creates a detector with all workers active, and no thread in the other seats. Confirming a
    /// suspicion takes `patience`, on a thread that `start` starts.
    pub(crate) fn new(
        workers: usize,
        seats: usize,
        patience: Duration,
        start: impl Fn(Lookout) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self {
            post: Arc::new(Post::new(Census::new(workers, seats), patience)),
            start: Box::new(start),
        }
    }

    /// Counts the worker as asleep, `alone` or not, if `enter`, its last step, returns `true`.
    pub(crate) fn fall_asleep(&self, worker: usize, alone: bool, enter: impl Fn() -> bool) -> bool {
        let early = faulty!("detector/enter-unlocked", None, Some(enter()));
        let mut census = self.post.census.lock();
        if !early.unwrap_or_else(enter) {
            return false;
        }
        census.change(worker, &|worker| (worker.asleep, worker.alone) = (true, alone));
        omittable!("detector/no-check-asleep", self.alert_lookout(census));
        true
    }

    /// Counts as active, in one step, all sleepers that `claim` takes out of their slots.
    pub(crate) fn wake(&self, claim: &mut dyn FnMut(&mut Awake<'_>)) {
        faulty!(
            "detector/claim-unlocked",
            {
                let mut census = self.post.census.lock();
                claim(&mut |worker, claim| count_awake(&mut census, worker, claim));
            },
            self.wake_unlocked(claim)
        );
    }

    /// The fault: workers are claimed before the census is locked.
    #[cfg(any(drowse_loom, drowse_shuttle))]
    fn wake_unlocked(&self, claim: &mut dyn FnMut(&mut Awake<'_>)) {
        let mut claimed = Vec::new();
        claim(&mut |worker, claim| claimed.push((worker, claim)));
        let mut census = self.post.census.lock();
        claimed.iter().for_each(|(worker, claim)| count_awake(&mut census, *worker, *claim));
    }

    pub(crate) fn mark_blocked(&self, worker: usize, mark: Mark) {
        let mut census = self.post.census.lock();
        census.change(worker, &|worker| worker.marks.push(mark));
        omittable!("detector/no-check-blocked", self.alert_lookout(census));
    }

    pub(crate) fn mark_unblocked(&self, worker: usize, mark: &Mark) {
        let mut census = self.post.census.lock();
        census.change(worker, &|worker| {
            let place = worker.marks.iter().position(|other| other == mark);
            worker.marks.remove(place.expect("a worker is unmarked as often as it was marked"));
        });
        // A sleeping worker does not become active by this, and others may be blocked.
        self.alert_lookout(census);
    }

    /// Records that the worker is away, on this thread, or back.
    pub(crate) fn mark_away(&self, worker: usize, thread: Option<ThreadId>) {
        let mut census = self.post.census.lock();
        census.change(worker, &|worker| worker.away = thread);
        omittable!("detector/no-check-away", self.alert_lookout(census));
    }

    /// Records that a thread is in the seat again, and active.
    pub(crate) fn mark_here(&self, worker: usize) {
        self.post.census.lock().change(worker, &|worker| worker.gone = false);
    }

    pub(crate) fn mark_gone(&self, worker: usize) {
        let mut census = self.post.census.lock();
        census.change(worker, &|worker| worker.gone = true);
        self.alert_lookout(census);
    }

    /// Ends the lookout with the pool. (The detector may live on, held by a thread that was taken
    /// over.)
    pub(crate) fn end(&self) {
        self.post.census.lock().is_over = true;
        // WAKE: the lookout, whether it waits in `Lookout::rest` or in `Post::wait_out`.
        self.post.news.notify_one();
    }

    /// Starts or wakes the lookout if the pool is suspect; wakes it to end if no worker is left.
    #[inline(never)]
    fn alert_lookout(&self, mut census: MutexGuard<'_, Census>) {
        let wanted = census.is_suspect() && !census.is_over;
        match census.lookout {
            Keeper::Nobody if wanted => {
                census.lookout = Keeper::Up;
                drop(census);
                let lookout = Lookout::new(Arc::clone(&self.post));
                if !(self.start)(lookout) {
                    // The next suspicion tries again.
                    self.post.census.lock().lookout = Keeper::Nobody;
                }
            }
            Keeper::Rests if wanted || census.nobody_is_left() => {
                census.lookout = Keeper::Up;
                drop(census);
                // WAKE: `Lookout::rest` blocks until the pool is suspect, or over. It set
                // `Keeper::Rests` with the census locked, when the pool was neither.
                omittable!("detector/lookout-not-woken", self.post.news.notify_one());
            }
            _ => (),
        }
    }
}

/// Ends the lookout together with the pool.
impl Drop for Detector {
    fn drop(&mut self) {
        self.end();
    }
}

impl fmt::Debug for Detector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Detector").field("post", &self.post).finish_non_exhaustive()
    }
}

fn count_awake(census: &mut Census, worker: usize, claim: Claim) {
    if claim.slept() {
        census.change(worker, &|worker| (worker.asleep, worker.alone) = (false, false));
    }
}
