//! Who is active, asleep, blocked; and what to do when nobody is active any more.
//!
//! | file | what |
//! |---|---|
//! | `census` | who is what |
//! | `lookout` | the thread that hears a suspicion out |
//!
//! For the census a worker is **active** unless it sleeps, is blocked, or has ended: one that
//! searches is active too. When none is active and at least one is blocked, the pool is *suspect*:
//! those that sleep sleep until somebody posts work, and no worker is left who could. (If none is
//! blocked the pool is merely idle.)
//!
//! A worker that blocks in a way in which another thread may work in its place is *away*, and not
//! active. Nor is one that sleeps alone. A pool with such workers, and nobody active, is suspect
//! too if a thread sits in every spare seat: no further one can be started for what is queued.
//! Whether anything is queued is for the pool to say, when the lookout asks.
//!
//! A suspicion is not a deadlock. Whoever is blocked may have been unblocked already, and not have
//! got round to saying so; or a thread outside is about to. So the pool's *lookout*, a thread of
//! its own, hears it out: if nothing at all has changed in the census for a stated time, and the
//! system says that those who are blocked have not moved either, it is a [`Standstill`].
//!
//! Falling asleep and being woken happen *under the census's lock*, slot and census in one step.
//! Otherwise a worker could be woken by a second one that then falls asleep itself, and the pool
//! would look dead between the two. Where one thread wakes many, all of them become active in one
//! step, for the same reason: the first may run and block before the others are woken.

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

/// Starts a thread that keeps the lookout. False if there is none to be had.
type StartLookout = dyn Fn(Lookout) -> bool + Send + Sync;

/// Counts a worker as awake that was claimed.
type Awake<'a> = dyn FnMut(usize, Claim) + 'a;

impl Detector {
    /// All workers active, and nobody in the other seats. A suspicion is heard out for `patience`,
    /// by a thread that `start` starts.
    pub(crate) fn new(
        workers: usize,
        seats: usize,
        patience: Duration,
        start: impl Fn(Lookout) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self { post: Arc::new(Post::new(Census::new(workers, seats), patience)), start: Box::new(start) }
    }

    /// The worker falls asleep, `alone` or not, if `enter`, its last step, says so.
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

    /// `claim` takes workers out of their slots, and says whom. All that slept become active in one
    /// step.
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
        // One who sleeps does not become active by that, and others may be blocked.
        self.alert_lookout(census);
    }

    /// The worker is away, on this thread, or back.
    pub(crate) fn mark_away(&self, worker: usize, thread: Option<ThreadId>) {
        let mut census = self.post.census.lock();
        census.change(worker, &|worker| worker.away = thread);
        omittable!("detector/no-check-away", self.alert_lookout(census));
    }

    /// Somebody is there again, active.
    pub(crate) fn mark_here(&self, worker: usize) {
        self.post.census.lock().change(worker, &|worker| worker.gone = false);
    }

    pub(crate) fn mark_gone(&self, worker: usize) {
        let mut census = self.post.census.lock();
        census.change(worker, &|worker| worker.gone = true);
        self.alert_lookout(census);
    }

    /// The pool ends, and so does the lookout. (We may stay: a thread that was taken over has us
    /// for the rest of its life.)
    pub(crate) fn end(&self) {
        self.post.census.lock().is_over = true;
        // WAKE: the lookout, whether it rests or hears a suspicion out.
        self.post.news.notify_one();
    }

    /// Sees to it that somebody hears out a suspicion, if there is one, or goes home if nobody is
    /// left.
    #[inline(never)]
    fn alert_lookout(&self, mut census: MutexGuard<'_, Census>) {
        let wanted = census.is_suspect() && !census.is_over;
        match census.lookout {
            Keeper::Nobody if wanted => {
                census.lookout = Keeper::Up;
                drop(census);
                let lookout = Lookout::new(Arc::clone(&self.post));
                if !(self.start)(lookout) {
                    // The next suspicion is another chance.
                    self.post.census.lock().lookout = Keeper::Nobody;
                }
            }
            Keeper::Rests if wanted || census.nobody_is_left() => {
                census.lookout = Keeper::Up;
                drop(census);
                // WAKE: the lookout rests until the pool is suspect, or over. It said so with the
                // census locked, when it was neither.
                omittable!("detector/lookout-not-woken", self.post.news.notify_one());
            }
            _ => (),
        }
    }
}

/// With its pool the lookout ends too.
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
