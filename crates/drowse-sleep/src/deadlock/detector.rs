//! The detector: the census behind its lock, and the steps that change it.

use super::census::Census;
use super::lookout::{Keeper, Lookout, Post};
use super::{Awake, Mark};
use crate::slots::Claim;
use drowse_sync::{Arc, MutexGuard, ThreadId, faulty, omittable};
use std::fmt;
use std::time::Duration;

/// The census of one pool, behind a lock that is taken where a worker sleeps, is woken, blocks or
/// is unblocked: never on the hot path.
pub(crate) struct Detector {
    pub(super) post: Arc<Post>,
    start: Box<StartLookout>,
}

/// Starts a thread that keeps the lookout. Returns `false` if no thread can be started.
type StartLookout = dyn Fn(Lookout) -> bool + Send + Sync;

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
