//! Deferred wakes: a thread outside the pool owes them.
//!
//! A short piece of work that enters a sleeping pool needs one worker. But it begins with a fork,
//! and each fork wakes another worker, which finds nothing left when it arrives; waking it took
//! longer than the work. That cannot be known beforehand. But the thread outside that sent the work
//! has nothing to do except wait. So it may *owe* the wakes: while it does, posts of workers wake
//! no worker. If the work is not done after a while, the thread *pays*: it ends the deferral, looks
//! for jobs, and wakes the workers that the pool then needs. Mostly there is nothing to pay. A
//! worker that keeps posting ends the deferral earlier (`end_grace`), and a worker that blocks in
//! the middle of a job pays first (`pay_if_owed`), if the runtime knows that it blocks.
//!
//! A thread that owes must pay before it leaves, or blocks without a time limit.
//!
//! # Why no job is forgotten
//!
//! A post that wakes no worker because of the deferral changes the word, and so does the payment.
//! If the post comes first, the paying thread sees the job that was posted. If the payment comes
//! first, the post sees that nothing is owed any more. This needs no fence, light or heavy.
//!
//! A worker that passes the baton may rely on the deferral as well. The paying thread then sees the
//! jobs that this worker saw. `Sleep::must_fence_posters` argues the jobs that it did not see.

use crate::word::Event;
use crate::{Reason, Sleep, Waker};
use drowse_sync::{look, omittable};

/// Time for which posts wake no worker, in nanoseconds: about as long as a woken worker would take
/// to be of help. (The model checkers have no clock.)
const GRACE: u64 = if cfg!(any(drowse_loom, drowse_shuttle)) { 1 << 62 } else { 60_000 };

impl Sleep {
    /// Defers the wakes for what workers post from now on, until [`pay`](Self::pay). The caller
    /// looks after those jobs. Returns `false` if the protocol does not allow that now; then there
    /// is nothing to pay. Always `false` with deadlock detection: the census does not count threads
    /// outside, so all workers could be inactive although there is work.
    ///
    /// Must be called before the job is posted that the calling thread is going to wait for.
    #[must_use = "a thread that owes must pay"]
    pub fn owe(&self) -> bool {
        if self.detector.is_some() {
            return false;
        }
        let offer = |word| self.protocol.owe(word, self.seats_in_use()).map(|word| (word, ()));
        let owes = self.word.try_change(Event::Owe, offer).is_some();
        if owes {
            self.owed_from_now();
        }
        owes
    }

    /// Starts the clock for the work whose wakes are owed.
    pub fn owed_from_now(&self) {
        self.owed_since.set_mine(self.nanos());
    }

    /// Ends the deferral if the current work has taken too long to be short. Called by a worker
    /// that posts.
    pub(crate) fn end_grace(&self) {
        if self.is_owed() && self.nanos().saturating_sub(self.owed_since.get()) > GRACE {
            self.stop_owing();
        }
    }

    fn nanos(&self) -> u64 {
        u64::try_from(self.clock.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Ends the deferral that [`owe`](Self::owe) began, and wakes a worker if `work_visible`
    /// returns `true`, that is, if any queue has a job. Returns `true` if a post relied on the
    /// deferral.
    pub fn pay(&self, work_visible: impl Fn() -> bool) -> bool {
        let relied = self.stop_owing();
        // WAKE: jobs posted before `stop_owing` woke no worker, later ones do. (If another thread
        // has ended the deferral in our place, the look is still ours.)
        if look!("owed/pays-blindly", work_visible()) {
            self.wake_in_place_of_posts(Reason::Job, Waker::MayStop);
        }
        relied
    }

    /// Pays if wakes are owed. Called by a worker that is about to block in the middle of a job: it
    /// may wait for what it has posted, and the thread that owes may not pay for a long time.
    pub fn pay_if_owed(&self, work_visible: impl Fn() -> bool) {
        // ORDERING: relaxed; if our own posts relied on the flag, we have seen it set, and see it
        // cleared only if another thread has paid, or is about to.
        if self.is_owed() {
            // WAKE: a worker for the jobs that our posts woke no worker for.
            omittable!("owed/blocks-unpaid", _ = self.pay(work_visible));
        }
    }

    /// Ends the deferral: later posts wake workers. Returns `true` if a post relied on it.
    pub(crate) fn stop_owing(&self) -> bool {
        // ORDERING: acquires the jobs of the posts that relied on the deferral: each released them
        // when it changed the word in `post_cold`; see the module.
        self.word.change(Event::Pay, |word| self.protocol.pay(word))
    }

    /// Returns `true` if a worker searches, at about this moment: a job that is posted now begins
    /// at once.
    pub fn somebody_searches(&self) -> bool {
        self.protocol.heads(self.word.peek()).is_some_and(|heads| heads.searching() > 0)
    }

    /// Returns `true` if the wakes for what workers post are owed, at about this moment.
    pub fn is_owed(&self) -> bool {
        self.protocol.is_owed(self.word.peek())
    }

    /// Ends the deferral without looking for work: later posts wake workers. The thread that owes
    /// still looks after earlier ones.
    pub fn no_longer_owed(&self) {
        self.stop_owing();
    }
}
