//! The one word in which a protocol keeps its state, and the one place that changes it.

use crate::ATTENTION;
use drowse_sync::atomic::{AtomicU64, Ordering};
use drowse_sync::{CachePadded, faulty, mutant};

/// The protocol's word. It starts at zero.
///
/// # Notes on memory ordering
///
/// All changes are read-modify-writes, so they form one sequence. Changes that tell others
/// something acquire and release: a thread that sees one also sees what was written before it and
/// before all earlier ones. So `Sleep::claim` finds the slots that counted workers had prepared,
/// `must_fence_posters` need not fence against jobs pushed before their worker began to search, and
/// `Sleep::pay` and `stand_down` find the jobs of posts that relied on them. For an *unchanged*
/// word the fences take care of this: see [`Sleep::post`](crate::Sleep::post).
#[derive(Debug)]
pub(crate) struct Word(CachePadded<AtomicU64>);

/// Causes of a change of the word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    StartLooking,
    StopLooking,
    Announce,
    Cancel,
    Commit,
    Uncount,
    Post,
    Alert,
    Baton,
    StandDown,
    Sit,
    Owe,
    Pay,
}

impl Word {
    pub(crate) fn new() -> Self {
        Self(CachePadded::new(AtomicU64::new(0)))
    }

    /// Returns `true` if a post has anything to do. The whole hot path: one load, test and branch.
    #[inline(always)]
    pub(crate) fn wants_attention(&self) -> bool {
        // ORDERING: relaxed; the poster's fence comes before it (see `Sleep::post`). If the answer
        // is yes, `change` loads again and acquires.
        self.0.load(Ordering::Relaxed) & ATTENTION != 0
    }

    /// Returns the word at about this moment, for a guess.
    pub(crate) fn peek(&self) -> u64 {
        // ORDERING: relaxed; callers only guess by it (how long to search, which processor to
        // avoid). `Sleep::pay_if_owed` argues its own read.
        self.0.load(Ordering::Relaxed)
    }

    /// Changes the word by the protocol's transition, in one step. Returns the decision.
    pub(crate) fn change<D>(&self, event: Event, transition: impl Fn(u64) -> (u64, D)) -> D {
        loop {
            let seen = self.load(event);
            let (next, decision) = transition(seen);
            if self.replace(event, seen, next) {
                return decision;
            }
        }
    }

    /// Changes the word as [`change`](Self::change) does; `None` if the transition is not possible.
    pub(crate) fn try_change<D>(
        &self,
        event: Event,
        transition: impl Fn(u64) -> Option<(u64, D)>,
    ) -> Option<D> {
        loop {
            let seen = self.load(event);
            let (next, decision) = transition(seen)?;
            if self.replace(event, seen, next) {
                return Some(decision);
            }
        }
    }

    fn load(&self, event: Event) -> u64 {
        // ORDERING: acquire pairs with the release in `replace`, for a transition that changes
        // nothing. A second safeguard there: a post that sees a sleeper counted, but not its slot,
        // has executed its fence before the sleeper did, and the sleeper's last look
        // (`Sleep::commit`) shows it the job.
        self.0.load(event.ordering(Ordering::Acquire))
    }

    /// Returns `false` if another thread has changed the word since it was `seen`.
    fn replace(&self, event: Event, seen: u64, next: u64) -> bool {
        if next == seen {
            return true;
        }
        // ORDERING: see the notes on the type. On failure the word is loaded again.
        let ordering = event.ordering(Ordering::AcqRel);
        let replaced = || self.0.compare_exchange(seen, next, ordering, Ordering::Relaxed).is_ok();
        // ORDERING: of the fault, as strong as a store can be.
        faulty!(event.overwrites(), replaced(), {
            self.0.store(next, Ordering::Release);
            true
        })
    }
}

impl Event {
    /// Returns the ordering of a change for this event: `ordering` if others learn from it.
    fn ordering(self, ordering: Ordering) -> Ordering {
        match self {
            // ORDERING: relaxed; no thread learns anything from these but the value. (They do not
            // end the release sequence of earlier changes.)
            Self::Announce
            | Self::Cancel
            | Self::Uncount
            | Self::StopLooking
            | Self::Sit
            | Self::Owe => Ordering::Relaxed,
            // ORDERING: `ordering`, from `load` or `replace`.
            Self::StartLooking => mutant::weaken("word/start-relaxed", ordering),
            Self::Commit => mutant::weaken("word/commit-relaxed", ordering),
            Self::Post => mutant::weaken("word/post-relaxed", ordering),
            Self::Baton => mutant::weaken("word/baton-relaxed", ordering),
            Self::Alert => mutant::weaken("word/alert-relaxed", ordering),
            Self::StandDown => mutant::weaken("word/stand-down-relaxed", ordering),
            Self::Pay => mutant::weaken("word/pay-relaxed", ordering),
        }
    }

    /// Returns the fault of storing a change without a look at the word.
    const fn overwrites(self) -> &'static str {
        match self {
            Self::StartLooking => "word/start-overwrites",
            Self::StopLooking => "word/stop-overwrites",
            Self::Announce => "word/announce-overwrites",
            Self::Cancel => "word/cancel-overwrites",
            Self::Commit => "word/commit-overwrites",
            Self::Uncount => "word/uncount-overwrites",
            Self::Post => "word/post-overwrites",
            Self::Alert => "word/alert-overwrites",
            Self::Baton => "word/baton-overwrites",
            Self::StandDown => "word/stand-down-overwrites",
            Self::Sit => "word/sit-overwrites",
            Self::Owe => "word/owe-overwrites",
            Self::Pay => "word/pay-overwrites",
        }
    }
}
