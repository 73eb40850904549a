//! The decisions of a sleep protocol.

use crate::heads::{self, Heads};
use std::fmt;

/// A sleep protocol: decides which workers get sleepy and sleep, and which are woken by an event.
///
/// A protocol is a table of transitions on one word. Given the word and an event, each of its
/// functions returns the new word and a decision. It has no state of its own and touches nothing:
/// [`Sleep`](crate::Sleep) alone changes the word, executes fences, takes the last look at the
/// queues, parks workers and wakes them. So a table can be tested by trying every word that a small
/// pool can reach (`tests.rs` does), and no table can lose the look between announcing and
/// sleeping.
///
/// The provided methods count heads, as most protocols do: see [`Heads`] for the word. A protocol
/// with a word of another kind overrides all of them.
///
/// # The word
///
/// A post, the one call on the hot path, reads the word and asks the protocol only if one of the
/// bits in [`ATTENTION`] is set. So a protocol sets one of them when a worker gets sleepy or sleeps
/// in a way that a post must know of, and all are clear while all workers are busy.
///
/// # The life of a worker, as its protocol is told of it
///
/// ```text
///   start_looking
///        |
///        +--> announce: None --> (searches on, and asks again)
///        |       | Some
///        |       +--> found a job, or its latch is set: cancel
///        |       +--> commit: None     it goes back to searching, see `Rules::counts_heads`
///        |       +--> commit: Some     +--> it sleeps, and the waker that claims it calls uncount
///        |                             +--> the last look found something, or a waker came
///        |                                  first: it calls uncount itself
///        |       (from each of these it searches on, without an announcement, or goes to:)
///        v
///   stop_looking
/// ```
///
/// # Example
///
/// A protocol that wakes one worker for every post, even while others search:
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
    /// Returns the properties that do not depend on the word.
    fn rules(&self) -> Rules;

    /// Returns the word after a worker began to search: active to idle.
    fn start_looking(&self, word: u64) -> u64 {
        heads::add_inactive(word)
    }

    /// Returns the word after a worker stopped searching: idle to active.
    fn stop_looking(&self, word: u64) -> (u64, Baton) {
        let word = heads::sub_inactive(word);
        (word, heads::baton(word))
    }

    /// Decides for a worker that has searched long enough: idle to sleepy. `None` if it cannot get
    /// sleepy now; it will search, and ask again.
    fn announce(&self, word: u64, _worker: usize) -> Option<(u64, Announcement)> {
        Some((word, Announcement(0)))
    }

    /// Ends an announcement because the sleepy worker found a job, or its latch is set.
    fn cancel(&self, word: u64, _announcement: Announcement) -> u64 {
        word
    }

    /// Decides for a sleepy worker that has searched again: sleepy to asleep. `None` if there was
    /// news since it announced, which also ends its announcement.
    fn commit(&self, word: u64, _announcement: Announcement) -> Option<u64> {
        Some(heads::add_sleeping(word))
    }

    /// Uncounts a worker that has committed, and sleeps no more or never did.
    fn uncount(&self, word: u64) -> u64 {
        heads::sub_sleeping(word)
    }

    /// Decides which workers to wake after jobs were published, with a bit of [`ATTENTION`] set.
    fn post(&self, word: u64, posted: &Posted) -> (u64, Wake);

    /// Decides which workers to wake when a worker [passes the baton](Baton::Pass) and sees more
    /// work, which `posted` describes as if it had posted that.
    fn baton(&self, word: u64, _posted: &Posted) -> (u64, Wake) {
        (word, Wake::Any(1))
    }

    /// Decides which workers to wake after an event that may concern all: each worker was left a
    /// job, or a latch was set that does not know its sleeper.
    fn alert(&self, word: u64) -> (u64, Wake) {
        (word, Wake::All)
    }

    /// Returns `true` if the word is as it should be when no worker searches or sleeps. For tests.
    fn is_clear(&self, word: u64) -> bool {
        Heads::of(word) == Heads { inactive: 0, sleeping: 0 }
    }
}

/// The bits of the word that a post must look at: the low seventeen.
pub const ATTENTION: u64 = 0x1_FFFF;

/// Fixed properties of a protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rules {
    /// Name that users choose it by.
    pub name: &'static str,
    /// `true` if the word [counts](Heads) inactive and sleeping workers, so that posts see if one
    /// sleeps. Then a worker tells its latch that it sleeps on it, and the setter of the latch
    /// wakes that worker alone; the last look at the latch and the queues comes when the worker has
    /// been counted as sleeping; and after news it gets sleepy again at once.
    ///
    /// `false` if posts see that a worker is sleepy, and keep it from committing. Then the last
    /// look comes before the worker commits; the setter of a latch [alerts](Protocol::alert) all
    /// workers; and after news a worker begins again with the first round.
    pub counts_heads: bool,
    /// `true` if a worker gets sleepy at once when at least two others search, and half as many as
    /// work.
    pub few_search: bool,
    /// `true` if posts may wake no worker because another thread has
    /// [promised to look](crate::Sleep::defer_wakes), and the protocol may ask for a
    /// [sentry](Wake::Sentry). Then it counts heads, and uses no bits between the two counts.
    pub defers: bool,
}

impl Rules {
    /// Rules of protocols that count heads.
    pub fn named(name: &'static str) -> Self {
        Self { name, counts_heads: true, few_search: false, defers: false }
    }
}

/// Workers to wake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wake {
    /// No worker.
    Nobody,
    /// Up to this many sleepers, chosen by the waker.
    Any(usize),
    /// This worker, if it sleeps.
    Only(usize),
    /// All that sleep.
    All,
    /// None for now: one sleeper becomes the sentry, which gets up by itself later if the others do
    /// not get on with the work. Nothing if there is one. Only for protocols that
    /// [defer](Rules::defers).
    Sentry,
}

/// Duty of a worker that stops searching, towards posts that may have counted on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Baton {
    /// Nothing: others search, or no worker sleeps.
    Keep,
    /// Wake one worker if more work is visible: it was the last to search while others sleep.
    Pass,
}

/// State to remember from the moment in which a worker got sleepy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct Announcement(pub u64);

/// Description of a post.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Posted {
    /// Number of jobs.
    pub jobs: usize,
    /// `true` if a worker posted them, onto its own queue.
    pub by_worker: bool,
    /// `true` if they found their queue empty.
    pub queue_was_empty: bool,
    /// Number of workers of the pool.
    pub workers: usize,
    /// Number of threads that can run at once: see [`Sleep::with_room`](crate::Sleep::with_room).
    pub room: usize,
}

/// Workers that post only after they were alerted.
///
/// A worker that was alerted [posts](crate::Sleep::post) what it publishes from then on. It may
/// stop when it finds [no sleepers](crate::Sleep::has_sleepers), but then it looks once more: it
/// takes back the alert, executes a full fence, and asks again.
pub trait Posters: fmt::Debug + Send + Sync {
    /// Tells this worker to post. Any thread may call it; a caller that must not be missed executes
    /// a fence after it.
    fn alert(&self, worker: usize);
}

/// The queue that jobs were posted to.
///
/// A closure that returns whether it was empty also implements this.
pub trait PostedTo {
    /// Returns `true` if the jobs found the queue empty. Called only when a worker sleeps.
    fn was_empty(&self) -> bool;

    /// Announces that a worker will be woken for the jobs, and will want to take them.
    fn expect_thieves(&self) {}

    /// Returns the worker to prefer, if any is woken and this one sleeps.
    fn preferred(&self) -> Option<usize> {
        None
    }
}

impl<F: Fn() -> bool> PostedTo for F {
    fn was_empty(&self) -> bool {
        self()
    }
}
