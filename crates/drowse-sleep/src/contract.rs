//! The contract: what a sleep protocol decides, and what it cannot get out of.

use crate::{House, LatchWord, Reason, Waker};
use drowse_sync::mutant;
use std::fmt;
use std::marker::PhantomData;

/// A sleep protocol: who gets sleepy, who may sleep, and who is woken by what.
///
/// A protocol decides; it never blocks and never pauses. [`Sleep`](crate::Sleep) drives it through the states of a
/// worker, and does what all protocols have in common: the rounds of searching, the latch, the bed, the blocking, the
/// metrics, the detection of deadlocks.
///
/// # The word
///
/// A protocol keeps its state in [one word](House::word). A post, the one call on the hot path, reads that word and
/// calls [`post`](Self::post) only if one of the bits in [`ATTENTION`] is set. So a protocol sets one of them when a
/// worker gets sleepy or sleeps in a way that a post must know of, and all are clear while everybody is
/// busy. That test is the same machine code for every protocol.
///
/// # The life of a worker, as the protocol is told of it
///
/// ```text
///   start_looking
///        |
///        +--> announce: None --> (searches on, and asks again)
///        |       | Some(a)
///        |       +--> found a job, or its latch is set: cancel(a)
///        |       +--> commit(a): Err   the protocol has undone its own announcement; cancel is not called
///        |       +--> commit(a): Ok    +--> it blocks; whoever wakes it has called its `uncount`
///        |                             +--> somebody stopped it before it blocked: uncommit
///        |       (from each of these it searches on, without an announcement, or goes to:)
///        v
///   stop_looking
/// ```
///
/// | told by | the fence between the news and the look |
/// |---|---|
/// | [`post`](Self::post), [`broadcast`](Self::broadcast) | has been executed |
/// | [`latch_set`](Self::latch_set) | has not: a latch that was [told](Self::tells_latch) needs none. If it was, this is called only when its owner sleeps on it |
///
/// # The re-check
///
/// The step to sleep, [`commit`](Self::commit), must return a [`Committed`], and there is one way to come by one: to
/// consume the [`Recheck`] that was handed in, which looks at the latch and the queues and finds nothing. So between
/// announcing and sleeping every protocol looks again. It chooses where in its own steps to do so; that choice, and the
/// fences round it, are what a protocol's proof is about.
///
/// A protocol that tries to sleep without looking does not compile:
///
/// ```compile_fail,E0423
/// use drowse_sleep::{Committed, Recheck, Retreat};
///
/// fn commit<'look>(_recheck: Recheck<'look>) -> Result<Committed<'look>, Retreat> {
///     Ok(Committed(std::marker::PhantomData)) // cannot be made here
/// }
/// ```
///
/// (Nor can it keep a `Committed` for later: it is bound to the one call.) One that looks does:
///
/// ```
/// use drowse_sleep::{Committed, Recheck, Retreat};
///
/// fn commit<'look>(recheck: Recheck<'look>) -> Result<Committed<'look>, Retreat> {
///     recheck.nothing_to_do().ok_or(Retreat::StartOver)
/// }
/// ```
pub trait Protocol: fmt::Debug + Send + Sync {
    /// The name that users choose it by.
    fn name(&self) -> &'static str;

    /// Whether a worker tells its latch that it sleeps on it, so that whoever sets the latch can wake that worker alone.
    fn tells_latch(&self) -> bool;

    /// A worker begins to search: active to idle.
    fn start_looking(&self, _house: &House, _worker: usize) {}

    /// How many workers search at this moment, if the word tells. One that searches alone may [keep watch](crate::Policy::rounds_on_watch).
    fn searching(&self, _word: u64) -> Option<usize> {
        None
    }

    /// A worker has searched for long enough: idle to sleepy. `None` if it cannot get sleepy now; it will search, and
    /// ask again.
    fn announce(&self, house: &House, worker: usize) -> Option<Announcement>;

    /// A sleepy worker is not sleepy any more: it found a job, or its latch is set.
    fn cancel(&self, _house: &House, _announcement: Announcement) {}

    /// A sleepy worker has searched again, and its bed is made: sleepy to asleep.
    ///
    /// # Errors
    ///
    /// If there is something to do, or was just now: then the worker goes back to searching, as far as the [`Retreat`] says.
    fn commit<'look>(
        &self,
        house: &House,
        announcement: Announcement,
        recheck: Recheck<'look>,
    ) -> Result<Committed<'look>, Retreat>;

    /// The worker had committed, but somebody stopped it before it blocked. Called by the worker, instead of the `uncount` that a waker
    /// passes to [`House::wake`] for one that slept.
    fn uncommit(&self, _house: &House, _worker: usize) {}

    /// A worker stops searching: idle to active. `work_visible` tells whether there is a job, in any queue, for anyone.
    fn stop_looking(&self, _house: &House, _worker: usize, _work_visible: &dyn Fn() -> bool) {}

    /// Jobs were published, and then a bit of [`ATTENTION`] was seen set, with a fence between the two that pairs with
    /// [`House::fence_against_posts`].
    fn post(&self, house: &House, posted: &Posted<'_>);

    /// The latch of `owner` was set. `slept` says whether it [sleeps on it](Self::tells_latch).
    fn latch_set(&self, house: &House, owner: usize, slept: bool, reason: Reason, waker: Waker);

    /// Each worker was left a job that nobody else may run, and then a full fence was executed.
    fn broadcast(&self, house: &House);

    /// Whether the word looks as it should when no worker searches or sleeps. For tests.
    fn is_clear(&self, word: u64) -> bool;
}

/// The bits of the word that a post must look at: the low seventeen.
pub const ATTENTION: u64 = 0x1_FFFF;

/// A worker's word that it is sleepy, with whatever the protocol needs to remember of that moment.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub struct Announcement(u64);

impl Announcement {
    /// An announcement made when the protocol's state, or what matters of it, was this.
    pub fn remember(state: u64) -> Self {
        Self(state)
    }

    /// What was remembered.
    pub fn remembered(&self) -> u64 {
        self.0
    }
}

/// The look that a worker must take between announcing that it is sleepy and sleeping.
#[must_use]
pub struct Recheck<'look> {
    pub(crate) protocol: &'static str,
    pub(crate) latch: &'look LatchWord,
    pub(crate) work_visible: &'look dyn Fn() -> bool,
}

impl<'look> Recheck<'look> {
    /// Looks at the latch and at every queue. `None` if there is something to do.
    pub fn nothing_to_do(self) -> Option<Committed<'look>> {
        let blind = mutant::active_in(self.protocol, "no-recheck");
        // Where the latch was told that its owner sleeps the look at it is belt and braces: whoever
        // sets it wakes the owner.
        let is_set = self.latch.probe() && !mutant::active_in(self.protocol, "recheck-ignores-latch");
        (blind || !(is_set || (self.work_visible)())).then_some(Committed(PhantomData))
    }
}

impl fmt::Debug for Recheck<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recheck").field("protocol", &self.protocol).field("latch", self.latch).finish()
    }
}

/// The worker has looked again and found nothing: it may sleep, this once.
#[derive(Debug)]
#[must_use]
pub struct Committed<'look>(PhantomData<fn(&'look ()) -> &'look ()>);

/// How far back a worker goes that was about to sleep and found something to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retreat {
    /// To just before it got sleepy: it searches, and announces anew.
    BeforeSleepy,
    /// To the first round.
    StartOver,
}

/// What was posted.
pub struct Posted<'a> {
    /// How many jobs.
    pub jobs: usize,
    /// Whether a worker posted them, onto its own queue.
    pub by_worker: bool,
    pub(crate) queue: &'a dyn PostedTo,
}

impl Posted<'_> {
    /// Whether the jobs found their queue empty.
    pub fn queue_was_empty(&self) -> bool {
        self.queue.was_empty()
    }

    /// To be called before workers are woken for these jobs, so that they find them ready to be taken.
    pub fn expect_thieves(&self) {
        self.queue.expect_thieves();
    }
}

/// The queue that jobs were posted to.
///
/// A closure that tells whether it was empty will do where that is all there is to it.
pub trait PostedTo {
    /// Whether the jobs found the queue empty. Asked only when somebody sleeps.
    fn was_empty(&self) -> bool;

    /// Somebody will be woken for the jobs, and will want to take them.
    fn expect_thieves(&self) {}
}

impl<F: Fn() -> bool> PostedTo for F {
    fn was_empty(&self) -> bool {
        self()
    }
}

impl fmt::Debug for Posted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Posted").field("jobs", &self.jobs).field("by_worker", &self.by_worker).finish()
    }
}
