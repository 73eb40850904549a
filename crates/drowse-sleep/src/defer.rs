//! Deferred wakes: a post wakes no worker now, because a thread with a clock has promised to look.
//!
//! That thread is the *guarantor*, and posts *rely* on it:
//!
//! - A **caller** is a thread outside the pool that waits for the work that it has sent. It looks
//!   when the work is done, or after a while. Posts of workers rely on it.
//! - A **doorkeeper** is a worker that naps while guests come, and looks after each nap: see
//!   `door.rs`. Posts of workers and guests rely on it.
//! - A **sentry** is a sleeper with an alarm clock: see `sentry.rs`. Posts for which there is no
//!   room rely on it.
//!
//! A short piece of work that enters a sleeping pool needs one worker. But it begins with a fork,
//! and each fork wakes another worker, which finds nothing left when it arrives; waking it took
//! longer than the work. That cannot be known beforehand. But the thread outside that sent the work
//! has nothing to do except wait. So it may *defer* the wakes: from then on posts of workers wake
//! no worker. If the work is not done after a while, the caller *resumes* them: it ends the
//! deferral, looks for jobs, and wakes the workers that the pool then needs. Mostly there is
//! nothing left. A worker that keeps posting ends the deferral earlier (`GRACE`), and a worker that
//! blocks in the middle of a job resumes the wakes first, if the runtime knows that it blocks.
//!
//! # The word
//!
//! A protocol whose [`Rules`](crate::Rules) say that it `defers` leaves the bits from 16 to 48 of
//! its word to this module:
//!
//! | bits | name | meaning |
//! |---|---|---|
//! | 16 | | not used: a post would look at it |
//! | 17..45 | finds | changes whenever a worker stops searching |
//! | 45 | relied | a worker's post has relied on `deferred` |
//! | 46 | deferred | a caller or a doorkeeper looks after what workers post |
//! | 47 | sentry | there is a sentry, or a waker is about to place one |
//!
//! # Why no job is forgotten
//!
//! A post that relies on `deferred` sets `relied` by a read-modify-write, and the guarantor clears
//! both by another. If the post comes first, the guarantor sees the job that was posted. If the
//! guarantor comes first, the post sees that it cannot rely on it. This needs no fence, light or
//! heavy. (A bit `relied` that a post has set too late means nothing, and is cleared by the next
//! deferral.)
//!
//! A worker that passes the baton may rely on the deferral as well. The guarantor then sees the
//! jobs that this worker saw. `Sleep::must_fence_posters` argues the jobs that it did not see.
//! `sentry.rs` argues the posts that rely on a sentry.

use crate::heads::{FREE, Heads};
use crate::word::{Event, Word};
use crate::{Reason, Sleep, Wake, Waker};
use drowse_sync::{Counter, faulty, look, omittable};

/// Time for which posts wake no worker, in nanoseconds: about as long as a woken worker would take
/// to be of help. (The model checkers have no clock.)
const GRACE: u64 = if cfg!(any(drowse_loom, drowse_shuttle)) { 1 << 62 } else { 60_000 };

const SENTRY: u64 = 1 << (FREE.end - 1);
const DEFERRED: u64 = 1 << (FREE.end - 2);
const RELIED: u64 = 1 << (FREE.end - 3);

/// One more worker has stopped searching. (Not the lowest free bit: a post looks at that.)
const ONE_FIND: u64 = 1 << (FREE.start + 1);

/// Mask of the count of workers that have stopped searching.
const FINDS: u64 = RELIED - ONE_FIND;

const DEFER: Event = Event::quiet("word/defer-overwrites");
const RESUME: Event = Event::told("word/resume-overwrites", "word/resume-relaxed");

/// A thread that has promised to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guarantor {
    /// A caller. Nothing distinguishes it from another guarantor of workers' posts.
    Caller,
    /// A sleeper that naps: a sentry, or a doorkeeper.
    Sleeper,
}

/// Returns the word after one more worker has stopped searching.
pub(crate) fn count_find(word: u64) -> u64 {
    word & !FINDS | word.wrapping_add(ONE_FIND) & FINDS
}

/// Returns the word in which a wish for a sentry is noted, and the wake that is left to do: none if
/// there is a sentry already.
pub(crate) fn note_sentry((word, wake): (u64, Wake)) -> (u64, Wake) {
    match wake {
        Wake::Sentry if word & SENTRY != 0 => (word, Wake::Nobody),
        Wake::Sentry => (word | SENTRY, wake),
        _ => (word, wake),
    }
}

/// Returns the word after the promise has ended. A sleeper may have made both promises.
pub(crate) fn without(word: u64, guarantor: Guarantor) -> u64 {
    match guarantor {
        Guarantor::Caller => word & !(DEFERRED | RELIED),
        Guarantor::Sleeper => word & !(DEFERRED | RELIED | SENTRY),
    }
}

/// Returns `true` if no thread has promised anything.
pub(crate) fn is_clear(word: u64) -> bool {
    word & (SENTRY | DEFERRED) == 0
}

/// Returns the word with the promise of a guarantor of the posts of `workers` workers; `None` if
/// there is one, or posts would not rely on it. They do if no worker works: a working one may have
/// more to do than fits on one worker. (In a model any offer is accepted, to reach more states.)
fn with_offer(word: u64, workers: usize) -> Option<u64> {
    let heads = Heads::of(word);
    let wanted = heads.sleeping > 0 && heads.inactive == workers || cfg!(drowse_loom);
    (wanted && word & DEFERRED == 0).then_some((word | DEFERRED) & !RELIED)
}

impl Word {
    /// Returns `true` if `word`, a value of this word, says that wakes are deferred.
    pub(crate) fn is_deferred(&self, word: u64) -> bool {
        self.rules.defers && word & DEFERRED != 0
    }

    /// Relies on the guarantor of workers' posts. Returns `false` if there is none.
    #[inline(never)]
    pub(crate) fn rely(&self) -> bool {
        // ORDERING: relaxed, `peek`; only if the flag is seen is it worth a step that counts. A
        // flag that was set before our last fence is seen; to miss a later one costs a wake.
        self.is_deferred(self.peek()) && {
            // ORDERING: acquires and releases; pairs with the change in `end_deferral`. Either that
            // thread sees our job, or this sees the flag gone. If this only loaded the flag, our
            // job could still be in a store buffer when that thread looks.
            let before = || self.add_bits(RELIED);
            faulty!("defer/relies-quietly", before(), self.peek()) & DEFERRED != 0
        }
    }

    /// Returns a value that changes whenever a worker stops searching: by this a sentry sees that
    /// others make progress.
    pub(crate) fn finds(&self) -> u64 {
        self.peek() & FINDS
    }

    /// Ends a promise. Returns `true` if a post of a worker relied on it.
    #[inline(never)]
    pub(crate) fn end_deferral(&self, guarantor: Guarantor) -> bool {
        // ORDERING: acquires the jobs of the posts that relied on it: each released them when it
        // changed the word in `rely`. For a sentry: see `or_place_sentry`.
        let before = self.change(RESUME, |word| (without(word, guarantor), word));
        before & (DEFERRED | RELIED) == DEFERRED | RELIED
    }
}

/// State of a pool's deferral that is not in the word.
#[derive(Debug, Default)]
pub(crate) struct Deferral {
    /// Start of the work whose wakes are deferred, in nanoseconds by the clock.
    since: Counter,
    /// Number of guests that have come, and that number when a worker last stopped keeping the
    /// door.
    pub(crate) guests: Counter,
    pub(crate) guests_when_closed: Counter,
}

impl Sleep {
    /// Defers the wakes for what workers post from now on, until
    /// [`resume_wakes`](Self::resume_wakes). The caller looks after those jobs. Returns `false` if
    /// the protocol does not allow that now; then there is nothing to resume. Always `false` with
    /// deadlock detection: the census does not count threads outside, so all workers could be
    /// inactive although there is work.
    ///
    /// Must be called before the job is posted that the calling thread is going to wait for. A
    /// thread that defers must resume before it leaves, or blocks without a time limit.
    #[must_use = "a thread that defers wakes must resume them"]
    pub fn defer_wakes(&self) -> bool {
        if !self.word.rules.defers || self.detector.is_some() {
            return false;
        }
        let offer = |word| with_offer(word, self.seats_in_use()).map(|word| (word, ()));
        let is_accepted = self.word.try_change(DEFER, offer).is_some();
        if is_accepted {
            self.restart_deferral();
        }
        is_accepted
    }

    /// Starts the clock for the work whose wakes are deferred.
    pub fn restart_deferral(&self) {
        self.deferral.since.set_mine(self.now());
    }

    /// Relies on the guarantor of workers' posts, for a post of the calling worker. Returns `false`
    /// if there is none. Ends the deferral if the current work has taken too long to be short.
    pub(crate) fn defer_post(&self) -> bool {
        if !self.has_deferred_wakes() {
            return false;
        }
        if self.now().saturating_sub(self.deferral.since.get()) > GRACE {
            self.end_deferral();
            return false;
        }
        self.word.rely()
    }

    /// Ends the deferral that [`defer_wakes`](Self::defer_wakes) began, and wakes a worker if
    /// `work_visible` returns `true`, that is, if any queue has a job. Returns `true` if a post
    /// relied on the deferral.
    pub fn resume_wakes(&self, work_visible: impl Fn() -> bool) -> bool {
        let relied = self.word.end_deferral(Guarantor::Caller);
        // WAKE: jobs posted before `end_deferral` woke no worker, later ones do. (If another thread
        // has ended the deferral in our place, the look is still ours.)
        if look!("defer/resumes-blindly", work_visible()) {
            self.wake_in_place_of_posts(Reason::Job, Waker::MayStop);
        }
        relied
    }

    /// Resumes wakes if they are deferred. Called by a worker that is about to block in the middle
    /// of a job: it may wait for what it has posted, and the guarantor may not look for a long
    /// time.
    pub fn resume_deferred_wakes(&self, work_visible: impl Fn() -> bool) {
        // ORDERING: relaxed; if our own posts relied on the flag, we have seen it set, and see it
        // cleared only if another thread has resumed the wakes, or is about to.
        if self.has_deferred_wakes() {
            // WAKE: a worker for the jobs that our posts woke no worker for.
            omittable!("defer/blocks-unresumed", _ = self.resume_wakes(work_visible));
        }
    }

    /// Ends the deferral without looking for work: later posts wake workers. The guarantor still
    /// looks after earlier ones.
    pub fn end_deferral(&self) {
        self.word.end_deferral(Guarantor::Caller);
    }

    /// Returns `true` if the wakes for what workers post are deferred, at about this moment.
    pub fn has_deferred_wakes(&self) -> bool {
        self.word.is_deferred(self.word.peek())
    }

    /// Returns `true` if a worker searches, at about this moment: a job that is posted now begins
    /// at once.
    pub fn has_searchers(&self) -> bool {
        self.word.heads().is_some_and(|heads| heads.searching() > 0)
    }
}

#[cfg(all(test, not(any(drowse_loom, drowse_shuttle))))]
mod tests {
    use super::*;
    use crate::Relay;
    use crate::heads::{add_inactive, add_sleeping};

    /// Word with this many workers asleep, and searching.
    fn word(sleeping: usize, searching: usize) -> u64 {
        let word = (0..sleeping + searching).fold(0, |word, _| add_inactive(word));
        (0..sleeping).fold(word, |word, _| add_sleeping(word))
    }

    #[test]
    fn an_offer_is_accepted_while_no_worker_works() {
        assert_eq!(with_offer(word(7, 0), 8), None, "one works");
        assert_eq!(with_offer(word(0, 8), 8), None, "no worker could be woken");
        assert!(with_offer(word(7, 1), 8).is_some());
        let deferred = with_offer(word(8, 0), 8).unwrap();
        assert_eq!(with_offer(deferred, 8), None, "one is enough");
        assert_eq!(without(deferred | RELIED, Guarantor::Caller), word(8, 0));
    }

    #[test]
    fn posts_rely_on_an_offer_until_it_ends() {
        let shared = Word::new(Box::new(Relay));
        assert!(!shared.rely(), "there is none");
        let accepted = shared.try_change(DEFER, |_| Some((word(8, 0) | DEFERRED, ())));
        assert!(accepted.is_some() && shared.is_deferred(shared.peek()));
        assert!(shared.rely() && shared.rely());
        assert!(shared.end_deferral(Guarantor::Caller));
        assert_eq!(shared.peek(), word(8, 0));
        assert!(!shared.rely() && !shared.end_deferral(Guarantor::Caller));
    }

    #[test]
    fn a_sleeper_ends_both_promises() {
        let (noted, wake) = note_sentry((word(6, 0), Wake::Sentry));
        assert_eq!(wake, Wake::Sentry);
        assert_eq!(note_sentry((noted, Wake::Sentry)), (noted, Wake::Nobody), "there is one");
        assert_eq!(note_sentry((noted, Wake::Any(1))), (noted, Wake::Any(1)));
        assert!(is_clear(word(6, 0)) && !is_clear(noted));
        assert_eq!(without(noted, Guarantor::Caller), noted);
        assert_eq!(without(noted | DEFERRED, Guarantor::Sleeper), word(6, 0));
    }

    #[test]
    fn finds_come_round_without_touching_their_neighbours() {
        let before = word(2, 1) | FINDS | SENTRY | DEFERRED;
        let after = count_find(before);
        assert_eq!(after, word(2, 1) | SENTRY | DEFERRED);
        assert_eq!(ONE_FIND & crate::ATTENTION, 0, "posts do not look at it");
    }
}
