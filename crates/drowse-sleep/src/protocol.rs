//! What a sleep protocol decides.

use crate::heads::{self, Heads};
use std::fmt;

/// A sleep protocol: who gets sleepy, who may sleep, and who is woken by what.
///
/// A protocol is a table of transitions on one word. Given the word, and what happened, each of its
/// functions returns the new word and a decision. It has no state of its own and touches nothing:
/// [`Sleep`](crate::Sleep) alone changes the word, executes fences, takes the last look at the
/// queues, parks workers and wakes them. So a table can be tested by trying every word that a small
/// pool can reach (`tables.rs` does), and no table can lose the look between announcing and
/// sleeping.
///
/// What is given here counts heads, as most protocols do: see [`Heads`] for the word. A protocol
/// with a word of another kind overrides all of it.
///
/// # The word
///
/// A post, the one call on the hot path, reads the word and asks the protocol only if one of the
/// bits in [`ATTENTION`] is set. So a protocol sets one of them when a worker gets sleepy or sleeps
/// in a way that a post must know of, and all are clear while everybody is busy.
///
/// # The life of a worker, as its protocol is told of it
///
/// ```text
///   start_looking
///        |
///        +--> announce: None --> (searches on, and asks again)
///        |       | Some
///        |       +--> found a job, or its latch is set: cancel
///        |       +--> commit: None     it goes back to searching, see `Rules::after_news`
///        |       +--> commit: Some     +--> it sleeps, and whoever wakes it calls uncount
///        |                             +--> the last look found something, or a waker came
///        |                                  first: it calls uncount itself
///        |       (from each of these it searches on, without an announcement, or goes to:)
///        v
///   stop_looking
/// ```
///
/// # Example
///
/// A protocol that wakes one worker for every post, whoever may be searching:
///
/// ```
/// use drowse_sleep::{Heads, Policy, Posted, Protocol, Rules, Sleep, Wake};
///
/// #[derive(Debug)]
/// struct Nervous;
///
/// impl Protocol for Nervous {
///     fn rules(&self) -> Rules {
///         Rules::named("nervous")
///     }
///
///     fn post(&self, word: u64, posted: &Posted) -> (u64, Wake) {
///         (word, Wake::Any(posted.jobs.min(Heads::of(word).sleeping)))
///     }
/// }
///
/// let sleep = Sleep::with(4, Box::new(Nervous), Policy::default());
/// assert_eq!(sleep.protocol(), "nervous");
/// ```
pub trait Protocol: fmt::Debug + Send + Sync {
    /// What does not depend on the word.
    fn rules(&self) -> Rules;

    /// A worker begins to search: active to idle.
    fn start_looking(&self, word: u64) -> u64 {
        heads::add_inactive(word)
    }

    /// A worker stops searching: idle to active.
    fn stop_looking(&self, word: u64) -> (u64, Baton) {
        let word = heads::sub_inactive(word);
        (word, heads::baton(word))
    }

    /// A worker has searched for long enough: idle to sleepy. `None` if it cannot get sleepy now;
    /// it will search, and ask again.
    fn announce(&self, word: u64, _worker: usize) -> Option<(u64, Announcement)> {
        Some((word, Announcement(0)))
    }

    /// A sleepy worker is not sleepy any more: it found a job, or its latch is set.
    fn cancel(&self, word: u64, _announcement: Announcement) -> u64 {
        word
    }

    /// A sleepy worker has searched again: sleepy to asleep. `None` if there was news since it
    /// announced, which also ends its announcement.
    fn commit(&self, word: u64, _announcement: Announcement) -> Option<u64> {
        Some(heads::add_sleeping(word))
    }

    /// A worker that has committed sleeps no more, or never did.
    fn uncount(&self, word: u64) -> u64 {
        heads::sub_sleeping(word)
    }

    /// Jobs were published, and then a bit of [`ATTENTION`] was seen set.
    fn post(&self, word: u64, posted: &Posted) -> (u64, Wake);

    /// A worker that [passes the baton](Baton::Pass) sees that there is more to do. As if it had
    /// posted that.
    fn baton(&self, word: u64, _posted: &Posted) -> (u64, Wake) {
        (word, Wake::Any(1))
    }

    /// Somebody outside posts a job, will wait for it, and offers to look after what workers post
    /// meanwhile: see [`Sleep::owe`](crate::Sleep::owe). From then on posts of workers may wake
    /// nobody, but then each must change the word. `None` if they would not rely on it.
    fn owe(&self, _word: u64, _workers: usize) -> Option<u64> {
        None
    }

    /// Nobody looks after the posts of workers any more. Whether there were any that relied on it.
    fn pay(&self, word: u64) -> (u64, bool) {
        (word, false)
    }

    /// Whether somebody looks after the posts of workers.
    fn is_owed(&self, _word: u64) -> bool {
        false
    }

    /// There is no [sentry](Wake::Sentry) any more. Nor does anybody look after posts, for whoever
    /// was the sentry may have done that.
    fn stand_down(&self, word: u64) -> u64 {
        word
    }

    /// What changes whenever a worker stops searching: by this a sentry sees that others get on
    /// with the work. Only for protocols that have one.
    fn finds(&self, _word: u64) -> u64 {
        0
    }

    /// Something happened that may concern anybody: each worker was left a job, or a latch was set
    /// that does not know who sleeps on it.
    fn alert(&self, word: u64) -> (u64, Wake) {
        (word, Wake::All)
    }

    /// How many are inactive and asleep, if the word tells. One that searches alone may [keep
    /// watch](crate::Policy::rounds_on_watch), and a worker that knows that no other is active does
    /// without a heavy fence.
    fn heads(&self, word: u64) -> Option<Heads> {
        Some(Heads::of(word))
    }

    /// Whether the word looks as it should when no worker searches or sleeps. For tests.
    fn is_clear(&self, word: u64) -> bool {
        Heads::of(word) == Heads { inactive: 0, sleeping: 0 }
    }
}

/// The bits of the word that a post must look at: the low seventeen.
pub const ATTENTION: u64 = 0x1_FFFF;

/// What a protocol is like, once and for all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rules {
    /// The name that users choose it by.
    pub name: &'static str,
    /// Whether a worker tells its latch that it sleeps on it. Then whoever sets the latch wakes
    /// that worker alone; otherwise it [alerts](Protocol::alert) everybody.
    pub tells_latch: bool,
    /// Where the last look at the latch and the queues comes.
    pub last_look: LastLook,
    /// How far back a worker goes if there was news after it announced.
    pub after_news: Restart,
    /// Whether a worker gets sleepy at once if enough others search: two, and half as many as
    /// work.
    pub few_search: bool,
}

impl Rules {
    /// The rules of protocols that count heads: the latch is told, the last look comes when the
    /// worker is counted as sleeping, and after news it gets sleepy again at once.
    pub fn named(name: &'static str) -> Self {
        Self {
            name,
            tells_latch: true,
            last_look: LastLook::AfterCommit,
            after_news: Restart::BeforeSleepy,
            few_search: false,
        }
    }
}

/// Where the last look comes, with a fence before it: after the step that posts can see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LastLook {
    /// Posts see that a worker is sleepy, and keep it from committing.
    BeforeCommit,
    /// Posts see that a worker is counted as sleeping, and wake it.
    AfterCommit,
}

/// How far back a worker goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Restart {
    /// To just before it got sleepy: it searches, and announces anew.
    BeforeSleepy,
    /// To the first round.
    FirstRound,
}

/// Whom to wake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wake {
    /// Nobody.
    Nobody,
    /// Up to so many sleepers, whichever.
    Any(usize),
    /// This worker, if it sleeps.
    Only(usize),
    /// Everyone who sleeps.
    All,
    /// Nobody for now: one sleeper becomes the sentry, who gets up by itself, later, if the others
    /// do not get on with the work. The protocol remembers that there is one, until it [stands
    /// down](Protocol::stand_down).
    Sentry,
}

/// What a worker that stops searching does about posts that may have counted on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Baton {
    /// Nothing: others search, or nobody sleeps.
    Keep,
    /// It was the last one to search while others sleep: if there is more work to be seen, it wakes
    /// one.
    Pass,
}

/// What a protocol remembers of the moment in which a worker got sleepy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct Announcement(pub u64);

/// What was posted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Posted {
    /// How many jobs.
    pub jobs: usize,
    /// Whether a worker posted them, onto its own queue.
    pub by_worker: bool,
    /// Whether they found their queue empty.
    pub queue_was_empty: bool,
    /// How many workers the pool has.
    pub workers: usize,
    /// How many threads can run at once: see [`Sleep::with_room`](crate::Sleep::with_room).
    pub room: usize,
}

/// Workers that post only when they were alerted.
///
/// A worker that was alerted [posts](crate::Sleep::post) what it publishes from then on. When it
/// finds that [nobody sleeps](crate::Sleep::has_sleepers), it need no longer, but then it looks
/// once more: it takes back the alert, executes a full fence, and asks again.
pub trait Posters: fmt::Debug + Send + Sync {
    /// This worker must post. Called by any thread; whoever must not be missed executes a fence
    /// after that.
    fn alert(&self, worker: usize);
}

/// The queue that jobs were posted to.
///
/// A closure that tells whether it was empty will do where that is all there is to it.
pub trait PostedTo {
    /// Whether the jobs found the queue empty. Asked only when somebody sleeps.
    fn was_empty(&self) -> bool;

    /// Somebody will be woken for the jobs, and will want to take them.
    fn expect_thieves(&self) {}

    /// Who would do best to take them: if anybody is woken, rather this one, if it sleeps.
    fn preferred(&self) -> Option<usize> {
        None
    }
}

impl<F: Fn() -> bool> PostedTo for F {
    fn was_empty(&self) -> bool {
        self()
    }
}
