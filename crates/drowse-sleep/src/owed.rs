//! A wake that is owed.
//!
//! A short piece of work that enters a sleeping pool needs one worker. But the first thing that it
//! does is to fork, and each fork wakes another worker, who finds nothing left when it arrives; to
//! wake it has taken longer than the work. Nobody can tell beforehand. But there is somebody who
//! has nothing else to do than to wait: the thread outside that has sent the work. So it may *owe*
//! the wakes: as long as it does, what workers post wakes nobody. If the work is not done after a
//! while, it *pays*: it ends that, looks for jobs, and wakes whoever the pool then needs. Most of
//! the time there is nothing to pay. A worker that goes on posting ends it sooner, by itself, and
//! one that blocks in the middle of a job pays before it does, if the runtime knows that it blocks.
//!
//! Whoever owes must pay before it leaves, or blocks without an end.
//!
//! # Why no job is forgotten
//!
//! A post that wakes nobody because of this changes the word, and so does the payment. If the post
//! comes first, whoever pays sees the job that was posted. If the payment comes first, the post
//! sees that nothing is owed any more. No fence is needed for that, light or heavy.

use crate::word::Event;
use crate::{Reason, Sleep, Waker};
use drowse_sync::{look, omittable};

/// For how long posts wake nobody: about as long as it takes until somebody who was woken could
/// help. In nanoseconds. (The model checkers know no time.)
const GRACE: u64 = if cfg!(any(drowse_loom, drowse_shuttle)) { 1 << 62 } else { 60_000 };

impl Sleep {
    /// Offers to look after what workers post from now on, until [`pay`](Self::pay). False if the
    /// protocol does not want that now: then there is nothing to pay. Nor where there is a census:
    /// nobody might be active although there is work, and it does not count threads outside.
    ///
    /// To be called before a job is posted that the calling thread is going to wait for.
    #[must_use = "whoever owes must pay"]
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

    /// A piece of work begins for which wakes are owed.
    pub fn owed_from_now(&self) {
        self.owed_since.set_mine(self.nanos());
    }

    /// Worker, which posts: if somebody owes the wakes for what it is at, and that takes too long
    /// to be short, that is over.
    pub(crate) fn end_grace(&self) {
        if self.is_owed() && self.nanos().saturating_sub(self.owed_since.get()) > GRACE {
            self.stop_owing();
        }
    }

    fn nanos(&self) -> u64 {
        u64::try_from(self.clock.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Looks after what workers have posted since [`owe`](Self::owe) said yes. `work_visible` tells
    /// whether there is a job, in any queue. Returns whether there were posts that relied on us.
    pub fn pay(&self, work_visible: impl Fn() -> bool) -> bool {
        let relied = self.stop_owing();
        // WAKE: what was posted before that woke nobody. What comes after does so itself. (Whoever
        // has ended it in our place has left the look to us.)
        if look!("owed/pays-blindly", work_visible()) {
            self.wake_in_place_of_posts(Reason::Job, Waker::MayStop);
        }
        relied
    }

    /// Worker that is about to block in the middle of a job: pays if wakes are owed. What it has
    /// posted may be what it is going to wait for, and the thread that owes may not pay for long.
    pub fn pay_if_owed(&self, work_visible: impl Fn() -> bool) {
        // ORDERING: relaxed; if our own posts relied on the flag, we have seen it set, and see it
        // cleared only if another thread has paid, or is about to.
        if self.is_owed() {
            // WAKE: a worker for the jobs that our posts woke no worker for.
            omittable!("owed/blocks-unpaid", _ = self.pay(work_visible));
        }
    }

    /// From here on posts wake whom they need. Whether there were any that did not.
    pub(crate) fn stop_owing(&self) -> bool {
        // ORDERING: acquires what those have posted who relied on us; see the top of this file.
        self.word.change(Event::Pay, |word| self.protocol.pay(word))
    }

    /// Whether somebody searches, at about this moment: a job that is posted now is begun at once.
    pub fn somebody_searches(&self) -> bool {
        self.protocol.heads(self.word.peek()).is_some_and(|heads| heads.searching() > 0)
    }

    /// Whether somebody looks after what workers post, at about this moment.
    pub fn is_owed(&self) -> bool {
        self.protocol.is_owed(self.word.peek())
    }

    /// Lets what workers post wake whom it needs from now on, whoever may owe that. What was posted
    /// before is left to them: they look after it all the same.
    pub fn no_longer_owed(&self) {
        self.stop_owing();
    }
}
